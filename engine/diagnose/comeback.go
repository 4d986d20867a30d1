package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
)

// sinceBack returns a snapshot without the failures of what was asked before the
// runtime came back; those that go on are counted from then.
func sinceBack(s *engine.Snapshot) *engine.Snapshot {
	back := &s.Memory.Back
	stale := func(f *answers.Failure) bool { return f != nil && f.First.Before(back.At) }
	if all := s.Failures(); !slices.ContainsFunc(all[:], stale) {
		return s
	}
	now := *s
	for i, f := range []**answers.Failure{&now.Failure, &now.StatusErr, &now.VersionErr} {
		switch {
		case !stale(*f):
		case (*f).InRow <= back.InRow[i]:
			*f = nil
		default:
			later := **f
			later.First, later.InRow = back.At, later.InRow-back.InRow[i]
			*f = &later
		}
	}
	return &now
}

// looked returns when the last look at the node began, and false if there was none or
// its clock is not the engine's.
func (v *view) looked() (time.Time, bool) {
	if !v.sameClock() {
		return time.Time{}, false
	}
	return v.evidence.At.Add(-v.evidence.Took), true
}
