package diagnose

import (
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

// A comeback knows when a runtime that had answered nothing answered again, and when
// single objects hung last. What was asked before that, and what was seen of the node,
// accuses nobody any more: calls that were out all come back together, one after the
// other, and the first of them would speak against those behind it.
type comeback struct {
	scope scope     // of the snapshot before
	asOf  time.Time // when that was made
	at    time.Time // of the first snapshot with an answer; zero if there was none
	inRow [3]int    // how often lists, Status and Version had failed by then

	hung map[string]time.Time // by the id of an object: when its status was last seen to hang, within hungKept
}

// hungKept is how long that is remembered: much longer than a look at the node is of
// use.
const hungKept = time.Minute

// saw takes in what was made of the last update.
func (c *comeback) saw(v *view) {
	c.scope = v.scope
	maps.DeleteFunc(c.hung, func(_ string, at time.Time) bool { return v.At.Sub(at) > hungKept })
	for i := range v.objects {
		put(&c.hung, v.objects[i].ID, v.At)
	}
}

// add takes in an update. The scope is still that of the one before.
func (c *comeback) add(u engine.Update) {
	s := u.Snapshot
	if slices.ContainsFunc(s.Calls, c.endsWith) {
		c.at, c.inRow = s.At, [3]int{}
		for i, f := range failures(s) {
			if f != nil {
				c.inRow[i] = f.InRow
			}
		}
	}
	c.asOf = s.At
}

// endsWith reports whether an answer that came since the last snapshot says that the
// runtime is back. One that came at once says so only if there could be none before.
func (c *comeback) endsWith(calls engine.Calls) bool {
	op := calls.Op
	if !calls.LastOK.After(c.asOf) || op == call.Version || op == call.GetContainerEvents {
		return false
	}
	switch c.scope {
	case refused:
		return true
	case silent:
		return op != call.Status || calls.Last >= callLate
	case everyStatus:
		return op.AboutObject()
	case tooEarly:
		return calls.Last >= callLate
	}
	return false
}

// since returns a snapshot without the failures of what was asked before the
// runtime came back; those that go on are counted from then.
func (c *comeback) since(s *engine.Snapshot) *engine.Snapshot {
	stale := func(f *engine.Failure) bool { return f != nil && f.First.Before(c.at) }
	if all := failures(s); !slices.ContainsFunc(all[:], stale) {
		return s
	}
	now := *s
	for i, f := range []**engine.Failure{&now.Failure, &now.StatusErr, &now.VersionErr} {
		switch {
		case !stale(*f):
		case (*f).InRow <= c.inRow[i]:
			*f = nil
		default:
			later := **f
			later.First, later.InRow = c.at, later.InRow-c.inRow[i]
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
