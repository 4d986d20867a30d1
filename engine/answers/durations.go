package answers

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// What a duration means for a call. Package call has the reason for each of these.
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
	// FailingLong is how long calls must fail in a row, with no success in between, so that it is neither a
	// restart of the runtime nor chance.
	FailingLong = 10 * time.Second
	// Forgotten is how long plegtop remembers that an object hung. A look at the node is of use for a much
	// shorter time.
	Forgotten = time.Minute
)

// When other calls are made. Package call has the first three with their reasons.
const (
	Together     = call.Together
	StatusPeriod = call.StatusPeriod
	StatusLasts  = call.StatusLasts
	// ProbesBegin is how long a call is out, at the latest, when the first probe is made. Until then nobody has
	// asked whether anything else is answered.
	ProbesBegin = Late + 300*time.Millisecond
	// byPodFor is for how long containers are listed pod by pod (see package engine).
	byPodFor = 4 * time.Second
)

// How long calls take if they are slow.
const (
	// Slow is what half of the calls must take at least, so that the runtime is slow. It is eighty times what
	// they take on a real node, and enough to make the first relist of 110 pods last for 50 s. It is well above
	// 100 ms, the period of a CPU quota: a runtime that is throttled rounds half of its calls up to that.
	Slow = 150 * time.Millisecond
	// SlowBusy is the same limit on a node where tasks wait for the CPU in [BusyShare] percent of the time.
	// There every call waits too, and the runtime is not to blame.
	SlowBusy = 500 * time.Millisecond
	// SlowObjects is the same limit if only status calls are slow.
	SlowObjects = 500 * time.Millisecond
	// SlowFor is how long an answer shows how fast the runtime is, if no later one came.
	SlowFor = time.Minute
	// FlakyFor is the time in which the outages of a runtime are counted. Outages is how many there must be to
	// call the runtime unreliable: a restart is one outage, and no trouble.
	FlakyFor = time.Minute
	Outages  = 3
)

// BusyShare is the share of time, in percent, in which tasks wait for the CPU on a busy node.
const BusyShare = 50.0

// ever is longer than any look lasts.
const ever = 100 * 365 * 24 * time.Hour

// Bounds are what differs between a look that goes on and a look that is made once: which conclusions may be
// drawn from the answers, and when.
type Bounds struct {
	FreshFor    time.Duration // how old an answer, good or bad, may be and still show the present state
	RecentFor   time.Duration // how old an answer may be and still show whether the runtime can be asked for much
	LookAfter   time.Duration // how long a call of the relist must be out before plegtop looks at the node for it
	ProbeAfter  time.Duration // how long it must be out before other calls are probed; 0 if they never are, because everything is asked for anyway
	FailingLong time.Duration // how long calls must fail in a row, with no success in between, so that it is neither a restart nor chance
	OwnersWait  time.Duration // how long plegtop waits, after a list that was too large, to learn which pod owns what is in it

	ListFails int // how many lists in a row must fail
	Outages   int // how often a runtime must have gone away within [FlakyFor] to be unreliable; 0 if one failed call is enough

	Past      bool // the past is known, and shows what one look cannot show
	OneMoment bool // all calls count as made at one moment, and none is made again later
	Swept     bool // the inspections are a sweep: each object was asked for separately, once
	Starting  bool // plegtop acts as a kubelet that has just started: nothing was listed or posted before
}

var (
	live = Bounds{
		FreshFor:    FreshFor,
		RecentFor:   3 * StatusPeriod, // with three answers to Status in this time, a missing one is no chance
		LookAfter:   Hung,
		ProbeAfter:  Late,
		FailingLong: FailingLong,
		OwnersWait:  byPodFor + Hung, // the time to list the pods one by one
		ListFails:   2,               // the next relist is a second away, and the one after it would do
		Outages:     Outages,
		Past:        true,
	}
	// A single look does not come back to check, so it uses all answers that it got.
	once = Bounds{
		FreshFor: ever, RecentFor: ever, LookAfter: Late,
		OneMoment: true, Swept: true, Starting: true,
	}
)

// Bounds returns the bounds of a policy. The caller must not change them.
func (p Policy) Bounds() *Bounds {
	if p.Once {
		return &once
	}
	return &live
}
