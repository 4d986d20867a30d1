package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A search looks for what can be seen, and for what is to blame, while the lists
// of all pods hang or fail: the half that succeeded, the containers pod by pod, and
// then each single object. The kubelet does nothing of that, so that nothing of it
// changes a record. There is one for each time that the lists cease to succeed.
type search struct {
	lists   listing       // as far as they have succeeded
	began   time.Time     // of the relist that they are of
	aside   *pleg.Core    // has the pods that partial is about; nil if there is nothing to see
	partial string        // what they lack, in words
	beside  []*Pod        // the pods, listed pod by pod, where those of a good list are shown
	byPod   bool          // the list of all containers was too large, or not to be read
	pods    []pleg.PodRef // whose containers are still to be listed alone
	listed  int           // how many have been
	held    []pleg.PodRef // whose list alone hung
	holders []pleg.PodRef // held, where the lists of others were answered: what holds up the list of all is in them
	of      int
	until   time.Time // of the listing pod by pod
	out     bool      // a call of the search is out
	begun   bool
	ahead   bool // began while a list was still out, so that what lists has of that is made up:
	aheadOf call.Flight
	over    bool
	sweptAt time.Time // when a sweep was begun for a call last; of all searches
	swept   time.Time // start of the call for which every object was asked for; zero if that was not done
}

// reset ends the search: the lists have succeeded, or are made again.
func (s *search) reset(m *machine) {
	s.drop(m)
	if m.sweeping() && m.sweep.forList && m.sweep.hung() == 0 { // nothing held it up: it was only slow
		m.dropSweep()
		m.sweep = nil
	}
	*s = search{sweptAt: s.sweptAt}
}

// goesOn reports whether the containers are listed although the list of the
// sandboxes failed, which a kubelet would not do. A runtime that answers nothing is
// not asked for more, and no list is begun while another is out.
func (s *search) goesOn(m *machine, r *relist, a *answer) bool {
	if !m.policy.Once {
		return false
	}
	if a.hung(m.calls.short) && !m.calls.heard || m.calls.like(a.Flight) != nil {
		f := call.Flight{Op: call.ListContainers, Since: m.now}
		r.lists.second = &answer{callSpec: callSpec{Flight: f}, at: m.now, err: outOfTurn(f.Op)}
		return false
	}
	return true
}

// second returns how the containers are listed. What holds up one list mostly
// holds up the other.
func (s *search) second(m *machine, r *relist, first *answer) callSpec {
	w := m.policy.kubelets(call.Flight{Op: call.ListContainers, Pod: r.pod})
	if m.policy.Once && first.hung(m.calls.short) {
		w.timeout = m.calls.short
	}
	return w
}

// begin begins the search with the lists of a relist that failed, in place of one that began
// before they had come.
func (s *search) begin(m *machine, lists listing) {
	if s.begun && !s.ahead {
		return
	}
	if s.byPod && lists.second != nil && lists.second.hung(m.calls.short) {
		s.ahead = false // has listed the pods beside it
		return
	}
	if s.ahead && m.sweep != nil && m.sweep.hung() == 0 {
		m.check.beginAgain(m) // with what the other list has brought
	}
	s.restart(m, lists, m.relists.now.began)
	switch {
	case lists.first.err == nil && lists.second != nil && (forAll(lists.second.err) || lists.second.hung(m.calls.short) && !m.holderFound()):
		s.listByPod(m)
	case lists.second == nil && !errors.Is(lists.first.err, call.ErrUnavailable):
		s.out = true // the kubelet would not ask for the other half
		m.calls.want(m.now, m.policy.own(call.Flight{By: call.BySearch, Op: call.ListContainers}))
	}
}

// restart begins the search with those lists. What was found before is shown until there is more.
func (s *search) restart(m *machine, lists listing, began time.Time) {
	s.drop(m)
	*s = search{begun: true, lists: lists, began: began, sweptAt: s.sweptAt, swept: s.swept, partial: s.partial, beside: s.beside, holders: s.holders}
}

func (s *search) drop(m *machine) {
	m.calls.drop(m.now, func(w *callSpec) bool { return w.By == call.BySearch })
}

// listByPod lists the containers of one pod after the other from now on.
func (s *search) listByPod(m *machine) {
	s.byPod, s.until = true, m.now.Add(answers.ByPodFor)
	s.pods = oldestFirst(s.lists.sandboxes)
	s.of = len(s.pods)
}

// forAll reports whether a list fails for what one pod has in it, so that others
// can be listed alone.
func forAll(err error) bool {
	return errors.Is(err, call.ErrTooLarge) || errors.Is(err, call.ErrUnreadable)
}

// advance goes on with the search as far as it goes without an answer.
func (s *search) advance(m *machine) {
	s.beginBesideHungList(m)
	if s.begun && !s.over {
		s.listNext(m)
	}
	s.beginSweep(m)
}

// beginBesideHungList shows what there is of a relist one of whose lists does not come back.
func (s *search) beginBesideHungList(m *machine) {
	r := m.relists.now
	f, hangs := m.hung()
	if r == nil || !hangs || !f.Op.IsList() || r.onDemand() {
		return
	}
	byPod := s.listsBeside(m, f)
	switch known := s.begun && (!s.ahead || s.aheadOf == f); {
	case m.policy.Once && (s.begun || !s.mayGoAhead(m)), known && !byPod:
		return
	}
	lists := r.lists
	unheard := &answer{callSpec: callSpec{Flight: call.Flight{Op: f.Op}}, err: outOfTurn(f.Op)}
	if f.Op == call.ListPodSandbox {
		lists.first = unheard
	} else {
		lists.second = unheard
	}
	s.restart(m, lists, r.began)
	s.ahead, s.aheadOf = true, f
	if byPod {
		s.listByPod(m)
	}
}

// listsBeside reports whether single pods are listed beside a hung list of all containers,
// once: the runtime answers otherwise, and nothing else says what holds it up.
func (s *search) listsBeside(m *machine, f call.Flight) bool {
	asked := s.byPod && s.aheadOf == f
	return !asked && !m.policy.Once && !m.pause.on && surelyHangs(f, m.now) && m.probes.clearOfAll(f) && !m.holderFound()
}

// surelyHangs reports whether f is a list of all containers that is not only slow.
func surelyHangs(f call.Flight, now time.Time) bool {
	return f.Op == call.ListContainers && f.Pod.UID == "" && f.Elapsed(now) >= answers.SurelyHangs
}

// mayGoAhead reports whether one that looks once asks for single objects while a list
// is still out: the runtime answers otherwise, and fast.
func (s *search) mayGoAhead(m *machine) bool {
	return m.calls.heard && !m.status.statusOut && m.tooSlow() == "" && !m.check.wasCut && !m.looks.holdsSweep(m) && m.hasObjects()
}

// outAhead reports whether a list for which the objects were asked for ahead is still
// out, and nothing that was found explains that. What does ends the waiting.
func (s *search) outAhead(m *machine) bool {
	if !s.ahead || m.check.wasCut {
		return false
	}
	for _, p := range m.calls.out {
		if p.Flight == s.aheadOf && p.why == nil && m.holderFound() {
			took := m.now.Sub(p.Since).Round(100 * time.Millisecond)
			m.calls.end(m.now, p, call.Late(p.Op, call.GivenUp, fmt.Sprintf("no answer for %v, and what may hold it up is found", took)))
		}
	}
	return true
}

// listNext lists the containers of the next pod, the oldest pods first, since they
// have gathered the most; or shows what has been found, if there is none.
func (s *search) listNext(m *machine) {
	switch {
	case s.out && !(s.byPod && !m.now.Before(s.until)):
		return
	case len(s.pods) == 0 || m.pause.on || !m.now.Before(s.until):
		s.show(m)
		return
	}
	f := call.Flight{By: call.BySearch, Op: call.ListContainers, Pod: s.pods[0]}
	switch other := m.calls.inWay(m.now, f); {
	case other == nil:
		s.out = true
		m.calls.want(m.now, m.policy.own(f))
	case other.abandoned: // may never return
		s.show(m)
	}
}

func (s *search) answered(_ *machine, a *answer) {
	s.out = false
	switch {
	case !s.byPod:
		s.lists.take(a)
		return
	case a.unmade: // which says nothing of the pod
		return
	}
	s.pods = s.pods[1:]
	alone := hung(a.took, a.timeout, a.err)
	if alone {
		s.held = append(s.held, a.Pod)
	}
	if goesOn := alone && (s.listed > 0 || len(s.held) == 1); a.err != nil && !forAll(a.err) && !goesOn {
		s.pods = nil
		return
	}
	if a.err == nil {
		s.listed++
	}
	s.lists.found = s.lists.found.Add(a.found)
	for _, c := range a.value.Containers {
		if c.Pod.UID == a.Pod.UID {
			s.lists.containers = append(s.lists.containers, c)
		}
	}
}

// show ends the search and shows the pods as far as they were found, unless there
// was a good list before, which tells more.
func (s *search) show(m *machine) {
	s.over, m.changed = true, true
	s.drop(m)
	s.holders = nil
	if s.listed > 0 {
		s.holders = s.held
	}
	switch {
	case s.byPod && !m.core.ListedAt().IsZero():
		s.listAside(m)
		var found pods
		found.byUID = make(map[pleg.UID]*Pod)
		found.showAll(s.aside)
		s.beside, _, _ = found.read()
		s.aside = nil
	case m.core.ListedAt().IsZero():
		s.partial = s.lacks()
		if s.lists.first.err == nil || s.lists.second != nil && s.lists.second.err == nil {
			s.listAside(m)
			m.pods.showAll(s.aside)
			m.probes.next = time.Time{} // now there are objects to ask for
		}
	}
	s.lists = listing{}
}

// listAside makes records of what was found, in a core that has no say in the
// kubelet's verdict.
func (s *search) listAside(m *machine) {
	aside, err := pleg.New(pleg.Config{Release: m.config.Release})
	must(err)
	pods, found := pleg.Assemble(s.lists.sandboxes, s.lists.containers, s.began)
	m.relists.found = s.lists.found.Add(found)
	must(aside.Begin(s.began, pods))
	s.aside = aside
}

func (s *search) fill(_ *machine, snapshot *Snapshot) {
	snapshot.Partial, snapshot.Beside, snapshot.Holders = s.partial, s.beside, s.holders
}

// lacks says in words what is missing.
func (s *search) lacks() string {
	first, second := s.lists.first.err, error(nil)
	if s.lists.second != nil {
		second = s.lists.second.err
	}
	switch {
	case s.byPod && (s.listed > 0 || forAll(second)):
		why := "was too large"
		switch {
		case errors.Is(second, call.ErrUnreadable):
			why = "cannot be read"
		case errors.Is(second, call.ErrDeadline):
			why = "gave no answer"
		}
		return fmt.Sprintf("the list of all containers %s, so they were listed pod by pod: %d of %d pods", why, s.listed, s.of)
	case first == nil:
		return "the sandboxes only: ListContainers " + outcome(second)
	case s.lists.second == nil:
		return "nothing: ListPodSandbox " + outcome(first)
	case second == nil:
		return "the containers only: ListPodSandbox " + outcome(first)
	}
	return "nothing: ListPodSandbox " + outcome(first) + ", ListContainers " + outcome(second)
}

func outcome(err error) string {
	if errors.Is(err, call.ErrDeadline) {
		return "gave no answer"
	}
	return "failed"
}

// beginSweep asks for every object, once, when a call of the relist hangs, or its
// lists fail, although the runtime answers otherwise. The container whose status
// holds the lock that a list waits for is found so, and what else hangs behind the one
// that holds up the relist.
func (s *search) beginSweep(m *machine) {
	if m.policy.Once || m.pause.on || m.sweeping() || m.now.Sub(s.sweptAt) < answers.SweepEvery || m.sweep != nil && m.now.Sub(m.sweep.Began) < answers.SweepEvery {
		return
	}
	if since, is := s.suspect(m); is && m.tooSlow() == "" && !m.looks.holdsSweep(m) && m.hasObjects() {
		s.swept, s.sweptAt = since, m.now
		m.beginSweep(nil)
		f, hangs := m.hung()
		m.sweep.forList, m.sweep.unasked = hangs && f.Op.IsList(), true
	}
}

// suspect returns the start of a call for which the objects have not been asked for
// yet: it hangs while probes are answered, or lists fail again and again with an
// error of their own.
func (s *search) suspect(m *machine) (time.Time, bool) {
	if f, hangs := m.hung(); hangs {
		return f.Since, !f.Since.Equal(s.swept) && (m.probes.clear(f) || m.core.ListedAt().IsZero() && m.probes.clearOfAll(f))
	}
	f := m.relists.failure
	if f == nil || !s.over || !s.swept.IsZero() || f.InRow < m.policy.Bounds().ListFails || errors.Is(f.Err, call.ErrUnavailable) {
		return time.Time{}, false
	}
	return f.Since, true
}

// due returns when something is to be done though nothing comes back.
func (s *search) due(m *machine) time.Time {
	if s.begun && !s.over && s.byPod {
		return s.until
	}
	if sure := m.relists.listOut(m).Add(answers.SurelyHangs); sure.After(m.now) && !m.policy.Once {
		return sure
	}
	return time.Time{}
}

// oldestFirst returns the pods of the sandboxes, each once.
func oldestFirst(sandboxes []pleg.ListedSandbox) []pleg.PodRef {
	sandboxes = slices.Clone(sandboxes)
	slices.SortStableFunc(sandboxes, func(a, b pleg.ListedSandbox) int { return a.CreatedAt.Compare(b.CreatedAt) })
	known := make(map[pleg.UID]bool, len(sandboxes))
	var pods []pleg.PodRef
	for _, s := range sandboxes {
		if !known[s.Pod.UID] {
			known[s.Pod.UID] = true
			pods = append(pods, s.Pod)
		}
	}
	return pods
}
