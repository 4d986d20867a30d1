package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/survey"
)

// A search looks for what can be seen, and for what is to blame, while the lists
// of all pods hang or fail: the half that succeeded, the containers pod by pod, and
// then each single object. The kubelet does nothing of that, so that nothing of it
// changes a record. There is one for each time that the lists cease to succeed.
type search struct {
	lists   listing        // as far as they have succeeded
	began   time.Time      // of the relist that they are of
	aside   *pleg.Core     // has the pods that partial is about; nil if there is nothing to see
	partial string         // what they lack, in words
	beside  []*Pod         // the pods, listed pod by pod, where those of a good list are shown
	asking  *survey.Survey // for the containers of pods; nil where nothing is asked
	pods    []pleg.PodRef  // whose containers it asks for; the zero PodRef for those of all
	byPod   bool           // each pod's alone: the list of all was too large, not to be read, or hangs
	listed  int            // how many of them were listed
	held    []pleg.PodRef  // whose list alone hung
	holders []pleg.PodRef  // held, where the lists of others were answered: what holds up the list of all is in them
	begun   bool
	ahead   call.Flight // the list that was still out when it began, so that what lists has of that is made up; zero for none
	over    bool
}

// reset ends the search: the lists have succeeded, or are made again.
func (s *search) reset(m *machine) {
	s.drop(m)
	if w := &m.sweep; w.underWay() && w.forList && w.last.HungSoFar() == 0 { // nothing held it up: it was only slow
		w.forget(m)
	}
	*s = search{}
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
	r, ahead := m.relists.now, s.ahead != (call.Flight{})
	if s.begun && !ahead {
		return
	}
	if s.byPod && lists.second != nil && lists.second.hung(m.calls.short) {
		s.ahead = call.Flight{} // has listed the pods beside it
		return
	}
	if ahead && m.sweep.last != nil && m.sweep.last.HungSoFar() == 0 {
		m.check.beginAgain(m) // with what the other list has brought
	}
	r.listed = false // what it was said to have is made up
	s.restart(m, lists, r.began)
	switch {
	case lists.first.err == nil && lists.second != nil && (forAll(lists.second.err) || lists.second.hung(m.calls.short) && !m.holderFound()):
		s.listByPod(m)
	case lists.second == nil && !errors.Is(lists.first.err, call.ErrUnavailable):
		s.listPods([]pleg.PodRef{{}}, survey.Policy{}) // the kubelet would not ask for the other half
		s.ask(m)
	}
}

// restart begins the search with those lists. What was found before is shown until there is more.
func (s *search) restart(m *machine, lists listing, began time.Time) {
	s.drop(m)
	*s = search{begun: true, lists: lists, began: began, partial: s.partial, beside: s.beside, holders: s.holders}
}

func (s *search) drop(m *machine) { m.dropSurvey(s.asking) }

// listByPod lists the containers of one pod after the other from now on.
func (s *search) listByPod(m *machine) {
	s.byPod = true
	s.listPods(worthListing(s.lists.sandboxes), survey.Policy{Busy: survey.Wait, Until: m.now.Add(answers.ByPodFor)})
}

func (s *search) listPods(pods []pleg.PodRef, p survey.Policy) {
	p.By, p.Width = call.BySearch, 1
	s.pods, s.asking = pods, survey.New(p, survey.First(len(pods)))
}

func (s *search) ask(m *machine) {
	m.ask(s.asking, func(place int) call.Flight { return call.Flight{Op: call.ListContainers, Pod: s.pods[place]} })
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
}

// beginBesideHungList shows what there is of a relist one of whose lists does not come back.
func (s *search) beginBesideHungList(m *machine) {
	r := m.relists.now
	f, hangs := m.hung()
	if r == nil || !hangs || !f.Op.IsList() || r.onDemand() {
		return
	}
	byPod := s.listsBeside(m, f)
	switch known := s.begun && (s.ahead == call.Flight{} || s.ahead == f); {
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
	s.ahead = f
	if byPod {
		s.listByPod(m)
	}
}

// listsBeside reports whether single pods are listed beside a hung list of all containers,
// once: the runtime answers otherwise, and nothing else says what holds it up.
func (s *search) listsBeside(m *machine, f call.Flight) bool {
	asked := s.byPod && s.ahead == f
	return !asked && !m.policy.Once && !m.pause.on && surelyHangs(f, m.now) && m.probes.clearOfAll(f) && !m.holderFound()
}

// surelyHangs reports whether f is a list of all containers that is not only slow.
func surelyHangs(f call.Flight, now time.Time) bool {
	return f.Op == call.ListContainers && f.Pod.UID == "" && f.Elapsed(now) >= answers.SurelyHangs
}

// mayGoAhead reports whether one that looks once asks for single objects while a list
// is still out: the runtime answers otherwise, and fast.
func (s *search) mayGoAhead(m *machine) bool {
	return m.calls.heard && !m.status.statusOut && !m.check.wasCut && m.maySweep()
}

// outAhead reports whether a list for which the objects were asked for ahead is still
// out, and nothing that was found explains that. What does ends the waiting.
func (s *search) outAhead(m *machine) bool {
	if s.ahead == (call.Flight{}) || m.check.wasCut {
		return false
	}
	for _, p := range m.calls.out {
		if p.Flight == s.ahead && p.why == nil && m.holderFound() {
			took := m.now.Sub(p.Since).Round(100 * time.Millisecond)
			m.calls.end(m.now, p, call.Late(p.Op, call.GivenUp, fmt.Sprintf("no answer for %v, and what may hold it up is found", took)))
		}
	}
	return true
}

// listNext lists the containers of the next pod, or shows what has been found, if there
// is none.
func (s *search) listNext(m *machine) {
	if !m.pause.on {
		s.ask(m)
	}
	if s.asking.Over() || s.asking.Late(m.now) || m.pause.on && !s.asking.Out() {
		s.show(m)
	}
}

func (s *search) answered(_ *machine, a *answer) {
	switch {
	case !s.byPod:
		s.lists.take(a)
		return
	case a.unmade: // which says nothing of the pod
		s.asking.Prepend(int(a.tag))
		return
	}
	alone := a.hung(a.timeout)
	if alone {
		s.held = append(s.held, a.Pod)
	}
	if goesOn := alone && (s.listed > 0 || len(s.held) == 1); a.err != nil && !forAll(a.err) && !goesOn {
		s.asking.End()
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
		found := pods{byUID: make(map[pleg.UID]*Pod)}
		found.showAll(s.listAside(m))
		s.beside, _, _ = found.read()
	case m.core.ListedAt().IsZero():
		s.partial = s.lacks()
		if s.lists.first.err == nil || s.lists.second != nil && s.lists.second.err == nil {
			s.aside = s.listAside(m)
			m.pods.showAll(s.aside)
			m.probes.next = time.Time{} // now there are objects to ask for
		}
	}
	s.lists = listing{}
}

// listAside makes records of what was found, in a core that has no say in the
// kubelet's verdict.
func (s *search) listAside(m *machine) *pleg.Core {
	aside, err := pleg.New(pleg.Config{Release: m.config.Release})
	must(err)
	pods, found := pleg.Assemble(s.lists.sandboxes, s.lists.containers, s.began)
	m.relists.found = s.lists.found.Add(found)
	must(aside.Begin(s.began, pods))
	return aside
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
		return fmt.Sprintf("the list of all containers %s, so they were listed pod by pod: %d of %d pods", outcome(second), s.listed, len(s.pods))
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
	switch call.KindOf(err) {
	case call.ErrDeadline:
		return "gave no answer"
	case call.ErrTooLarge:
		return "was too large"
	case call.ErrUnreadable:
		return "cannot be read"
	}
	return "failed"
}

// due returns when something is to be done though nothing comes back.
func (s *search) due(m *machine) time.Time {
	if s.begun && !s.over && s.byPod {
		return s.asking.Until
	}
	if sure := m.relists.listOut(m).Add(answers.SurelyHangs); sure.After(m.now) && !m.policy.Once {
		return sure
	}
	return time.Time{}
}

// worthListing returns the pods of the sandboxes, each once, in the order in which they are
// listed while there is time. Two reasons make a list long. A few old pods have gathered many
// containers, so that the oldest pods take every second turn. Or there are thousands of pods:
// then only a sample of all says whose they are, which takes the other turns.
func worthListing(sandboxes []pleg.ListedSandbox) []pleg.PodRef {
	oldest := oldestFirst(sandboxes)
	listed := make([]bool, len(oldest))
	pods := make([]pleg.PodRef, 0, len(oldest))
	take := func(i int) {
		if !listed[i] {
			listed[i] = true
			pods = append(pods, oldest[i])
		}
	}
	for i := range oldest {
		take(i)
		_, part := math.Modf(float64(i+1) * sampleStep)
		take(int(part * float64(len(oldest))))
	}
	return pods
}

// sampleStep is the part of all pods between one pod of the sample and the next, counted on from the
// oldest after the youngest: by the golden ratio any number of steps lie evenly.
const sampleStep = math.Phi - 1

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
