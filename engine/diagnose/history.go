package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A History is what a diagnosis needs to know of the time before the present
// snapshot: [History.Add] takes in each update, [History.AddReport] each look at
// the node. Its memory is bounded. It belongs to one goroutine. A part that one
// rule needs stands beside that rule; the zero value of each has seen nothing.
type History struct {
	looked, lookedBefore *evidence.Report     // the last two looks at the node
	lookedStuck          bool                 // whether the last one found any process that does nothing
	missed               map[string]time.Time // running containers of which it found no process, by id, since the first look in a row that missed it

	again    repeats                // errands
	pods     podTable               // of the last snapshot
	losses   losses                 // of events
	verdicts verdicts               // on PLEG
	orphaned map[pleg.UID]time.Time // since when containers of a pod run without their sandbox
	growth   growth                 // of list answers
	outages  outages                // of the runtime
	mended   recoveries             // of inspections
	status   statusTimes            // how long Status took
	ease     ease                   // of our own relists
	kubelet  kubeletLog
	back     comeback // of the runtime
}

// NewHistory returns a history of nothing.
func NewHistory() *History { return new(History) }

// Add takes in an update. Updates come in order.
func (h *History) Add(u engine.Update) {
	if u.Snapshot == nil {
		return
	}
	h.back.add(u)
	h.pods.update(u.Snapshot)
	h.growth.add(u)
	h.outages.add(u)
	h.mended.add(u, h.pods.Values)
	h.status.add(u)
	h.losses.add(u)
	h.verdicts.add(u)
	h.addOrphaned(u)
	h.ease.add(u.Snapshot)
}

// AddReport takes in a look at the node, before it is the Evidence of an [Input].
// Looks come in order; nil, and the look that came last, change nothing. The report
// is kept, not copied. Without it a rule that has to know of two looks, such as that
// on containers without a process, says nothing.
func (h *History) AddReport(r *evidence.Report) {
	if r != nil && r != h.looked {
		h.looked, h.lookedBefore, h.lookedStuck = r, h.looked, anyStuck(&r.Processes)
		h.missed = h.missedBy(r)
		h.kubelet.add(r)
		h.again.add(r)
	}
}

// keep appends to what is remembered and drops the oldest beyond most.
func keep[T any](all []T, one T, most int) []T {
	if len(all) >= most {
		all = append(all[:0], all[len(all)-most+1:]...)
	}
	return append(all, one)
}

const (
	// statusKept is how many answers to Status are remembered: of the kubelet's one
	// every 5 s, two that are slow tell of a change, and one does not.
	statusKept = 3
	// statusHolds is how long an answer says how fast the runtime is.
	statusHolds = time.Minute
)

// statusTimes remembers how long the last calls of Status took.
type statusTimes struct {
	count uint64          // calls returned as of the last update
	took  []time.Duration // oldest first, at most statusKept
}

func (t *statusTimes) add(u engine.Update) {
	sums := sums(u.Snapshot, call.Status)
	if sums.Count == t.count {
		return
	}
	t.count = sums.Count
	if !sums.LastErrAt.After(sums.LastOK) {
		t.took = keep(t.took, sums.Last, statusKept)
	}
}

// usual returns what Status takes at present: the median, of two answers the lesser.
func (t *statusTimes) usual() (time.Duration, bool) {
	if len(t.took) == 0 {
		return 0, false
	}
	return slices.Sorted(slices.Values(t.took))[(len(t.took)-1)/2], true
}

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

func (r *recoveries) add(u engine.Update, pods []podFacts) {
	var now map[pleg.UID]int
	v := view{Snapshot: u.Snapshot}
	for i, p := range u.Snapshot.Pods {
		if !pods[i].failing && len(r.failing) == 0 {
			continue
		}
		if p.Failure != nil && (v.ownError(p.Failure.Err, p.Failure.Took()) || isAway(p.Failure.Err)) {
			put(&now, p.UID, p.Failure.InRow)
		} else if r.failing[p.UID] > 0 && p.StatusErr == nil {
			r.at = keep(r.at, u.Snapshot.At, recoveriesKept)
		}
	}
	r.failing = now
}

// within returns how many there were in the last flakyWindow.
func (r *recoveries) within(at time.Time) (n int) {
	for _, then := range r.at {
		if at.Sub(then) <= flakyWindow {
			n++
		}
	}
	return n
}

// same reports whether two snapshots share their pods, as they do while nothing
// changes.
func same(a, b []*engine.Pod) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
