package diagnose

import (
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// flakyOutages is how often within flakyWindow a runtime must have gone away
	// and come back to be called unreliable: a restart is one outage, and no trouble.
	flakyOutages = 3
	flakyWindow  = time.Minute
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
	if !v.Policy.Once {
		if f := v.past.outages.within(v.Snapshot); f.outages >= flakyOutages {
			return f
		}
		return flakiness{}
	}
	failed, all := countFailed(v.Snapshot, call.GetContainerEvents, func(code string) bool { return code == "Unavailable" })
	if _, one := v.connectionKiller(); one || failed <= uint64(2*v.unreachable()) {
		return flakiness{}
	}
	return flakiness{failed: failed, all: all, since: v.Started}
}

// countFailed counts the calls of some operations that failed with one of some codes,
// and all of them.
func countFailed(s *engine.Snapshot, below call.Operation, counts func(code string) bool) (failed, all uint64) {
	for i := range s.Calls {
		c := &s.Calls[i]
		if c.Op >= below {
			continue
		}
		all += c.Count
		for _, n := range c.ByCode {
			if counts(n.Code) {
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
func (v *view) cutOff() []engine.Swept {
	return v.sweptFailed(func(err error) bool {
		e, ok := errors.AsType[*call.Error](err)
		return ok && e.Why == call.Broken
	})
}

func (v *view) sweptFailed(so func(error) bool) (failed []engine.Swept) {
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
func (v *view) connectionKiller() (engine.Swept, bool) {
	cut := v.cutOff()
	if len(cut) != 1 || v.sweptAway() != 1 || v.StatusErr != nil || v.Failure != nil || v.Sweep.Flaky == 0 || v.Sweep.Flaky >= 2*v.Sweep.Width || v.sweep() == nil {
		return engine.Swept{}, false
	}
	return cut[0], true
}

// outages remembers the last times at which the runtime went away. It goes by
// the calls that are about no object: of an object, the shim may be what is away.
type outages struct {
	failed     uint64 // calls that found no runtime, as of the last update
	away       bool
	all        []outage  // oldest first, at most flakyOutages of them
	listFailed time.Time // the last update as of which the last list had failed
}

// An outage is the moment at which calls began to find no runtime, and the counts
// just before.
type outage struct {
	at          time.Time
	failed, all uint64
}

func (o *outages) add(u engine.Update) {
	s := u.Snapshot
	if s.Failure != nil {
		o.listFailed = s.At
	}
	failed, all := failedGeneral(s)
	switch {
	case failed > o.failed && !o.away:
		o.all = keep(o.all, outage{at: s.At, failed: o.failed, all: all - (failed - o.failed)}, flakyOutages)
		o.away = true
	case failed == o.failed && s.Failure == nil && s.StatusErr == nil:
		o.away = false
	}
	o.failed = failed
}

// failedGeneral counts the calls about the whole runtime that failed at once, and
// all of them. Others hung, or their answer was too large, or they were ours to end.
func failedGeneral(s *engine.Snapshot) (failed, all uint64) {
	return countFailed(s, call.PodSandboxStatus, func(code string) bool {
		return !slices.Contains([]string{"OK", "DeadlineExceeded", "ResourceExhausted", "Canceled", "NotFound", "Unimplemented"}, code)
	})
}

// lately reports whether the runtime is away, or was in the last flakyWindow.
func (o *outages) lately(s *engine.Snapshot) bool { return o.away || o.within(s).outages > 0 }

// within returns what happened in the last flakyWindow.
func (o *outages) within(s *engine.Snapshot) (f flakiness) {
	failed, all := failedGeneral(s)
	for i := len(o.all) - 1; i >= 0 && s.At.Sub(o.all[i].at) <= flakyWindow; i-- {
		one := o.all[i]
		f = flakiness{failed: failed - min(one.failed, failed), all: all - min(one.all, all), outages: f.outages + 1, since: one.at}
	}
	return f
}
