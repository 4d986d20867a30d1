package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// errUnasked keeps the core from taking a pod for inspected that the sweep did
// not come to. Nobody else sees it.
var errUnasked = errors.New("not asked")

// beginSweep begins the sweep, or refuses it, once it is known whether the
// runtime is quick enough.
func (m *examiner) beginSweep(now time.Time) {
	if reason := m.tooSlow(now, m.x.Deadline); reason != "" {
		m.sweep = &sweep{sweeper: refused(now, m.x.Width, m.x.Timeout, reason), cancel: func() {}}
		return
	}
	if m.vitals.statusOut || m.vitals.versionOut && !m.late(now, call.Version) {
		return
	}
	pods, _, _ := m.pods.read()
	all := m.partsOf(pods)
	exited := exitedParts(pods)
	runningFirst := func(a, b Flight) int { return cmp.Compare(exited[a.ID], exited[b.ID]) }
	m.answers = make([]answer[partStatus], len(all))
	m.sweep = &sweep{
		sweeper: newSweeper(now, all, m.x.Width, m.x.Timeout, runningFirst),
		keep:    func(place int, a answer[partStatus]) { m.answers[place] = a },
	}
	m.sweep.ctx, m.sweep.cancel = context.WithCancel(m.ctx)
}

// late reports whether a call of that operation has been out for so long that
// nothing else waits for it.
func (m *examiner) late(now time.Time, op call.Operation) bool {
	f := m.ledger.like(Flight{Op: op})
	return f != nil && f.Elapsed(now) > sluggish
}

// partsOf returns the calls of the sweep, and notes which are whose.
func (m *examiner) partsOf(pods []*Pod) []Flight {
	var all []Flight
	m.parts = make(map[pleg.UID]span, len(pods))
	for _, p := range pods {
		from := len(all)
		all = append(all, partsOf(p.PodRef, p.Seen())...)
		m.parts[p.UID] = span{from, len(all)}
	}
	return all
}

// exitedParts returns 1 for each sandbox and container that does not run.
func exitedParts(pods []*Pod) map[string]int {
	exited := make(map[string]int)
	for _, p := range pods {
		for _, s := range p.Seen().Sandboxes {
			if s.State == pleg.Exited {
				exited[s.ID] = 1
			}
		}
		for _, c := range p.Seen().Containers {
			if c.State == pleg.Exited {
				exited[c.ID] = 1
			}
		}
	}
	return exited
}

// settle has the core settle all pods by what the sweep brought, once.
func (m *examiner) settle(now time.Time) {
	if m.settled || m.relist == nil || !m.relist.listed {
		return
	}
	m.settled = true
	r := m.relist
	serial := r.listTook
	if m.records != nil {
		serial += m.settlePods(r, now)
		must(m.records.End())
		m.release(now)
	}
	m.relist = nil
	m.log.end(r, now, serial, m.failure != nil)
}

// settlePods returns how long the calls took, one after the other.
func (m *examiner) settlePods(r *relist, now time.Time) (serial time.Duration) {
	for next, more := m.records.Next(); more; next, more = m.records.Next() {
		uid := next.Pod.UID
		i, took := m.inspection(next.Pod.PodRef)
		must(m.records.Settle(uid, now, i.status, i.err))
		if errors.Is(i.err, errUnasked) {
			continue
		}
		r.done++
		if i.err != nil {
			r.failures++
		}
		serial += took
		m.pods.inspected(m.records, uid, now, took, i)
	}
	return serial
}

// inspection makes an inspection of the answers about one pod. As in the
// kubelet the first error counts, and what is gone is left out.
func (m *examiner) inspection(pod pleg.PodRef) (i inspection, took time.Duration) {
	var sandboxes []pleg.SandboxStatus
	var containers []pleg.ContainerStatus
	at, swept := m.parts[pod.UID]
	if !swept {
		return inspection{err: errUnasked}, 0
	}
	unasked := false
	for place := at.from; place < at.to; place++ {
		o, a := &m.sweep.objects[place], &m.answers[place]
		took += o.took
		i.found = i.found.Add(a.found)
		switch {
		case o.state == waiting:
			unasked = true
		case o.state != answered && i.err == nil:
			i.failed = o.Flight
			i.err = fmt.Errorf("inspect %s of pod %v: %w", o.object(), pod, o.err)
		case o.err != nil: // gone, or not the first error
		case o.Op == call.PodSandboxStatus:
			sandboxes = append(sandboxes, a.value.sandbox)
		default:
			containers = append(containers, a.value.container)
		}
	}
	switch {
	case i.err != nil:
	case unasked:
		i.err = errUnasked
	default:
		i.status = pleg.Compose(pod, sandboxes, containers)
	}
	return i, took
}
