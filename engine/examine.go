package engine

import (
	"context"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// closingTime is the part of its deadline that an examination keeps for its end.
const closingTime = 200 * time.Millisecond

// An Examination says how [Examine] looks at a runtime. The zero value is a good one.
type Examination struct {
	Timeout  time.Duration   // of each status call; default 2 s
	Deadline time.Duration   // of the whole; default 20 s
	Progress func(*Snapshot) // called now and then, one call after the other, if not nil; must return soon
}

// Examine looks at a runtime once, and returns what it saw as a snapshot with a [answers.Sweep]. It
// returns by the deadline at the latest, however the runtime behaves. Failures are in the snapshot.
//
// It runs an engine that asks for every object from the start. It ends as soon as every object was
// asked, and each call that is still out has hung long enough to be called hung. Its only relist
// takes those answers as its inspections. It stands for a kubelet that has just started. A call
// that fails at once is made up to three times. If one list fails, the other one is still looked
// at, see [Snapshot.Partial]; but PLEG is healthy only if both succeeded. Status is asked for once
// more at the end.
//
// When ctx ends, Examine returns what is known by then. Its error is that of a bad setting, see
// [Config.Validate].
func Examine(ctx context.Context, c Config, x Examination) (*Snapshot, error) {
	if x.Timeout < 0 || x.Deadline < 0 {
		return nil, errors.New("examine: timeout and deadline: want more than 0")
	}
	e, err := newEngine(c, x, true)
	if err != nil {
		return nil, err
	}
	e.hub.show = x.Progress
	ctx, cancel := context.WithTimeout(ctx, e.hub.config.Clock.Real(e.hub.model.start.Deadline-closingTime))
	defer cancel()
	all := e.begin()
	all.run(func() { e.hub.run(e.calls) })
	e.hub.await(ctx, func(m *Model, now time.Time) (bool, time.Time) { return m.saysEnough(now) })
	e.hub.mu.Lock() // held for both: nothing may be observed between them
	e.hub.apply(Marked{Closed{}})
	s := e.hub.snapshot()
	e.hub.mu.Unlock()
	e.hub.close()
	e.end()
	until, _ := ctx.Deadline()
	all.wait(time.Until(until) + e.hub.config.Clock.Real(closingTime))
	return s, nil
}

// policy returns how this engine looks at its runtime, for the diagnosis of its snapshots.
func (s Start) policy() answers.Policy {
	p := answers.Policy{Once: s.Once, ListTimeout: s.Timeout, CallTimeout: s.CallTime, Width: probeWidth, Deadline: s.Deadline}
	if s.Once {
		p.ListTimeout = s.listTime()
	}
	return p
}

// listTime returns the deadline of a list. An examination does not take a slow list for a hang, as long as
// there is time for the steps after it.
func (s Start) listTime() time.Duration {
	if s.Once {
		return max(4*s.CallTime, s.Deadline-byPodFor-2*call.HungAfter)
	}
	return s.Timeout
}

// statusTime returns the deadline of Status and Version.
func (s Start) statusTime() time.Duration {
	if s.Once {
		return 4 * s.CallTime
	}
	return s.Timeout
}

// hungLong returns how long a call must hang to be called hung for sure.
func (s Start) hungLong() time.Duration { return s.policy().HungLong() }
