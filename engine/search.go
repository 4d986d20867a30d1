package engine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// byPodFor is how long containers are listed pod by pod, at most: nobody waits longer for half of
// the picture.
const byPodFor = 4 * time.Second

// A search looks for what can still be seen, and for what is to blame, while the lists of all pods
// hang or fail. It takes the list that succeeded, or lists the containers of one pod after the
// other. No kubelet does that, so a search changes no record. A new one begins each time that the
// lists cease to succeed.
type search struct {
	Begun, Over bool
	Ahead       call.Flight // the list that was still out when it began; zero for none
	Sandboxes   []*pleg.ListedSandbox
	Containers  []*pleg.ListedContainer
	First       *call.Error // of ListPodSandbox; nil if it succeeded
	Second      *call.Error // of ListContainers; nil if it succeeded, or was not made
	Asked       bool        // ListContainers was made
	ByPod       bool        // the containers are listed pod by pod
	Pods        []pleg.PodRef
	Until       time.Time // nothing is listed from then on
	Out         bool
	Total       int           // how many pods are to be listed alone
	Listed      int           // how many of them were listed
	Held        []pleg.PodRef // pods whose own list hung

	Partial string        // what the shown pods lack, in words
	Beside  []*Pod        // the pods as listed alone, if the shown pods are those of a good list
	Holders []pleg.PodRef // Held, if the lists of other pods were answered: these pods hold up the list of all
}

// next returns the list to make now, if there is one.
func (s *search) next(m *Model, now time.Time) (call.Flight, bool) {
	if !s.Begun || s.Over || s.Out || len(s.Pods) == 0 {
		return call.Flight{}, false
	}
	f := call.Flight{By: call.BySearch, Op: call.ListContainers, Pod: s.Pods[0]}
	_, busy := m.calls.InWay(f, now)
	return f, !busy
}

// listed ends the search: the lists have succeeded.
func (a *asking) listed(m *Model) {
	if c := a.Check; c.underWay() && c.ForList && c.Hanging == 0 { // nothing held the list up: it was only slow
		a.Check = nil
	}
	if m.start.Once && a.Search.Begun {
		a.Check = nil // it was begun before the lists came
	}
	a.Search = search{}
}

// listsFailed begins the search with the lists of the relist under way: one of them failed.
func (a *asking) listsFailed(m *Model) {
	s := &a.Search
	if s.Begun && s.Ahead == (call.Flight{}) {
		return
	}
	next := m.listsSoFar()
	if s.ByPod && ranOut(next.Second, call.HungListAfter, call.HungListAfter) {
		s.Ahead = call.Flight{} // the pods were listed at the same time
		return
	}
	if m.start.Once && s.Begun && a.Check != nil && a.Check.Hanging == 0 {
		a.Check = nil // there are more objects now
	}
	next.Partial, next.Beside, next.Holders = s.Partial, s.Beside, s.Holders
	*s = next
	switch hung := s.Second != nil && s.Second.Kind == call.ErrDeadline; {
	case s.First == nil && s.Second != nil && (forAll(s.Second) || hung && !a.accuses(m, m.now)):
		s.listByPod(m)
	case s.First != nil && !s.Asked && !answers.IsAway(s.First) && m.core.ListedAt().IsZero():
		s.Pods = []pleg.PodRef{{}} // the kubelet would not ask for the other half
	}
}

// listsSoFar returns a search that has the lists that the relist under way has made so far.
func (m *Model) listsSoFar() search {
	s := search{Begun: true}
	for _, a := range m.answersInOrder() {
		switch a.Flight.Op {
		case call.ListPodSandbox:
			if s.First = a.Err; a.Err == nil {
				s.Sandboxes = a.Answer.Sandboxes
			}
		case call.ListContainers:
			s.Asked = true
			if s.Second = a.Err; a.Err == nil {
				s.Containers = a.Answer.Containers
			}
		}
	}
	return s
}

// forAll reports whether a list failed because of what one pod has in it: then other pods can be
// listed alone.
func forAll(err *call.Error) bool {
	return err.Kind == call.ErrTooLarge || err.Kind == call.ErrUnreadable
}

// listByPod begins to list the containers of one pod after the other.
func (s *search) listByPod(m *Model) {
	s.ByPod, s.Pods, s.Until = true, worthListing(s.Sandboxes), m.now.Add(byPodFor)
	s.Total, s.Listed, s.Held = len(s.Pods), 0, nil
}

// plan shows the half of a relist that has come, if the other list hangs. It ends a search that has nothing
// left to ask for.
func (s *search) plan(m *Model) {
	s.besideHungList(m)
	none := !s.Out && (len(s.Pods) == 0 || m.kubelet.Paused())
	if s.Begun && !s.Over && (none || s.ByPod && !m.now.Before(s.Until)) {
		s.show(m)
	}
}

// besideHungList begins a search while a list hangs. It uses the list that succeeded, if one did. If a list of
// all containers surely hangs, it lists single pods at the same time, once. It does so only if the runtime
// answers other calls, and nothing else shows what holds up the list.
func (s *search) besideHungList(m *Model) {
	r := m.relists.Now
	f, out := m.relistCall()
	if r == nil || r.ofOne() || !out || !f.Op.IsList() || f.Elapsed(m.now) < m.lookAfter(f) {
		return
	}
	surely := f.Op == call.ListContainers && f.Elapsed(m.now) >= call.SurelyHangs
	byPod := surely && !m.start.Once && !(s.ByPod && s.Ahead == f) && !m.kubelet.Paused() && m.asking.Round.clearOfAll(f) && !m.asking.accuses(m, m.now)
	known := s.Begun && (s.Ahead == call.Flight{} || s.Ahead == f)
	if known && !byPod || m.start.Once && (s.Begun || !m.mayGoAhead()) {
		return
	}
	next := m.listsSoFar()
	if f.Op == call.ListPodSandbox {
		next.First = outOfTurn(f.Op)
	} else {
		next.Second, next.Asked = outOfTurn(f.Op), true
	}
	next.Partial, next.Beside, next.Holders, next.Ahead = s.Partial, s.Beside, s.Holders, f
	*s = next
	if byPod {
		s.listByPod(m)
	}
}

func (s *search) answered(a *answer) {
	if !s.Out {
		return // the search is over
	}
	s.Out = false
	if len(s.Pods) > 0 {
		s.Pods = s.Pods[1:]
	}
	if !s.ByPod {
		if s.Asked, s.Second = true, a.Err; a.Err == nil {
			s.Containers = a.Answer.Containers
		}
		return
	}
	alone := a.ranOut()
	if alone {
		s.Held = append(s.Held, a.Flight.Pod)
	}
	if goesOn := alone && (s.Listed > 0 || len(s.Held) == 1); a.Err != nil && !forAll(a.Err) && !goesOn {
		s.Pods = nil
		return
	}
	if a.Err == nil {
		s.Listed++
	}
	for _, c := range a.Answer.Containers {
		if c.Pod.UID == a.Flight.Pod.UID {
			s.Containers = append(s.Containers, c)
		}
	}
}

// show ends the search and shows the pods that it found. If there was a good list before, it leaves
// the pods of that list in place, since they say more.
func (s *search) show(m *Model) {
	s.Over, s.Out, s.Pods, m.news = true, false, nil, true
	s.Holders = nil
	if s.Listed > 0 {
		s.Holders = s.Held
	}
	switch never := m.core.ListedAt().IsZero(); {
	case s.ByPod && !never:
		found := newPods()
		found.showAll(m.listAside(s))
		s.Beside, _, _ = found.read()
	case never:
		s.Partial = s.lacks()
		if s.First == nil || s.Asked && s.Second == nil {
			m.aside = m.listAside(s)
			m.pods.showAll(m.aside)
			m.asking.Round.Next = time.Time{} // now there are objects to ask for
		}
	}
	s.Sandboxes, s.Containers = nil, nil
}

// listAside makes records of what was found, in a core of its own, which does not change the
// kubelet's verdict.
func (m *Model) listAside(s *search) *pleg.Core {
	aside, err := pleg.New(pleg.Config{Release: m.start.Release})
	if err != nil {
		return m.core
	}
	pods, found := pleg.Assemble(s.Sandboxes, s.Containers)
	m.relists.Found = found
	if aside.Begin(m.now, pods) != nil {
		return m.core
	}
	return aside
}

// lacks returns in words what is missing.
func (s *search) lacks() string {
	switch {
	case s.ByPod && (s.Listed > 0 || s.Second != nil && forAll(s.Second)):
		return fmt.Sprintf("the list of all containers %s, so they were listed pod by pod: %d of %d pods", wordOf(s.Second), s.Listed, s.Total)
	case s.First == nil:
		return "the sandboxes only: ListContainers " + wordOf(s.Second)
	case !s.Asked:
		return "nothing: ListPodSandbox " + wordOf(s.First)
	case s.Second == nil:
		return "the containers only: ListPodSandbox " + wordOf(s.First)
	}
	return "nothing: ListPodSandbox " + wordOf(s.First) + ", ListContainers " + wordOf(s.Second)
}

func wordOf(err *call.Error) string {
	switch {
	case err == nil:
		return "failed"
	case err.Kind == call.ErrDeadline:
		return "gave no answer"
	case err.Kind == call.ErrTooLarge:
		return "was too large"
	case err.Kind == call.ErrUnreadable:
		return "cannot be read"
	}
	return "failed"
}

// due returns when there is something to do even if nothing is observed; zero for never.
func (s *search) due(m *Model) time.Time {
	if s.Begun && !s.Over && s.ByPod {
		return s.Until
	}
	if f, out := m.relistCall(); out && f.Op == call.ListContainers && f.Pod.UID == "" {
		if at := f.Since.Add(call.SurelyHangs); at.After(m.now) {
			return at
		}
	}
	return time.Time{}
}

// worthListing returns the pods of the sandboxes, each once, in the order in which they are listed
// while there is time. A list is long for one of two reasons. A few old pods may have gathered many
// containers: therefore the oldest pods take every second turn. Or there are thousands of pods:
// only a sample of all shows whose they are, and takes the other turns.
func worthListing(sandboxes []*pleg.ListedSandbox) []pleg.PodRef {
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

// sampleStep is the step from one pod of the sample to the next, as a part of all pods. After the
// youngest pod the count goes on from the oldest. With the golden ratio, any number of steps lies
// evenly.
const sampleStep = math.Phi - 1

// oldestFirst returns the pods of the sandboxes, each once, the oldest first.
func oldestFirst(sandboxes []*pleg.ListedSandbox) []pleg.PodRef {
	sandboxes = slices.Clone(sandboxes)
	slices.SortStableFunc(sandboxes, func(a, b *pleg.ListedSandbox) int { return a.CreatedAt.Compare(b.CreatedAt) })
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
