package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// AddressWithin is how long a sandbox may be up without an address. Runtimes call one
	// ready only when its network is, and its containers start within seconds, for which
	// the pod is inspected again: what has no address by then will hardly get one.
	AddressWithin = 30 * time.Second
	// leastLife is the shortest time in which a sandbox may have come up, held containers
	// and ended without them. Kubelets relist more often.
	leastLife = 2 * time.Second
)

// A newcomer is a sandbox that has come since the first relist, and of whose network
// nothing has been told.
type newcomer struct {
	pleg.ObjectRef
	found  time.Time     // start of the relist that found it
	since  time.Time     // when it was seen
	paused time.Duration // how long all pauses had lasted then

	// Of one that had ended when it was first seen: the start of the good lists before,
	// and the end of those that had it.
	missing, listed time.Time
}

// networks derives from inspections what became of the networks of sandboxes, which no
// kubelet tells of. The core knows nothing of it, and nobody is sent anything.
type networks struct {
	passive
	waiting []newcomer
}

// follow takes note of a sandbox that has come.
func (n *networks) follow(m *machine, e Event) {
	came := e.From == pleg.Absent || e.From == pleg.Created // as the runtime's stream has it
	if !e.Sandbox || !came || e.AtStart || e.Kind != pleg.Started && e.Kind != pleg.Died || e.Delivery == pleg.Unseen {
		return
	}
	if m.transitions.Comes(e.ID) {
		c := newcomer{ObjectRef: e.ObjectRef, found: e.At, since: m.now, paused: m.pause.length(m.now)}
		if e.Kind == pleg.Died {
			c.missing, c.listed = m.listedBefore(), e.At
			if r := m.relists.now; r != nil {
				c.listed = e.At.Add(r.listTook)
			}
		}
		n.waiting = append(n.waiting, c)
	}
}

// advance tells what is known by now.
func (n *networks) advance(m *machine) {
	if len(n.waiting) == 0 || m.pause.on {
		return
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(c newcomer) bool {
		of, kind, over := c.judge(m)
		if of != nil {
			c.release(m, kind, of.State)
		}
		return over
	})
}

// due returns when a sandbox has been without an address for too long; zero if none waits
// for that.
func (n *networks) due(m *machine) (due time.Time) {
	if m.pause.on {
		return time.Time{}
	}
	for _, c := range n.waiting {
		if at := c.until(m); m.now.Before(at) {
			due = sooner(due, at)
		}
	}
	return due
}

func (c newcomer) until(m *machine) time.Time {
	return c.since.Add(AddressWithin + m.pause.length(m.now) - c.paused)
}

// judge returns what is to be told of the network of which sandbox, nil for nothing, and
// whether that is the last word.
func (c newcomer) judge(m *machine) (of *pleg.SandboxStatus, kind pleg.Kind, over bool) {
	entry, ok := m.core.Cache().Entry(c.Pod.UID)
	if !ok || entry.Status == nil {
		return nil, 0, !ok // the pod has gone, or could not be inspected
	}
	i := slices.IndexFunc(entry.Status.Sandboxes, func(s pleg.SandboxStatus) bool { return s.ID == c.ID })
	if i < 0 {
		return nil, 0, true
	}
	switch s := &entry.Status.Sandboxes[i]; {
	case s.HostNetwork:
		return nil, 0, true
	case len(s.IPs) > 0:
		return s, pleg.NetworkSetUp, true
	case s.State == pleg.Exited && (c.held(m) || c.wasUp(m, s)):
		return nil, 0, true // it was up between two relists, and its address is free again
	case s.State == pleg.Exited, !m.now.Before(c.until(m)):
		return s, pleg.NetworkFailed, true
	}
	return nil, 0, false
}

// held reports whether the sandbox has containers. A runtime makes none in a sandbox whose
// network failed.
func (c newcomer) held(m *machine) bool {
	was, now, _ := m.core.Record(c.Pod.UID)
	pod := cmp.Or(now, was)
	return pod != nil && slices.ContainsFunc(pod.Containers, func(o pleg.Container) bool { return o.SandboxID == c.ID || o.SandboxID == "" })
}

// wasUp reports whether the sandbox may have been up before it was first seen: somebody
// saw it start, or there was time for it.
func (c newcomer) wasUp(m *machine, s *pleg.SandboxStatus) bool {
	if c.listed.IsZero() {
		return false
	}
	if m.transitions.Saw(c.ID, pleg.Started) {
		return true
	}
	since := c.missing
	if s.CreatedAt.Before(c.listed) {
		since = latest(since, s.CreatedAt)
	}
	return c.listed.Sub(since) > leastLife
}

// release adds the event to the others. It changes no state, so that the next event of the
// sandbox starts where the one before has led.
func (c newcomer) release(m *machine, kind pleg.Kind, state pleg.State) {
	m.events.last++
	m.changed = true
	m.work.Events = append(m.work.Events, Event{Seq: m.events.last, Mode: m.modeNow(), SeenAt: m.now, Event: pleg.Event{
		Kind: kind, Delivery: pleg.Derived, ObjectRef: c.ObjectRef, From: state, To: state, At: latest(c.found, m.core.ListedAt()),
	}})
}
