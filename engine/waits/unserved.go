package waits

import (
	"cmp"
	"strings"
)

// objectsToUnserved: where nothing tells what an object waits for whose status hangs, a file
// system of its pod whose program has ended may be it.
func objectsToUnserved(b *builder) {
	for i := range b.Hangs {
		h := &b.Hangs[i]
		if !h.Blamed || h.Object.Pod.UID == "" {
			continue
		}
		object := b.object(h.Object)
		if b.waits[object] {
			continue
		}
		for _, m := range b.Deep.Unserved {
			if strings.Contains(m.Point, "/pods/"+string(h.Object.Pod.UID)+"/") {
				b.edge(object, b.node(Node{Key: cmp.Or(m.Device, m.Point), Kind: Mount, ID: m.Device, Name: "mount " + m.Point, mount: m}), "")
			}
		}
	}
}
