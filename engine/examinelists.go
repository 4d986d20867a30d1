package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// byPodLimit is how long an examination lists pod by pod, where the list of all
// containers was too large to be sent.
const byPodLimit = 4 * time.Second

// A look is what the lists of an examination brought.
type look struct {
	sandboxes  answer[[]pleg.ListedSandbox]
	containers answer[[]pleg.ListedContainer]
	byPod      bool // the list of all containers was too large
	pods, of   int  // how many have had their containers listed
}

// listOnce makes the lists, one after the other.
func (m *examiner) listOnce() {
	r := &relist{began: m.started, out: true}
	m.relist = r
	m.log.begin(m.started, time.Time{})
	m.do(func(context.Context) func() {
		l := m.lookAt()
		return func() { m.listed(r, l) }
	})
}

func (m *examiner) lookAt() (l look) {
	l.sandboxes = insist(m, func() answer[[]pleg.ListedSandbox] {
		return patiently(m, Flight{Op: call.ListPodSandbox}, m.long, func(ctx context.Context) ([]pleg.ListedSandbox, pleg.Anomalies, error) {
			return m.config.Runtime.ListPodSandbox(ctx, "")
		})
	})
	hung := late(l.sandboxes.took, m.short, l.sandboxes.err)
	if hung && !m.heard.Load() || m.ledger.like(l.sandboxes.Flight) != nil {
		// A runtime that answers nothing is not asked for more, and no list is
		// begun while another is out.
		l.containers = answer[[]pleg.ListedContainer]{Flight: Flight{Op: call.ListContainers}, err: outOfTurn(call.ListContainers, context.DeadlineExceeded)}
		return l
	}
	limit := m.long
	if hung { // what holds up one list mostly holds up the other
		limit = m.short
	}
	l.containers = insist(m, func() answer[[]pleg.ListedContainer] {
		return patiently(m, Flight{Op: call.ListContainers}, limit, m.containersOf(pleg.PodRef{}))
	})
	if l.sandboxes.err == nil && errors.Is(l.containers.err, call.ErrTooLarge) {
		m.lookByPod(&l)
	}
	return l
}

// containersOf returns the list of a pod's containers, or of all for an empty
// one.
func (m *examiner) containersOf(pod pleg.PodRef) question[[]pleg.ListedContainer] {
	return func(ctx context.Context) ([]pleg.ListedContainer, pleg.Anomalies, error) {
		return m.config.Runtime.ListContainers(ctx, pod.UID)
	}
}

// lookByPod lists the containers of each pod alone, the oldest pods first: they
// have gathered the most.
func (m *examiner) lookByPod(l *look) {
	ctx, cancel := context.WithTimeout(m.calls, m.clock.wait(byPodLimit))
	defer cancel()
	pods := oldestFirst(l.sandboxes.value)
	l.byPod, l.of = true, len(pods)
	for _, pod := range pods {
		a := ask(ctx, m.driver, Flight{Op: call.ListContainers, Pod: pod}, m.x.Timeout, m.containersOf(pod))
		if a.err != nil && !errors.Is(a.err, call.ErrTooLarge) || ctx.Err() != nil {
			return
		}
		if a.err == nil {
			l.pods++
		}
		l.containers.found = l.containers.found.Add(a.found)
		for _, c := range a.value {
			if c.Pod.UID == pod.UID {
				l.containers.value = append(l.containers.value, c)
			}
		}
	}
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

// failed returns the list that a kubelet's relist would have failed with.
func (l *look) failed() (Flight, error) {
	if l.sandboxes.err != nil {
		return l.sandboxes.Flight, l.sandboxes.err
	}
	return l.containers.Flight, l.containers.err
}

// partial says in words what is missing.
func (l *look) partial() string {
	switch {
	case l.byPod:
		return fmt.Sprintf("the list of all containers was too large, so they were listed pod by pod: %d of %d pods", l.pods, l.of)
	case l.sandboxes.err == nil && l.containers.err == nil:
		return ""
	case l.sandboxes.err == nil:
		return "the sandboxes only: ListContainers " + outcome(l.containers.err)
	case l.containers.err == nil:
		return "the containers only: ListPodSandbox " + outcome(l.sandboxes.err)
	}
	return "nothing: ListPodSandbox " + outcome(l.sandboxes.err) + ", ListContainers " + outcome(l.containers.err)
}

func outcome(err error) string {
	if errors.Is(err, call.ErrDeadline) {
		return "gave no answer"
	}
	return "failed"
}

// listed takes in the lists. If one failed PLEG stays as it is, unsuccessful,
// and the pods are kept by a core that has no say in that.
func (m *examiner) listed(r *relist, l look) {
	now := m.clock.now()
	r.listed = true
	r.listTook = l.sandboxes.took + l.containers.took
	m.press.dirty = true
	m.partial = l.partial()
	m.records = m.core
	if f, err := l.failed(); err != nil {
		m.failure = m.failure.again(f, err, now)
		if l.sandboxes.err != nil && l.containers.err != nil {
			m.records = nil
			return
		}
		aside, err := pleg.New(pleg.Config{Release: m.config.Release})
		must(err)
		m.records = aside
	}
	m.first = r.began
	pods, found := pleg.Assemble(l.sandboxes.value, l.containers.value, r.began)
	m.found = l.sandboxes.found.Add(l.containers.found).Add(found)
	must(m.records.Begin(r.began, pods))
	r.total = m.records.Pending()
	m.pods.renewAll(m.records)
}
