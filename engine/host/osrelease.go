package host

import (
	"context"
	"strings"
	"sync"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/smallfile"
)

// osRelease is the part that tells which operating system the node has, by the ID of its os-release
// (freedesktop.org). It is read once.
func osRelease(root string) part {
	id := sync.OnceValue(func() string {
		for _, path := range []string{"/etc/os-release", "/usr/lib/os-release"} {
			text, err := smallfile.Read(root + path)
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(text)) {
				if value, is := strings.CutPrefix(strings.TrimSpace(line), "ID="); is {
					return strings.Trim(value, `"'`)
				}
			}
		}
		return ""
	})
	return part{
		name: "os-release",
		read: func(context.Context) fill {
			os := id()
			return func(r *evidence.Report) { r.OS = os }
		},
		missing: func(*evidence.Report, error) {}, // what is not known is left out
	}
}
