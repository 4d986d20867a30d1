package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// paceKept is how many answers to Status are remembered: of the kubelet's one
	// every 5 s, two that are slow tell of a change, and one does not.
	paceKept = 3
	// paceHolds is how long an answer says how fast the runtime is.
	paceHolds = time.Minute
)

// pace remembers how long the last calls of Status took.
type pace struct {
	count uint64          // calls returned as of the last update
	took  []time.Duration // oldest first, at most paceKept
}

func (p *pace) add(u engine.Update) {
	sums := sums(u.Snapshot, call.Status)
	if sums.Count == p.count {
		return
	}
	p.count = sums.Count
	if sums.LastErrAt.After(sums.LastOK) {
		return
	}
	if len(p.took) == paceKept {
		p.took = append(p.took[:0], p.took[1:]...)
	}
	p.took = append(p.took, sums.Last)
}

// usual returns what Status takes at present; before there are enough answers,
// the least of them.
func (p *pace) usual() (time.Duration, bool) {
	if len(p.took) == 0 {
		return 0, false
	}
	if len(p.took) < paceKept {
		return slices.Min(p.took), true
	}
	return middle(p.took), true
}

// middle returns the median, of an even number the lesser of the two in question.
func middle(all []time.Duration) time.Duration {
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return sorted[(len(sorted)-1)/2]
}
