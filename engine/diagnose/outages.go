package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

// outages remembers the last times at which the runtime went away. It goes by
// the calls that are about no object: of an object, the shim may be what is away.
type outages struct {
	failed uint64 // calls that found no runtime, as of the last update
	away   bool
	bouts  []bout // oldest first, at most flakyBouts of them
}

// A bout is the moment at which calls began to find no runtime, and the counts
// just before.
type bout struct {
	at          time.Time
	failed, all uint64
}

func (o *outages) add(u engine.Update) {
	s := u.Snapshot
	failed, all := failedGeneral(s)
	switch {
	case failed > o.failed && !o.away:
		if len(o.bouts) == flakyBouts {
			o.bouts = append(o.bouts[:0], o.bouts[1:]...)
		}
		o.bouts = append(o.bouts, bout{at: s.At, failed: o.failed, all: all - (failed - o.failed)})
		o.away = true
	case failed == o.failed && s.Failure == nil && s.StatusErr == nil:
		o.away = false
	}
	o.failed = failed
}

// failedGeneral counts the calls about the whole runtime that failed at once, and
// all of them.
func failedGeneral(s *engine.Snapshot) (failed, all uint64) {
	for i := range s.Calls {
		c := &s.Calls[i]
		if c.Op >= call.PodSandboxStatus {
			continue
		}
		all += c.Count
		for _, n := range c.ByCode {
			if !slices.Contains(notAway, n.Code) {
				failed += n.Count
			}
		}
	}
	return failed, all
}

// notAway are the codes that do not mean that the runtime was away for a moment:
// it hung, or its answer was too large, or the call was ours to end.
var notAway = []string{"OK", "DeadlineExceeded", "ResourceExhausted", "Canceled", "NotFound", "Unimplemented"}

// lately reports whether the runtime is away, or was in the last flakyWindow.
func (o *outages) lately(s *engine.Snapshot) bool { return o.away || o.within(s).bouts > 0 }

// within returns what happened in the last flakyWindow.
func (o *outages) within(s *engine.Snapshot) (f flakiness) {
	failed, all := failedGeneral(s)
	for i := len(o.bouts) - 1; i >= 0 && s.At.Sub(o.bouts[i].at) <= flakyWindow; i-- {
		b := o.bouts[i]
		f = flakiness{failed: failed - min(b.failed, failed), all: all - min(b.all, all), bouts: f.bouts + 1, since: b.at}
	}
	return f
}
