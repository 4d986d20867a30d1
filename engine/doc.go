// Package engine observes a node as its kubelet does. Lanes, which are goroutines with
// straight-line code, call the runtime and look at the node; each call reports its begin
// and its end as an [Observation]. A hub takes the observations in order. A [Model], which
// they alone move, knows what there is to see, and makes a [Snapshot] of it.
//
// Relists never overlap. Within one, calls are made one after another in the kubelet's
// order. Beside it at most one Status, one Version, one answer asked for with
// [Engine.Raw] and four calls of ours are out: those are made while a call of the relist
// hangs, to see what still answers, or to ask for every object. None of them is the
// kubelet's, and none changes a record. No call is made while another one is out for the
// same target; a list is never asked for while any list is out, but the containers of
// single pods are listed beside a list of all containers that has been out for ten seconds.
// A runtime that does not return by a call's deadline holds up the lane of that call, and
// nothing else.
//
// Blocking: requests return at once, except for [Engine.Raw], which returns what the
// runtime answers. A reader waits in [Feed.Next] and nobody waits for a reader.
//
// Loss: a reader gets the newest snapshot, not every one. Events it gets in order, without
// gaps as long as it is not further behind than the ring of [Config.Events]; what it missed
// is counted in [Update.Lost].
package engine
