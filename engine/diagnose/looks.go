package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// AddReport takes in a look at the node, before it is the Evidence of an [Input].
// Looks come in order; nil, and the look that came last, change nothing. The report
// is kept, not copied. Like [History.Add] it is for the one goroutine that owns the
// history. Without it a rule that has to know of two looks, such as that on
// containers without a process, says nothing for as long as the newest look is
// newer than the lists.
func (h *History) AddReport(r *evidence.Report) {
	if r != nil && r != h.looks.last {
		h.looks = looks{last: r, lastBut: h.looks.last}
	}
}

// looks holds the last two looks at the node.
type looks struct{ last, lastBut *evidence.Report }

// before returns the look before r, which is one of the last two; nil if there
// was none, or if nobody tells the history of looks.
func (l looks) before(r *evidence.Report) *evidence.Report {
	if r != l.last {
		return nil
	}
	return l.lastBut
}

// departedKept is how long sandboxes that are listed no more are remembered: a
// look at the processes may be 5 s old, and some demos run fifteen times as fast.
const departedKept = 2 * time.Minute

// departedMost is how many of them are remembered. Where more go at once, shims
// accuse nobody.
const departedMost = 10_000

// A departed knows which sandboxes have gone from the lists a moment ago.
type departed struct {
	pods   []*engine.Pod       // of the last snapshot
	listed map[string]struct{} // its sandboxes
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
	listed := sandboxes(s)
	if d.since == nil {
		d.since = make(map[string]time.Time)
	}
	for id := range d.listed {
		if _, still := listed[id]; !still && len(d.since) < departedMost {
			d.since[id] = s.At
		}
	}
	d.pods, d.listed = s.Pods, listed
}

// sandboxes returns the ids of all sandboxes that are listed.
func sandboxes(s *engine.Snapshot) map[string]struct{} {
	ids := make(map[string]struct{}, s.Counts.Sandboxes)
	for _, p := range s.Pods {
		if seen := p.Seen(); seen != nil {
			for i := range seen.Sandboxes {
				ids[seen.Sandboxes[i].ID] = struct{}{}
			}
		}
	}
	return ids
}

// same reports whether two snapshots share their pods, as they do while nothing
// changes.
func same(a, b []*engine.Pod) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
