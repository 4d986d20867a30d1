package waits

import (
	"slices"

	"github.com/plegtop/plegtop/engine/call"
)

// relistsToCalls adds that the relist of a kubelet waits for a list of all pods that hangs, and for the status
// call that the relist has made. The list counts whoever has asked for it, because the relist asks for the same
// list.
func relistsToCalls(b *builder) {
	for i, h := range b.Hangs {
		if h.Relist || h.Op.IsList() {
			b.edge(b.node(Relist, "", Node{Name: "relist", Since: h.Since}), b.call(i), by(reported, b.Line(i)))
		}
	}
}

// callsToPods adds that the list of all pods waits for a pod whose own list has no answer, while the lists of
// other pods are answered.
func callsToPods(b *builder) {
	i := b.list(call.ContainerStatus)
	if i < 0 || b.onDisk || slices.Contains(b.blamed, true) {
		return
	}
	for _, pod := range b.Alone {
		b.edge(b.call(i), b.object(pod), by(listAlone))
	}
}

// call returns the place of the node of a call that hangs.
func (b *builder) call(i int) int {
	h := &b.Hangs[i]
	name := h.Op.String()
	if h.Op.AboutObject() {
		name += " of " + h.Object.String()
	}
	return b.node(Call, h.Op.String()+" "+h.Object.ID, Node{Name: name, Object: h.Object, Since: h.Since, sure: h.Sure})
}

// list returns the place in Hangs of the list that hangs together with a status call: the list of the same kind
// if that hangs, or else the other one; -1 if no list hangs.
func (b *builder) list(op call.Operation) int {
	sandboxes, containers := b.lists[0], b.lists[1]
	if containers >= 0 && (op == call.ContainerStatus || sandboxes < 0) {
		return containers
	}
	return sandboxes
}
