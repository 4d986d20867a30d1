package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// unsteadyPods is how many inspections must fail and then succeed by
	// themselves within flakyWindow for failures to be a matter of chance.
	unsteadyPods = 3
	// recoveriesKept bounds what is remembered.
	recoveriesKept = 64
)

// recoveries remembers when inspections failed and then succeeded, with nothing
// done about it: where many do, no pod is to blame.
type recoveries struct {
	failing map[pleg.UID]int // as of the last update, how often in a row
	at      []time.Time      // oldest first, at most recoveriesKept
}

func (r *recoveries) add(u engine.Update) {
	var now map[pleg.UID]int
	reading := reading{Snapshot: u.Snapshot}
	for _, p := range u.Snapshot.Pods {
		if p.Failure != nil && (reading.ownError(p.Failure.Err, p.Failure.Took()) || stranded(p.Failure.Err)) {
			if now == nil {
				now = make(map[pleg.UID]int)
			}
			now[p.UID] = p.Failure.InRow
		} else if r.failing[p.UID] > 0 && p.StatusErr == nil {
			r.at = append(r.at, u.Snapshot.At)
		}
	}
	r.failing = now
	r.at = r.at[max(0, len(r.at)-recoveriesKept):]
}

// within returns how many there were in the last flakyWindow.
func (r *recoveries) within(at time.Time) int {
	n := 0
	for n < len(r.at) && at.Sub(r.at[len(r.at)-1-n]) <= flakyWindow {
		n++
	}
	return n
}
