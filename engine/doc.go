// Package engine relists a node as its kubelet does and tells any number of
// readers what it sees. It drives the pure core of package pleg: it has the
// clock, makes the calls to a [Runtime], gives each its deadline, heeds
// requests such as a pause, and publishes snapshots.
//
// Order: one goroutine, that of [Engine.Run], owns the core. It makes no call
// itself and never waits for one, so that it can say at any time which call is
// out. Relists never overlap; within one, calls are made one after another in
// the kubelet's order. Beside it at most one Status, one Version, one probe, one
// call asked for with [Engine.Raw] and those of a sweep are out. Probes are made
// while a call of the relist hangs, to see what still answers; a sweep looks at
// every sandbox and container, when [Engine.Sweep] asks for it or a list hangs.
// Neither is the kubelet's, and neither changes a record. No call is made while
// its like is out: a list is never asked for twice at once, nor the status of
// one object. That holds even when a runtime does not return by a call's
// deadline: the engine then goes on waiting, and goes on saying so. Only behind
// a Raw, a probe or a sweep a relist waits no longer than its own call might
// take, and then counts that as failed.
//
// [Examine] does without Run: it looks once, in bounded time.
//
// Blocking: requests return at once, except for [Engine.Raw], which returns what
// the runtime answers. A reader waits in [Feed.Next] and nobody waits for a
// reader.
//
// Loss: a reader gets the newest snapshot, not every one. Events it gets in
// order, without gaps as long as it is not further behind than the ring of
// [Config.Events]; what it missed is counted in [Update.Lost].
package engine
