// Package host looks at the node itself, beside the container runtime: its
// processes, its pressure, its disk, its clock and its kubelet. What it finds is
// an [evidence.Report].
//
// A look never fails and never waits longer than 2 s: each part says for itself
// why it is not there, and a read that the kernel or the kubelet does not answer
// is left behind. It is not started a second time while it is stuck, so that
// what hangs costs one goroutine for each part, and up to three more for the
// processes, each of which may hang by itself, however long it hangs.
//
// Nothing is changed on the node, and nothing outside it is asked unless a flag
// names it.
package host
