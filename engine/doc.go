// Package engine relists a node as its kubelet does and tells any number of
// readers what it sees. A machine decides: it is stepped with typed inputs and
// answers with calls to make; it has no clock, no goroutine and no context. A shell
// runs it: it has the clock, makes the calls to a [Runtime], looks at the node when
// the machine wants it, and publishes snapshots. A [answers.Policy] says how the machine looks: again and again, which
// is [Engine.Run], or once within a bounded time, which is [Examine].
//
// Order: one goroutine owns the machine. It makes no call itself and never waits for
// one, so that it can say at any time which call is out. Relists never overlap;
// within one, calls are made one after another in the kubelet's order. Beside it at
// most one Status, one Version, one probe, one call asked for with [Engine.Raw], one
// list of a search and those of a sweep are out. Probes are made while a call of the
// relist hangs, to see what still answers; a search lists what can be listed while the
// lists of all pods fail; a sweep looks at every sandbox and container, when
// [Engine.Sweep] asks for it or a list hangs or fails, then also at those that only
// the node shows: one of them may hold the list up. None of these is the kubelet's,
// and none changes a record. No call is made while its like is out: a list is never
// asked for while any is, nor the status of one object twice; but where the list of all
// containers has been out for ten seconds a search asks for those of single pods, one at a
// time, to see whose containers hold it up. That holds even when a
// runtime does not return by a call's deadline: the relist then goes on waiting, and
// goes on saying so. Only behind a call that is ours it waits no longer than its own
// call might take, and then counts that as failed.
//
// Blocking: requests return at once, except for [Engine.Raw], which returns what
// the runtime answers. A reader waits in [Feed.Next] and nobody waits for a
// reader.
//
// Loss: a reader gets the newest snapshot, not every one. Events it gets in
// order, without gaps as long as it is not further behind than the ring of
// [Config.Events]; what it missed is counted in [Update.Lost].
package engine
