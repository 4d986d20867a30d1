package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine"
)

// lateKept is how many late calls are remembered, far more than pods hang at once
// on a node that is of any use.
const lateKept = 64

// lateCalls remembers which calls of relists about an object were late. Once an
// inspection has come to its end, nothing else tells which of its calls it was.
type lateCalls struct {
	calls []engine.Flight // in the order in which they became late, at most lateKept
}

func (l *lateCalls) add(u engine.Update) {
	s := u.Snapshot
	for _, f := range s.InFlight {
		if f.By != engine.ByRelist || !aboutObject(f.Op) || f.Elapsed(s.At) < late || l.knows(f) {
			continue
		}
		if len(l.calls) == lateKept {
			l.calls = append(l.calls[:0], l.calls[1:]...)
		}
		l.calls = append(l.calls, f)
	}
}

func (l *lateCalls) knows(f engine.Flight) bool {
	for i := range l.calls {
		if l.calls[i].ID == f.ID && l.calls[i].Since.Equal(f.Since) {
			return true
		}
	}
	return false
}

// of returns the last late call of an inspection, given its pod and when it
// began and ended.
func (l *lateCalls) of(p *engine.Pod) (engine.Flight, bool) {
	began := p.InspectedAt.Add(-p.InspectLast - 10*time.Millisecond) // the clock was read at several moments
	for i := len(l.calls) - 1; i >= 0; i-- {
		if f := l.calls[i]; f.Pod == p.PodRef && f.Since.After(began) && f.Since.Before(p.InspectedAt) {
			return f, true
		}
	}
	return engine.Flight{}, false
}
