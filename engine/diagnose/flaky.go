package diagnose

import (
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// A flakiness is how many calls of how many found no runtime, since when.
type flakiness struct {
	failed, all uint64
	outages     int
	since       time.Time
}

// flakiness returns how often calls found no runtime, if that is so only now and
// then; nothing if it is not. In one bounded look one such call is enough.
func (v *view) flakiness() flakiness {
	if least := v.Policy.Bounds().Outages; least > 0 {
		if f := v.outages(); f.outages >= least {
			return f
		}
		return flakiness{}
	}
	failed, all := v.foundNobody()
	if _, one := v.connectionKiller(); one || failed <= uint64(2*v.unreachable()) {
		return flakiness{}
	}
	return flakiness{failed: failed, all: all, since: v.Started}
}

// foundNobody counts the calls that found no runtime, and all.
func (v *view) foundNobody() (failed, all uint64) {
	for i := range v.Calls {
		c := &v.Calls[i]
		if c.Op >= call.GetContainerEvents {
			continue
		}
		all += c.Count
		for _, n := range c.ByCode {
			if n.Code == "Unavailable" {
				failed += n.Count
			}
		}
	}
	return failed, all
}

// unreachable returns how many objects the runtime was not there for though it was
// for everything else, each of them asked for twice: behind such an object is a
// shim that has died. 0 if calls of other kinds failed so as well, or if it is the
// connection that was lost for several at once: the status of one of them may be
// what ends the runtime, and nothing tells which.
func (v *view) unreachable() int {
	away := v.sweptAway()
	if away == 0 || v.Failure != nil || v.StatusErr != nil || v.VersionErr != nil || v.Sweep.Flaky > 0 || away > fullFailing || 2*away >= v.Sweep.Done {
		return 0
	}
	if away > 1 && len(v.cutOff()) > 0 {
		return 0
	}
	return away
}

// sweptAway returns how many objects of the last sweep the runtime was not there
// for.
func (v *view) sweptAway() int { return len(v.sweptFailed(isAway)) }

// cutOff returns the objects of the last sweep that failed with the loss of the
// connection, each time they were asked for.
func (v *view) cutOff() []answers.Swept {
	return v.sweptFailed(func(err error) bool {
		e, ok := errors.AsType[*call.Error](err)
		return ok && e.Why == call.Broken
	})
}

func (v *view) sweptFailed(so func(error) bool) (failed []answers.Swept) {
	if v.Sweep != nil {
		for _, o := range v.Sweep.Failed {
			if so(o.Err) {
				failed = append(failed, o)
			}
		}
	}
	return failed
}

// connectionKiller returns the one object whose status ends the connection each
// time it is asked for: no more failed with it than can be out at once, and they
// were answered when asked again.
func (v *view) connectionKiller() (answers.Swept, bool) {
	cut := v.cutOff()
	if len(cut) != 1 || v.sweptAway() != 1 || v.StatusErr != nil || v.Failure != nil || v.Sweep.Flaky == 0 || v.Sweep.Flaky >= 2*v.Sweep.Width || v.sweep() == nil {
		return answers.Swept{}, false
	}
	return cut[0], true
}

// awayLately reports whether the runtime is away, or was in the last flakyWindow.
func (v *view) awayLately() bool { return v.Memory.Outages.Away || v.outages().outages > 0 }

// outages returns how often the runtime went away in the last flakyWindow.
func (v *view) outages() flakiness {
	all, since := v.Memory.Outages.Since(answers.FlakyFor, v.At)
	if len(all) == 0 {
		return flakiness{}
	}
	return flakiness{failed: since.Failed, all: since.All, outages: len(all), since: all[0].At}
}
