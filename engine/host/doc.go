// Package host looks at the node itself, beside the container runtime: its
// processes, its pressure, its disk, its clock and its kubelet. What it finds is
// an [evidence.Report].
//
// A look never fails and never waits longer than 2 s: each part says for itself
// why it is not there, and a read that the kernel or the kubelet does not answer
// is left behind. It is not started a second time while it is stuck, so that
// what hangs costs one goroutine for each part, up to three more for the
// processes, each of which may hang by itself, and two for what the runtime is
// asked beside CRI, however long it hangs.
//
// Nothing is changed on the node, and nothing outside it is asked unless a flag
// names it. What is read only in a deep look, where something hangs, is left alone
// else: of the runtime that is one dump of its goroutines now and then, from a
// socket that is its own or a file that is there, and its metrics.
//
// The processes have a room of their own, package proc, and so has what the kernel tells
// while it happens, package cgroup. Package reads has the one way to begin a read.
package host
