// Package engine observes a node as its kubelet does. Lanes call the runtime and look at the node;
// a lane is a goroutine with straight-line code. Each call reports its begin and its end as an
// [Observation]. A hub takes the observations in order and gives them to a [Model]. Nothing else
// changes the model. It knows what there is to see, and makes a [Snapshot] of it.
//
// Relists never overlap. A relist makes its calls one after another, in the kubelet's order. At the
// same time at most one Status, one Version, one call of [Engine.Raw] and four of our own calls are
// out. Our own calls find out what still answers while a call of the relist hangs, or ask for every
// object. No kubelet makes them, and they change no record. A target never has two calls out at
// once. Two lists are never out at once, with one exception: single pods are listed during a list
// of all containers that has been out for ten seconds. If a runtime does not return by a call's
// deadline, it holds up the lane of that call, and nothing else.
//
// Blocking: requests return at once. Only [Engine.Raw] waits for answers of the runtime, and
// [Engine.HoldStreams] until the streams are closed. A reader waits in [Feed.Next], and nobody
// waits for a reader.
//
// Loss: a reader gets the newest snapshot, not every one. It gets the events in order, without gaps
// as long as it is not further behind than the ring of [Config.Events]. [Update.Lost] counts the
// events that it missed.
package engine
