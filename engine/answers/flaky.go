package answers

import (
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// unavailable is gRPC's code for a call that found no runtime.
const unavailable = "Unavailable"

// A Flakiness is how many calls of how many found no runtime, since when.
type Flakiness struct {
	Failed, All uint64
	Outages     int
	Since       time.Time
}

// flakiness returns how often calls found no runtime, if that is so only now and
// then; nothing if it is not. In one bounded look one such call is enough.
func (r *Reading) flakiness() Flakiness {
	if least := r.Policy.Bounds().Outages; least > 0 {
		if r.Away.Outages >= least {
			return r.Away
		}
		return Flakiness{}
	}
	failed, all := r.foundNobody()
	if _, one := r.ConnectionKiller(); one || failed <= uint64(2*r.Unreachable()) {
		return Flakiness{}
	}
	return Flakiness{Failed: failed, All: all, Since: r.Started}
}

// foundNobody counts the calls that found no runtime, and all.
func (t *Table) foundNobody() (failed, all uint64) {
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Op >= call.GetContainerEvents {
			continue
		}
		all += c.Count
		for _, n := range c.ByCode {
			if n.Code == unavailable {
				failed += n.Count
			}
		}
	}
	return failed, all
}

// fewAway is how many objects at most are taken for unreachable by themselves.
const fewAway = 10

// Unreachable returns how many objects the runtime was not there for though it was
// for everything else, each of them asked for twice: behind such an object is a
// shim that has died. 0 if calls of other kinds failed so as well, or if it is the
// connection that was lost for several at once: the status of one of them may be
// what ends the runtime, and nothing tells which.
func (t *Table) Unreachable() int {
	away := t.SweptAway()
	if away == 0 || t.Failure != nil || t.StatusErr != nil || t.VersionErr != nil || t.Sweep.Flaky > 0 || away > fewAway || 2*away >= t.Sweep.Done {
		return 0
	}
	if away > 1 && len(t.CutOff()) > 0 {
		return 0
	}
	return away
}

// SweptAway returns how many objects of the last sweep the runtime was not there
// for.
func (t *Table) SweptAway() int { return len(t.sweptFailed(IsAway)) }

// CutOff returns the objects of the last sweep that failed with the loss of the
// connection, each time they were asked for.
func (t *Table) CutOff() []Outcome {
	return t.sweptFailed(func(err error) bool {
		e, ok := errors.AsType[*call.Error](err)
		return ok && e.Why == call.Broken
	})
}

func (t *Table) sweptFailed(so func(error) bool) (failed []Outcome) {
	if t.Sweep != nil {
		for _, o := range t.Sweep.Failed {
			if so(o.Err) {
				failed = append(failed, o)
			}
		}
	}
	return failed
}

// ConnectionKiller returns the one object whose status ends the connection each
// time it is asked for: no more failed with it than can be out at once, and they
// were answered when asked again.
func (r *Reading) ConnectionKiller() (Outcome, bool) {
	cut := r.CutOff()
	if len(cut) != 1 || r.SweptAway() != 1 || r.StatusErr != nil || r.Failure != nil || r.Sweep.Flaky == 0 || r.Sweep.Flaky >= 2*r.Sweep.Width || r.FreshSweep() == nil {
		return Outcome{}, false
	}
	return cut[0], true
}
