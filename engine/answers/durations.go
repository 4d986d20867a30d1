package answers

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// What a duration means for a call. Package call has each of these with its reason.
const (
	Late      = call.LateAfter
	Hung      = call.HungAfter
	HungList  = call.HungListAfter
	HungLong  = call.CriticalAfter
	HungOnce  = call.CriticalOnce
	FreshFor  = call.FreshFor
	UsualMost = call.UsualMost
)

const (
	// FailingLong is how long calls must fail in a row, with no success between, for that
	// to be no restart of the runtime and no chance.
	FailingLong = 10 * time.Second
	// Forgotten is how long it is remembered that an object hung: much longer than a look
	// at the node is of use.
	Forgotten = time.Minute
)

// When others ask. Package call has the first three with their reasons.
const (
	Together     = call.Together
	StatusPeriod = call.StatusPeriod
	StatusLasts  = call.StatusLasts
	// ProbesBegin is how long a call is out when the first probe is, at the latest: until
	// then nobody has asked whether anything else is answered.
	ProbesBegin = Late + 300*time.Millisecond
	// byPodFor is for how long containers are listed pod by pod (see package engine).
	byPodFor = 4 * time.Second
)

// How long calls take there that are slow.
const (
	// Slow is what half of the calls must take at least for a runtime to be slow: eighty
	// times what they take on a real node, and enough to make the first relist of 110 pods
	// last for 50 s. It is well beyond 100 ms, the period of a quota of CPU: to that a
	// runtime that is throttled rounds half of its calls.
	Slow = 150 * time.Millisecond
	// SlowBusy is the same on a node where tasks wait for the CPU in [BusyShare] percent of
	// all time: every call waits there with them, and no runtime is to blame.
	SlowBusy = 500 * time.Millisecond
	// SlowObjects is the same where only status calls are slow.
	SlowObjects = 500 * time.Millisecond
	// SlowFor is how long an answer says how fast the runtime is, if none came since.
	SlowFor = time.Minute
	// FlakyFor is how far back it counts that a runtime went away and came back, and
	// Outages how often it must have done so to be called unreliable: a restart is one
	// outage, and no trouble.
	FlakyFor = time.Minute
	Outages  = 3
)

// BusyShare is in how many percent of all time tasks wait for the CPU on a busy node.
const BusyShare = 50.0

// ever is longer than any look lasts.
const ever = 100 * 365 * 24 * time.Hour

// Bounds are what differs between a look that goes on and one that is made once: what
// may be concluded from what was heard, and when.
type Bounds struct {
	FreshFor    time.Duration // how far back an answer, good or bad, still tells how things are
	RecentFor   time.Duration // how far back an answer still says whether the runtime can be asked for much
	LookAfter   time.Duration // how long a call of the relist is out when the node is looked into for it
	ProbeAfter  time.Duration // how long it is out when others are probed; 0 if they are never: everything is asked for anyway
	FailingLong time.Duration // how long calls fail in a row, with no success between, for that to be no restart and no chance
	OwnersWait  time.Duration // how long after a list that is too large it is waited for who owns what is in it

	ListFails int // how many lists in a row must fail
	Outages   int // how often within [FlakyFor] a runtime must have gone away to be unreliable; 0 if one call that fails is enough

	Past      bool // what was before is known, and tells what one look cannot
	OneMoment bool // all that was heard counts as asked for at one moment, and nobody comes back to ask again
	Swept     bool // the inspections are a sweep: every object was asked for by itself, once
	Starting  bool // it stands for a kubelet that has just started: nothing was listed or posted before
}

var (
	live = Bounds{
		FreshFor:    FreshFor,
		RecentFor:   3 * StatusPeriod, // of three answers to Status one at least is no chance
		LookAfter:   Hung,
		ProbeAfter:  Late,
		FailingLong: FailingLong,
		OwnersWait:  byPodFor + Hung, // for them to be listed one by one
		ListFails:   2,               // the next relist is a second away, and the one after it would do
		Outages:     Outages,
		Past:        true,
	}
	// One look does not come back to see: it goes by all that it heard.
	once = Bounds{
		FreshFor: ever, RecentFor: ever, LookAfter: Late,
		OneMoment: true, Swept: true, Starting: true,
	}
)

// Bounds returns what a policy makes of durations. It is not to be changed.
func (p Policy) Bounds() *Bounds {
	if p.Once {
		return &once
	}
	return &live
}
