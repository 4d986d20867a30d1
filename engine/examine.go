package engine

import (
	"context"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// closingTime is what an examination keeps for its end.
const closingTime = 200 * time.Millisecond

// An Examination says how [Examine] looks at a runtime. The zero value is a good one.
type Examination struct {
	Timeout  time.Duration   // of each status call; default 2 s
	Deadline time.Duration   // of the whole; default 20 s
	Progress func(*Snapshot) // called now and then, one call after the other, if not nil; must return soon
}

// Examine looks at a runtime once and returns what it saw as a snapshot with a [answers.Sweep], by
// the deadline at the latest, however the runtime behaves. Failures are in the snapshot.
//
// It is a running engine, which asks for every object from the start. It ends as soon as every
// object was asked and what is out has hung for long enough to be called so. Its one relist inspects
// by what those calls brought. It stands for a kubelet that has just started. What failed at once is
// asked for up to three times. A list that fails does not keep what the other one shows from being
// looked at, see [Snapshot.Partial]; but PLEG is healthy only if both succeeded. Status is asked for
// once more at the end.
//
// When ctx ends it returns what there is by then. The error is that of [Config.Validate].
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
	e.hub.mu.Lock() // for both: what is observed between them would show
	e.hub.apply(Marked{Closed{}})
	s := e.hub.snapshot()
	e.hub.mu.Unlock()
	e.hub.close()
	e.end()
	until, _ := ctx.Deadline()
	all.wait(time.Until(until) + e.hub.config.Clock.Real(closingTime))
	return s, nil
}

// policy returns how the old diagnosis reads the snapshots of this start.
func (s Start) policy() answers.Policy {
	p := answers.Policy{Once: s.Once, ListTimeout: s.Timeout, CallTimeout: s.CallTime, Width: probeWidth, Deadline: s.Deadline}
	if s.Once {
		p.ListTimeout = s.listTime()
	}
	return p
}

// listTime is the deadline of a list. What is slow is no hang for an examination, while there is time
// for what comes after it.
func (s Start) listTime() time.Duration {
	if s.Once {
		return max(4*s.CallTime, s.Deadline-byPodFor-2*call.HungAfter)
	}
	return s.Timeout
}

// statusTime is the deadline of Status and Version.
func (s Start) statusTime() time.Duration {
	if s.Once {
		return 4 * s.CallTime
	}
	return s.Timeout
}

// hungLong is how long a call hangs to be called so for sure.
func (s Start) hungLong() time.Duration { return s.policy().HungLong() }
