package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine"
)

// A Headline is the one sentence on a node: what a kubelet on it would say now,
// for what reason, and when that changes. It is the first thing of every view.
type Headline struct {
	Word     string   // "HEALTHY", "PAUSED", "UNHEALTHY", "LISTS HANG" and the like: upper case, at most 20 cells
	Severity Severity // Info while nothing is wrong
	Text     string   // the effect, then its cause; not cleaned; empty if there is nothing to add to the word
	Clock    Clock
}

// A Clock is what comes next by itself.
type Clock struct {
	What string        // such as "NotReady" or "PLEG unhealthy"; empty if nothing is to come
	In   time.Duration // as of the snapshot
}

// headline returns the headline of a moment, given its findings.
func headline(in Input, findings []Finding) Headline {
	s := in.Snapshot
	switch {
	case s.Paused:
		return Headline{Word: "PAUSED", Text: "the last look was " + going(s.Health.ListAge(s.At)) + " ago"}
	case len(findings) > 0 && findings[0].Severity > Info:
		return Headline{Word: "UNHEALTHY", Severity: findings[0].Severity, Text: findings[0].Summary, Clock: clockOf(s)}
	case s.Health.ListedAt.IsZero():
		return Headline{Word: "NO LIST YET"}
	}
	return Headline{Word: "HEALTHY"}
}

func clockOf(s *engine.Snapshot) Clock {
	if s.Health.UnhealthyAt.IsZero() || s.Failure == nil {
		return Clock{}
	}
	return Clock{"PLEG unhealthy", s.Health.UnhealthyAt.Sub(s.At)}
}
