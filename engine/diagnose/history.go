package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A History is what a diagnosis keeps from one snapshot to the next: what it would have to
// work out anew, and what is known of deaths. [History.Add] takes in each update. Its
// memory is bounded. It belongs to one goroutine. The zero value has seen nothing.
type History struct {
	pods        podTable         // of the last snapshot
	looked      *evidence.Report // the last look at the node
	lookedStuck bool             // it found a process that does nothing

	deaths   deathLog     // of containers
	drift    driftLog     // of event sources and relist
	unseen   unseenDeaths // by any relist
	departed departed     // sandboxes
}

// NewHistory returns a history of nothing.
func NewHistory() *History { return new(History) }

// Add takes in an update. Updates come in order.
func (h *History) Add(u engine.Update) {
	if u.Snapshot == nil {
		return
	}
	h.pods.update(u.Snapshot)
	if r := u.Snapshot.Evidence; r != h.looked && r != nil {
		h.looked, h.lookedStuck = r, anyStuck(&r.Processes)
	}
	h.deaths.add(u)
	h.drift.add(u)
	h.unseen.add(u)
	h.departed.add(u)
}

// keep appends to what is remembered and drops the oldest beyond most.
func keep[T any](all []T, one T, most int) []T {
	if len(all) >= most {
		all = append(all[:0], all[len(all)-most+1:]...)
	}
	return append(all, one)
}

const (
	// departedKept is how long sandboxes that are listed no more are remembered: a
	// look at the processes may be 5 s old, and some demos run fifteen times as fast.
	departedKept = 2 * time.Minute
	// departedMost is how many of them are remembered. Where more go at once, shims
	// accuse nobody.
	departedMost = 10_000
)

// A departed knows which sandboxes are listed, and which have gone from the lists a
// moment ago.
type departed struct {
	pods   []*engine.Pod  // of the last snapshot
	listed map[string]int // how often each of its sandboxes is
	since  map[string]time.Time
}

func (d *departed) add(u engine.Update) {
	s := u.Snapshot
	for id, at := range d.since {
		if s.At.Sub(at) > departedKept {
			delete(d.since, id)
		}
	}
	if same(d.pods, s.Pods) {
		return
	}
	if d.since == nil {
		d.since, d.listed = make(map[string]time.Time), make(map[string]int)
	}
	var left []string
	for was, now := range engine.Changes(d.pods, s.Pods) {
		for _, id := range sandboxesOf(now) {
			d.listed[id]++
		}
		for _, id := range sandboxesOf(was) {
			if d.listed[id]--; d.listed[id] == 0 {
				left = append(left, id)
			}
		}
	}
	for _, id := range left {
		if d.listed[id] > 0 {
			continue // in another pod
		}
		delete(d.listed, id)
		if len(d.since) < departedMost {
			d.since[id] = s.At
		}
	}
	d.pods = s.Pods
}

// sandboxesOf returns the ids of the sandboxes of a pod, which may be nil.
func sandboxesOf(p *engine.Pod) []string {
	if p == nil {
		return nil
	}
	var ids []string
	for i := range seen(p).Sandboxes {
		ids = append(ids, seen(p).Sandboxes[i].ID)
	}
	return ids
}

// same reports whether two snapshots share their pods, as they do while nothing
// changes.
func same(a, b []*engine.Pod) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
