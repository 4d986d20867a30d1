package waits

import (
	"slices"

	"github.com/plegtop/plegtop/engine/call"
)

// relistsToCalls: the relist of a kubelet waits for a list of all pods whoever has asked
// for it, since it asks for the same; and for the status call that it has made.
func relistsToCalls(b *builder) {
	for i := range b.Hangs {
		h := &b.Hangs[i]
		if h.Relist || h.Op.IsList() {
			relist := b.node(Node{Kind: Relist, Name: "relist", Since: h.Since})
			b.edge(relist, b.call(i), b.Line(i))
		}
	}
}

// call returns the node of a call that hangs.
func (b *builder) call(i int) int {
	h := &b.Hangs[i]
	name := h.Op.String()
	if h.Op.AboutObject() {
		name += " of " + h.Object.String()
	}
	return b.node(Node{Key: knownCall(h.Op, h.Object.ID), Kind: Call, Name: name, Object: h.Object, Since: h.Since, sure: h.Sure})
}

// list returns the place of the list that hangs with a status call: the one of its kind,
// if that hangs, else any; -1 if none does.
func (b *builder) list(op call.Operation) int {
	for _, list := range []call.Operation{call.ListPodSandbox, call.ListContainers} {
		if i, hangs := b.first[list]; hangs && (list == call.ListContainers || op != call.ContainerStatus || !b.hangs(call.ListContainers)) {
			return i
		}
	}
	return -1
}

func (b *builder) hangs(op call.Operation) bool {
	_, hangs := b.first[op]
	return hangs
}

// callsToPods: the list of all waits for the pod whose list alone has no answer, while the
// lists of other pods have.
func callsToPods(b *builder) {
	i := b.list(call.ContainerStatus)
	if i < 0 || b.disk || slices.ContainsFunc(b.Hangs, b.blames) {
		return
	}
	for _, pod := range b.Alone {
		b.edge(b.call(i), b.object(pod), "its list alone hangs, those of other pods are answered")
	}
}
