package answers

import (
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// unavailable is gRPC's code for a call that found no runtime.
const unavailable = "Unavailable"

// A Flakiness says how many calls found no runtime, out of how many, and since when.
type Flakiness struct {
	Failed, All uint64
	Outages     int
	Since       time.Time
}

// flakiness returns how often calls found no runtime, if that happens only now and then; zero if not. In one
// bounded look one failed call is enough.
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

// foundNobody returns how many calls found no runtime, and how many calls there were.
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

// fewAway is how many objects at most may count as unreachable for a reason of their own.
const fewAway = 10

// Unreachable returns for how many objects the runtime was unavailable though it answered everything else, each
// of them asked for twice: the shim behind such an object has died. It returns 0 if calls of other kinds failed
// in the same way. It also returns 0 if the connection was lost for several objects at once: the status of one
// of them may be what ends the runtime, and nothing shows which one.
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

// SweptAway returns for how many objects of the last sweep the runtime was unavailable.
func (t *Table) SweptAway() int { return len(t.sweptFailed(IsAway)) }

// CutOff returns the objects of the last sweep for which the connection was lost each time they were asked for.
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

// ConnectionKiller returns the one object whose status ends the connection each time it is asked for. The
// others that failed with it are no more than the calls that can be out at once, and they were answered when
// asked again. It returns false if there is no such object.
func (r *Reading) ConnectionKiller() (Outcome, bool) {
	cut := r.CutOff()
	if len(cut) != 1 || r.SweptAway() != 1 || r.StatusErr != nil || r.Failure != nil || r.Sweep.Flaky == 0 || r.Sweep.Flaky >= 2*r.Sweep.Width || r.FreshSweep() == nil {
		return Outcome{}, false
	}
	return cut[0], true
}
