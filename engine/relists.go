package engine

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/quantile"
)

const (
	// historyLength is how many relists the sparkline reaches back.
	historyLength = 120
	// usualOf is how many of the last relists show how long lists usually take.
	usualOf = 10
)

// relists has the relist under way, and what is known of earlier ones.
type relists struct {
	Now        *relist // nil between two relists
	NextAt     time.Time
	Ended      time.Time // end of the last relist; zero before that
	First      time.Time // start of the first relist whose lists succeeded
	Before     time.Time // start of the good relist before the last good one
	SettledAt  time.Time // end of the last relist without a failed inspection
	ListsBack  time.Time // when the last good lists had returned
	ReturnedAt time.Time // when a list of all pods last returned before its deadline
	Last       Phase     // how the last relist went
	Count      uint64
	Failed     uint64
	Took       quantile.Durations
	Histogram  quantile.Histogram
	LastTook   time.Duration
	Interval   time.Duration    // from the start of the last good one to the start of this one
	History    []Relist         // the part that a snapshot can see is never written to
	PodFailure *answers.Failure // of the lists of one pod
	Found      pleg.Anomalies   // in the last good lists of all pods
}

// A relist is the one under way.
type relist struct {
	Pod       pleg.PodRef // the pod of the relist; zero for all pods
	Asked     bool        // it goes on while the engine is paused
	Began     time.Time
	Listed    bool // its lists are over
	ListTook  time.Duration
	Done      int
	Total     int
	Failures  int
	Moved     bool // records have changed since the lists were taken in
	HeldSince time.Time
	Held      time.Duration // how long pauses have held it
}

func (r *relist) ofOne() bool { return r.Pod.UID != "" }

// wanted has the requests that are not done yet.
type wanted struct {
	Relist    bool
	Pods      []pleg.UID // to reinspect, each once, in the order asked
	Deferred  bool       // Relist was asked for before a pause, and waits for its end
	Postponed []pleg.UID // pods that wait for it, too
}

func (w *wanted) any() bool { return w.Relist || len(w.Pods) > 0 }

// reinspect adds the request for a pod, if that pod is known and not requested yet.
func (w *wanted) reinspect(p *pods, uid pleg.UID) {
	if _, known := p.ByUID[uid]; known && !slices.Contains(w.Pods, uid) {
		w.Pods = append(w.Pods, uid)
	}
}

// pause stops everything that nobody asked for. Requests from before the pause that have not begun
// wait for its end.
func (m *Model) pause() {
	if m.kubelet.Paused() {
		return
	}
	m.kubelet.SetPaused(m.now, true)
	m.resumed, m.news = time.Time{}, true
	m.wanted = wanted{Deferred: m.wanted.Relist, Postponed: m.wanted.Pods}
	if r := m.relists.Now; r != nil && !r.ofOne() {
		r.Asked = false
	}
	m.asking.paused(m)
}

// resume ends a pause. Requests from before the pause come first.
func (m *Model) resume() {
	if !m.kubelet.Paused() {
		return
	}
	m.kubelet.SetPaused(m.now, false)
	m.resumed, m.news = m.now, true
	w := wanted{Relist: m.wanted.Relist || m.wanted.Deferred, Pods: m.wanted.Postponed}
	for _, uid := range m.wanted.Pods {
		w.reinspect(&m.pods, uid)
	}
	m.wanted = w
}

// nextJob returns what the relist lane has to do now. A relist that is due comes before one that
// was asked for, as in the kubelet. If there is nothing to do, at is when a relist is due.
func (m *Model) nextJob(now time.Time) (j job, found bool, at time.Time) {
	due := m.relistDue()
	if m.wanted.Relist || !due.IsZero() && !now.Before(due) {
		return job{Asked: m.wanted.Relist, Lists: true}, true, time.Time{}
	}
	for _, uid := range m.wanted.Pods {
		if p, known := m.pods.ByUID[uid]; known {
			return job{Pod: p.PodRef, Asked: true, Lists: m.core.OnDemand()}, true, time.Time{}
		}
	}
	if m.kubelet.Paused() {
		return job{}, false, time.Time{}
	}
	if pod, asks := m.sources.NextAsk(); asks && m.core.OnDemand() {
		return job{Pod: pod, Lists: true}, true, time.Time{}
	}
	return job{}, false, due
}

// relistDue returns when a relist begins by itself; zero if none will.
func (m *Model) relistDue() time.Time {
	if m.relists.Now != nil || m.kubelet.Paused() || m.start.Once && !m.listsAgain() {
		return time.Time{}
	}
	return m.relists.NextAt
}

// holdsRelist reports whether the inspections of the relist under way wait: for the end of a
// pause, or for the end of an examination, which asks for all objects by itself.
func (m *Model) holdsRelist() bool {
	r := m.relists.Now
	return m.start.Once && !m.closed || r != nil && m.kubelet.Paused() && !r.Asked && !m.wanted.any()
}

// nextInspection returns the pod that the relist under way inspects next.
func (m *Model) nextInspection() (pleg.Inspection, bool) {
	if m.relists.Now == nil {
		return pleg.Inspection{}, false
	}
	return m.core.Next()
}

// sumUp counts a relist of all pods that is over, and sets the time of the next one.
func (m *Model) sumUp(took time.Duration, failed bool) {
	l := &m.relists
	r := l.Now
	l.Now, l.Ended = nil, m.now
	l.Count++
	switch all := r.Done > 0 && r.Done >= r.Total; {
	case failed:
		l.Failed++
	case r.Failures == 0 && (all || !m.start.Once): // an examination may be cut off; it has no earlier relist
		l.SettledAt = m.now
	}
	l.LastTook = took
	l.Took.Add(took)
	l.Histogram.Add(took)
	l.History = append(l.History, Relist{
		At: r.Began, Took: took, List: r.ListTook, Inspected: r.Done, Failures: r.Failures, Failed: failed,
	})
	l.History = l.History[max(0, len(l.History)-historyLength):]
	m.known.UsualList = l.usual()
	l.Last = Phase{Began: r.Began, ListTook: r.ListTook, Done: r.Done, Total: r.Done}
	l.schedule(m.start.Period)
	m.news = m.news || failed || r.Done > 0 || m.pods.changed || r.Asked || l.Count == 1
}

// usual returns how long both lists together have taken lately.
func (l *relists) usual() time.Duration {
	took := make([]time.Duration, 0, usualOf)
	for _, r := range l.History[max(0, len(l.History)-usualOf):] {
		if !r.Failed {
			took = append(took, r.List)
		}
	}
	return answers.UsualList(took)
}

// schedule sets the next relist one period after the end of the last one.
func (l *relists) schedule(period time.Duration) {
	if !l.Ended.IsZero() {
		l.NextAt = l.Ended.Add(period)
	}
}

func (l *relists) sum() Relists {
	p50, _, p99 := l.Took.Quantiles()
	return Relists{
		Count: l.Count, Failed: l.Failed, Last: l.LastTook,
		P50: p50, P99: p99, Max: l.Took.Max(), Histogram: l.Histogram,
		History: slices.Clip(l.History), Interval: l.Interval,
	}
}

// relisting reports whether a relist is under way; relistedOnce whether a relist of all pods is
// over.
func (m *Model) relisting() bool { return m.relists.Now != nil }

func (m *Model) relistedOnce() bool { return m.relists.Count > 0 }

// listedBefore returns the start of the last good list of all pods before the one whose relist
// is under way.
func (m *Model) listedBefore() time.Time {
	if r := m.relists.Now; r != nil && !r.ofOne() && r.Listed {
		return m.relists.Before
	}
	return m.core.ListedAt()
}

// phase returns how far the present relist has come.
func (m *Model) phase(at time.Time) Phase {
	r := m.relists.Now
	if r == nil {
		p := m.relists.Last
		if m.kubelet.Paused() {
			p.Step = Stopped
		}
		return p
	}
	p := Phase{Began: r.Began, ListTook: r.ListTook, Done: r.Done, Total: r.Total, OnDemand: r.ofOne(), EndsBy: m.endsBy()}
	switch {
	case !r.Listed:
		p.Step = Listing
		p.ListTook = at.Sub(r.Began)
	case !r.HeldSince.IsZero():
		p.Step = Stopped
	default:
		p.Step = Inspecting
	}
	return p
}

// hold measures how long a pause holds up the inspections of the relist under way: that time says
// nothing about the runtime.
func (m *Model) hold() {
	r := m.relists.Now
	if r == nil || m.start.Once {
		return
	}
	_, out := m.relistCall()
	held := r.Listed && !out && m.holdsRelist()
	switch {
	case held == !r.HeldSince.IsZero():
		return
	case held:
		r.HeldSince = m.now
	default:
		r.Held += m.now.Sub(r.HeldSince)
		r.HeldSince = time.Time{}
	}
	m.news = true
}

// relistCall returns the call of the relist that is out, if one is.
func (m *Model) relistCall() (call.Flight, bool) {
	for _, f := range m.calls.Flights() {
		if f.By == call.ByRelist {
			return f, true
		}
	}
	return call.Flight{}, false
}

// endsBy returns when the relist under way will end, if one of its inspections is late; zero if
// none is. A call that is out takes until its deadline. So does a call that hung the last time and
// comes later in this relist. The others take no time to speak of.
func (m *Model) endsBy() time.Time {
	r := m.relists.Now
	f, out := m.relistCall()
	if r == nil || !r.Listed || !out || m.start.Once || m.now.Sub(f.Since) < call.LateAfter {
		return time.Time{}
	}
	hangers := 0
	for uid, p := range m.pods.ByUID {
		if e := p.Failure; e != nil && uid != f.Pod.UID && p.InspectedAt.Before(r.Began) && answers.TimedOut(e.Err, e.Took(), m.start.Timeout) {
			hangers++
		}
	}
	return f.Since.Add(m.start.Timeout * time.Duration(1+hangers))
}
