package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A relist is one relist under way, of all pods or of one.
type relist struct {
	pod       pleg.PodRef // the only one; empty for a relist of all
	asked     bool        // goes on while paused
	began     time.Time
	paused    time.Duration // how long all pauses had lasted then
	listed    bool          // the lists are over
	lists     listing
	listTook  time.Duration
	inspects  *inspection // under way; nil between two
	moved     bool        // records have changed since the lists were taken in
	done      int
	total     int
	failures  int
	hangers   int         // pods still to be inspected whose last inspection hung,
	counted   *inspection // as of this one
	heldSince time.Time   // zero if not held
	held      time.Duration
}

// A listing is what the two lists brought, as far as they have returned.
type listing struct {
	sandboxes  []pleg.ListedSandbox
	containers []pleg.ListedContainer
	found      pleg.Anomalies
	first      *answer // ListPodSandbox; nil until it has returned
	second     *answer // ListContainers
}

func (r *relist) onDemand() bool { return r.pod.UID != "" }

// out reports whether the relist waits for a call.
func (r *relist) out() bool { return !r.listed || r.inspects != nil }

func (l *listing) take(a *answer) {
	l.found = l.found.Add(a.found)
	if a.Op == call.ListPodSandbox {
		l.first = a
		l.sandboxes = a.value.Sandboxes
	} else {
		l.second = a
		l.containers = a.value.Containers
	}
}

// failed returns the list that the kubelet's relist fails with; nil if none does.
func (l *listing) failed() *answer {
	for _, a := range []*answer{l.first, l.second} {
		if a != nil && a.err != nil {
			return a
		}
	}
	return nil
}

// advance goes on with the relist as far as it goes without an answer.
func (l *relists) advance(m *machine) {
	for {
		switch {
		case l.now == nil:
			if !l.beginNext(m) {
				return
			}
		case l.now.out(), l.now.holds(m), m.policy.Once:
			return
		default:
			l.inspectNext(m)
		}
	}
}

// due returns when a relist begins by itself; zero if none will.
func (l *relists) due(m *machine) time.Time {
	if l.now != nil || m.pause.on || m.policy.Once && l.count > 0 {
		return time.Time{}
	}
	return l.nextAt
}

// beginNext begins what is due or asked for, if anything is. A relist that is
// due comes before a request, as in the kubelet.
func (l *relists) beginNext(m *machine) bool {
	if r := m.followed; r != 0 && r != m.config.Release {
		m.follow(r)
	}
	if due := l.due(m); m.wanted.relist || !due.IsZero() && !m.now.Before(due) {
		l.beginAll(m)
		return true
	}
	for {
		uid, ok := m.wanted.next()
		if !ok {
			return l.beginAsked(m)
		}
		if pod, known := m.pods.byUID[uid]; known {
			l.beginOne(m, pod.PodRef)
			return true
		}
	}
}

// follow makes the relist of a release from now on; no relist is under way.
func (m *machine) follow(r pleg.Release) {
	must(m.core.Follow(r))
	m.config.Release, m.changed = r, true
}

func (l *relists) beginAll(m *machine) {
	l.now = &relist{began: m.now, asked: m.wanted.relist, paused: m.pause.length(m.now)}
	m.wanted.relist = false
	if good := m.core.ListedAt(); !good.IsZero() {
		l.interval = m.now.Sub(good)
	}
	m.calls.want(m.now, m.policy.kubelets(call.Flight{Op: call.ListPodSandbox}))
}

// beginOne relists one pod, or, for a release that cannot, inspects it.
func (l *relists) beginOne(m *machine, pod pleg.PodRef) {
	l.now = &relist{pod: pod, asked: true, began: m.now}
	if m.core.OnDemand() {
		m.core.RequestReinspect(pod.UID)
		m.calls.want(m.now, m.policy.kubelets(call.Flight{Op: call.ListPodSandbox, Pod: pod}))
		return
	}
	must(m.core.BeginInspect(pod.UID))
	l.now.listed, l.now.total = true, 1
}

func (l *relists) answered(m *machine, a *answer) {
	r := l.now
	if r == nil { // a check came to its end before
		return
	}
	if r.inspects != nil {
		r.inspects.take(m, a)
		if r.inspects.over() {
			l.inspected(m)
		}
		return
	}
	r.lists.take(a)
	if !r.onDemand() && !a.hung(m.config.Timeout) {
		l.listReturned = a.at
	}
	if a.Op == call.ListPodSandbox && (a.err == nil || m.search.goesOn(m, r, a)) {
		m.calls.want(m.now, m.search.second(m, r, a))
		return
	}
	r.listTook = m.now.Sub(r.began)
	if r.onDemand() {
		l.listedOne(m)
	} else {
		l.listedAll(m)
	}
}

// listedAll takes in the lists of all pods. If one failed nothing changes, as in
// the kubelet: what was known stays, and its age goes on growing. What can be seen
// all the same is the search's to find.
func (l *relists) listedAll(m *machine) {
	r := l.now
	if f := r.lists.failed(); f != nil {
		if !m.check.cutShort(m.now, f.err, f.at.Sub(f.Since)) {
			m.known.Failure = m.known.Failure.Again(f.Flight, f.at, f.err, f.tries)
		}
		m.search.begin(m, r.lists)
		if !m.policy.Once {
			l.endAll(m, true)
		}
		return
	}
	m.search.reset(m)
	m.check.beginAgain(m)
	r.listed = true
	pods, found := l.assembler.Assemble(r.lists.sandboxes, r.lists.containers, r.began)
	l.found = r.lists.found.Add(found)
	m.known.Failure, l.podFailure = nil, nil
	if l.first.IsZero() {
		l.first = r.began
	}
	m.pause.listed = r.paused
	l.before = m.core.ListedAt()
	must(m.core.Begin(r.began, pods))
	r.total = m.core.Pending()
	r.lists = listing{} // the core has what it needs
	m.pods.showAll(m.core)
}

// listedOne takes in the lists of one pod. If they failed, or show the pod no
// more, it is left to the next relist of all, as in the kubelet.
func (l *relists) listedOne(m *machine) {
	r := l.now
	l.now = nil
	r.listed = true
	m.changed = true
	if f := r.lists.failed(); f != nil {
		if l.podFailure != nil && l.podFailure.Pod != r.pod {
			l.podFailure = nil // a row of failures is of one pod
		}
		l.podFailure = l.podFailure.Again(f.Flight, f.at, f.err, f.tries)
		m.pods.show(m.core, r.pod.UID)
		return
	}
	l.podFailure = nil
	pods, _ := pleg.Assemble(r.lists.sandboxes, r.lists.containers, r.began)
	for _, pod := range pods {
		if pod.UID == r.pod.UID {
			l.now = r
			must(m.core.BeginPod(r.began, pod))
			r.total = m.core.Pending()
		}
	}
	m.pods.show(m.core, r.pod.UID)
}

// holds reports whether the relist must wait because of a pause, and keeps
// account of how long it did. A request lets it go on: relists cannot overlap.
func (r *relist) holds(m *machine) bool {
	holds := m.pause.on && !r.asked && !m.wanted.any()
	if holds == !r.heldSince.IsZero() {
		return holds
	}
	if holds {
		r.heldSince = m.now
	} else {
		r.held += m.now.Sub(r.heldSince)
		r.heldSince = time.Time{}
	}
	m.changed = true
	return holds
}

// inspectNext begins the next inspection, or ends the relist if none is left.
func (l *relists) inspectNext(m *machine) {
	r := l.now
	next, more := m.core.Next()
	r.moved = m.release() || r.moved || more
	if !more {
		l.end(m)
		return
	}
	r.total = max(r.total, r.done+1)
	r.inspects = newInspection(m.now, next)
	r.inspects.advance(m)
	if r.inspects.over() { // of a pod without a single object
		l.inspected(m)
	}
}

// inspected settles the pod whose inspection has come to its end.
func (l *relists) inspected(m *machine) {
	r, i := l.now, l.now.inspects
	r.inspects = nil
	r.done++
	if i.err != nil {
		r.failures++
	}
	uid := i.next.Pod.UID
	must(m.core.Settle(uid, i.began, i.status(), i.err))
	m.memory.inspected(m, m.pods.byUID[uid], i.err)
	m.pods.inspected(m.core, uid, i)
	m.release()
	m.changed = true
}

// end ends a relist whose inspections are all settled.
func (l *relists) end(m *machine) {
	r := l.now
	must(m.core.End())
	m.forget()
	if r.onDemand() {
		l.now = nil
		m.pods.show(m.core, r.pod.UID)
		return
	}
	if r.moved {
		m.pods.showAll(m.core)
	}
	m.transitions.listed(m, r.began)
	l.endAll(m, false)
}

// endAll counts a relist of all pods that is over and sets the time of the
// next. The time for which a pause held it does not count: it says nothing of
// the runtime.
func (l *relists) endAll(m *machine, failed bool) {
	r := l.now
	l.sumUp(m, r, m.now.Sub(r.began)-r.held, failed)
	l.schedule(m.period)
	if failed || r.done > 0 || r.asked || l.count == 1 {
		m.changed = true
	}
}
