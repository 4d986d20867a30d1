package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
)

// An Examination says how [Examine] looks at a runtime. The zero value is a
// good one.
type Examination struct {
	Timeout  time.Duration   // of each status call; default 2 s. Lists, Status and Version get four times as much, or half as much again if nothing is answered, or if the other list hung
	Width    int             // status calls out at once; default 4
	Deadline time.Duration   // of the whole; default 20 s
	Progress func(*Snapshot) // called now and then from one goroutine, if not nil; must return soon
}

// policy returns the policy of a machine that looks so.
func (x Examination) policy() answers.Policy {
	timeout := cmp.Or(x.Timeout, answers.Hung)
	return answers.Policy{
		Once: true, CallTimeout: timeout, ListTimeout: longer * timeout,
		Width: cmp.Or(x.Width, sweepWidth), Deadline: cmp.Or(x.Deadline, answers.OnceFor),
	}
}

// Examine looks at a runtime once and returns what it saw as a snapshot with a
// [answers.Sweep], by the deadline at the latest, however the runtime behaves. Failures
// are in the snapshot. It is what one relist of a kubelet that has just started
// would see, but for the inspections, which are made a few at a time.
//
// It is the machine of a running engine with another [answers.Policy]. Version and Status
// are asked for beside the lists, and the lists one after the other; what fails at
// once is asked for up to three times. A list that fails does not keep what the
// other one shows from being looked at, see [Snapshot.Partial]; but PLEG is healthy
// only if both succeeded. The sweep is refused where it would be for [Engine.Sweep], but
// where Status hangs, and asks for what runs first; what hangs it asks again until that
// has hung for [answers.Policy.HungLong]. Status is asked for again in its midst, when nobody
// listens any more or much hangs, and at its end, which StatusErr shows; if nothing
// is answered meanwhile the sweep is given up, see [answers.Sweep.GivenUp]. Of the one relist
// in [Snapshot.Relists] Took is what the same calls would have taken one after the
// other. Pods that the sweep did not come to have neither a status nor an error. What
// the sync loop does is not followed.
//
// When ctx ends it returns what there is by then. The error is that of
// [Config.Validate].
func Examine(ctx context.Context, c Config, x Examination) (*Snapshot, error) {
	if x.Timeout < 0 || x.Width < 0 || x.Deadline < 0 {
		return nil, errors.New("examine: timeout, width and deadline: want more than 0")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	p := x.policy()
	ends := c.Clock.Now().Add(p.Deadline)
	s := newShell(c, p)
	s.show = x.Progress
	s.run(ctx)
	s.beside.wait(s.clock.Real(ends.Sub(s.clock.Now())))
	return s.snapshot(s.clock.Now()), nil
}
