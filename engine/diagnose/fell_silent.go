package diagnose

import (
	"errors"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

// askedAgain reports whether a call failed that was made after the sweep of one
// pass had begun: then it tells what has become of the runtime since.
func askedAgain(s *engine.Snapshot, f *engine.Failure) bool {
	return f != nil && onePass(s) && s.Sweep != nil && s.Sweep.Refused == "" && f.Since.After(s.Sweep.Began)
}

// wentAway returns the calls made last in one pass if the runtime was not there
// for any of them, whatever it answered before.
func wentAway(s *engine.Snapshot) []*engine.Failure {
	f := s.StatusErr
	if !askedAgain(s, f) || !errors.Is(f.Err, call.ErrUnavailable) || s.Sweep.GivenUp == "" && s.Sweep.Flaky > 0 {
		return nil
	}
	for i := range s.Calls {
		if s.Calls[i].LastOK.After(f.Since) {
			return nil
		}
	}
	last := []*engine.Failure{f}
	if v := s.VersionErr; askedAgain(s, v) && errors.Is(v.Err, call.ErrUnavailable) {
		last = append(last, v)
	}
	return last
}

// fellSilent returns the Status that had no answer after the sweep had begun,
// where the sweep blames nobody for it: all that hangs does so since one moment.
func (r *reading) fellSilent() (hang, bool) {
	f := r.StatusErr
	if !askedAgain(r.Snapshot, f) || !r.ranOut(f.Err, r.lasted(f)) || r.Sweep.GivenUp == "" || len(r.Sweep.Hung) > 0 {
		return hang{}, false
	}
	return r.general[call.Status], !r.slowsDown() && !r.objectsAnswered(f.Since)
}

// slowsDown reports whether everything in one pass took longer and longer until
// calls were out for their whole time: what hangs then is only slow as well.
func (r *reading) slowsDown() bool {
	w := r.Sweep
	if !onePass(r.Snapshot) || w == nil || w.Timeout <= 0 || len(w.Slowest) < fullHung || w.Slowest[len(w.Slowest)-1].Took < w.Timeout/2 {
		return false
	}
	return r.halfSlow() >= slowCall
}

// slowShare is the part of all calls that must be of operations of which half are
// slow; those that are asked for once each are few, and fast by chance.
const slowShare = 0.75

// halfSlow returns what half of the calls of the slow operations take at least, if
// almost all calls are of such; 0 if not.
func (r *reading) halfSlow() time.Duration {
	var slow, all uint64
	var least time.Duration
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.Op == call.GetContainerEvents {
			continue
		}
		all += c.Count
		if c.P50 >= slowCall && c.Count >= slowSample && !c.LastOK.IsZero() {
			slow += c.Count
			if least == 0 || c.P50 < least {
				least = c.P50
			}
		}
	}
	if float64(slow) < slowShare*float64(all) {
		return 0
	}
	return least
}

// sweptUntil says how far a sweep had come when the runtime fell silent.
func (r *reading) sweptUntil() string {
	w := r.Sweep
	if w == nil || w.GivenUp == "" {
		return ""
	}
	return fmt.Sprintf("the sweep was given up with %s of %s answered: %s", thousands(uint64(max(0, w.Done-len(w.Hung)-len(w.Failed)))), count(w.Total, "object"), w.GivenUp)
}
