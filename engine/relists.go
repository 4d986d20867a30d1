package engine

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/quantile"
)

// historyLength is how many relists the sparkline reaches back.
const historyLength = 120

// relists is the relist under way, and what is known of those before.
type relists struct {
	now       *relist // nil between two
	assembler pleg.Assembler

	nextAt    time.Time // when the next one is due
	ended     time.Time // of the last one; zero before
	before    time.Time // start of the last good one of all pods but one
	settledAt time.Time // end of the last one without a failed inspection; of one look, if all pods were inspected
	first     time.Time // start of the first whose lists succeeded
	// when a list of all pods returned last, if not by its deadline: who waits for the
	// same had its answer then, too
	listReturned time.Time
	last         Phase // how the last one went

	count, failed uint64
	took          quantile.Durations
	histogram     quantile.Histogram
	lastTook      time.Duration
	interval      time.Duration
	history       []Relist // never written to where a snapshot can see it

	podFailure *answers.Failure // of the lists of one pod
	found      pleg.Anomalies   // in the last good pair of lists of all pods
}

// sumUp counts a relist that is over and took so long.
func (l *relists) sumUp(m *machine, r *relist, took time.Duration, failed bool) {
	l.now = nil
	l.ended = m.now
	l.count++
	switch all := r.done > 0 && r.done >= r.total; {
	case failed:
		l.failed++
	case r.failures == 0 && (all || !m.policy.Once): // one look may be cut off, and has none before it
		l.settledAt = m.now
	}
	l.lastTook = took
	l.took.Add(took)
	l.histogram.Add(took)
	l.history = append(l.history, Relist{
		At: r.began, Took: took, List: r.listTook, Inspected: r.done, Failures: r.failures, Failed: failed,
	})
	l.history = l.history[max(0, len(l.history)-historyLength):]
	m.known.UsualList = l.usual()
	l.last = Phase{Began: r.began, ListTook: r.listTook, Done: r.done, Total: r.done}
}

// usualOf is from how many relists of late it is known what lists take.
const usualOf = 10

// usual returns what both lists together take of late.
func (l *relists) usual() time.Duration {
	took := make([]time.Duration, 0, usualOf)
	for _, r := range l.history[max(0, len(l.history)-usualOf):] {
		if !r.Failed {
			took = append(took, r.List)
		}
	}
	return answers.UsualList(took)
}

// schedule sets the next relist one period after the end of the last one.
func (l *relists) schedule(period time.Duration) {
	if !l.ended.IsZero() {
		l.nextAt = l.ended.Add(period)
	}
}

// listedBefore returns the start of the last good list of all pods before the one whose
// relist is under way.
func (m *machine) listedBefore() time.Time {
	if r := m.relists.now; r != nil && !r.onDemand() {
		return m.relists.before
	}
	return m.core.ListedAt()
}

func (l *relists) fill(m *machine, s *Snapshot) {
	s.Phase, s.Relists, s.PodFailure = l.phase(m, s.At), l.sum(), l.podFailure
	s.Anomalies = s.Anomalies.Add(l.found)
}

func (l *relists) sum() Relists {
	p50, _, p99 := l.took.Quantiles()
	return Relists{
		Count: l.count, Failed: l.failed, Last: l.lastTook,
		P50: p50, P99: p99, Max: l.took.Max(), Histogram: l.histogram,
		History: slices.Clip(l.history), Interval: l.interval,
	}
}

// phase says how far the present relist has come, as of now.
func (l *relists) phase(m *machine, now time.Time) Phase {
	r := l.now
	if r == nil {
		p := l.last
		if m.pause.on {
			p.Step = Stopped
		}
		return p
	}
	p := Phase{Began: r.began, ListTook: r.listTook, Done: r.done, Total: r.total, OnDemand: r.onDemand(), EndsBy: l.endsBy(m)}
	switch {
	case !r.listed:
		p.Step = Listing
		p.ListTook = now.Sub(r.began)
	case r.inspects != nil || m.policy.Once:
		p.Step = Inspecting
	default:
		p.Step = Stopped
	}
	return p
}

// listOut returns since when a list of all pods is out; zero if none is.
func (l *relists) listOut(m *machine) time.Time {
	if l.now == nil || l.now.listed || l.now.onDemand() {
		return time.Time{}
	}
	for _, p := range m.calls.out {
		if p.By == call.ByRelist && p.Op.IsList() {
			return p.Since
		}
	}
	return time.Time{}
}

// endsBy returns when the relist under way ends whose inspection is late: what is out,
// and what hung when it was asked last and comes later in this relist, takes until its
// deadline, the rest no time to speak of. Zero if no inspection is late.
func (l *relists) endsBy(m *machine) time.Time {
	r := l.now
	if r == nil || r.inspects == nil || m.policy.Once {
		return time.Time{}
	}
	f, out := m.calls.oldestOfRelist()
	if !out || m.now.Sub(f.Since) < answers.Late {
		return time.Time{}
	}
	if r.counted != r.inspects {
		r.counted, r.hangers = r.inspects, 0
		for uid, p := range m.pods.byUID {
			if e := p.Failure; e != nil && uid != f.Pod.UID && p.InspectedAt.Before(r.began) && answers.TimedOut(e.Err, e.Took(), m.config.Timeout) {
				r.hangers++
			}
		}
	}
	return f.Since.Add(m.config.Timeout * time.Duration(1+r.hangers))
}

// troubled returns since when the relist is late with what it does, or fails; zero if
// neither.
func (l *relists) troubled(m *machine, now time.Time) time.Time {
	if f := m.known.Failure; f != nil {
		return f.First.Add(-f.Took())
	}
	if f, out := m.calls.oldestOfRelist(); out && now.Sub(f.Since) >= answers.Foretold {
		return f.Since
	}
	return time.Time{}
}

// forget drops the records that the kubelet would keep for ever. No event
// depends on them, and a node that has run for months has many.
func (m *machine) forget() {
	for _, uid := range slices.Collect(m.core.Leaked()) {
		m.core.Forget(uid)
	}
}
