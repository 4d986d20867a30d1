// Package pleg decides what a relist means, as the kubelet's PLEG decides it: which pods changed,
// which pods need an inspection, which events follow, what the pod cache holds, and whether the
// kubelet calls its PLEG healthy. It reads no clock, starts no goroutine and does no I/O. Equal
// calls in equal order give equal results.
//
// # How a relist goes
//
// The caller lists everything, makes pods of both lists ([Assembler]) and hands them to
// [Core.Begin]. While [Core.Next] names a pod, the caller inspects it and reports to
// [Core.Settle]. Then [Core.End] ends the relist. Do not report a list that failed: the core
// stays as it is. [Core.BeginPod] and [Core.BeginInspect] begin the two smaller kinds of
// relist.
//
// # What holds
//
// Order: pods take their turns by UID, in the order of its bytes. (The kubelet's order is
// random.) The events of a pod follow the order of its lists: the containers and sandboxes of the
// old record first, then those that are new.
//
// Loss: a pod's events are released, and its record advances, only when its inspection has
// succeeded. Until then the next relist finds the same change again, or its sum with later
// changes. An event that finds the channel full is [Discarded] for good, because its record has
// advanced.
//
// No type of this package is safe for concurrent use. Values that it hands out ([Pod],
// [PodStatus], [Event]) never change.
package pleg
