// Package pleg decides what a relist means, as the kubelet's PLEG decides it:
// which pods changed, which of them have to be inspected, which events that
// releases, what the pod cache then holds, and whether the kubelet would call
// itself healthy. It is the kubelet's algorithm and nothing else: no clock, no
// goroutine, no I/O. Equal calls in equal order give equal results.
//
// # How a relist goes
//
// The caller lists everything and hands the pods to [Core.Begin]. It then asks
// [Core.Next] for the pods that need an inspection, one at a time, inspects
// each and reports to [Core.Settle], until there are none left, and ends with
// [Core.End]. A list that failed is not told to the core at all: nothing
// changes by it. [Core.BeginPod] and [Core.BeginInspect] begin the two smaller
// kinds of relist, which go on in the same way.
//
// # What is promised
//
// Order: pods are settled by UID, in ascending order of its bytes, whatever the
// order of the list; the kubelet takes them at random. The events of a pod
// follow each other in the order of its lists: containers and sandboxes of the
// old record, then those that are new.
//
// Loss: a pod's events are released, and its record advances, only when its
// inspection has succeeded. Until then the next relist finds the same change
// again, or its net sum with later ones. Events that find the channel full are
// [Discarded] and never come again, because the record has advanced.
//
// Blocking: nothing here waits.
//
// No type of this package is safe for concurrent use, except that values which
// it has handed out ([Pod], [PodStatus], [Event]) never change again.
package pleg
