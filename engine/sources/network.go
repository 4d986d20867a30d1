package sources

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// AddressWithin is how long a sandbox may be up without an address. Runtimes call a sandbox
	// ready only when its network is, and its containers start within seconds, so that the pod
	// is inspected anew.
	AddressWithin = 30 * time.Second
	// leastLife is the shortest time in which a sandbox may have come up, run containers and
	// ended without them. Kubelets relist more often.
	leastLife = 2 * time.Second
)

// Networks derives from inspections whether the network of each new sandbox was set up. No
// kubelet makes such events, and nobody is sent any.
type Networks struct {
	New []NewSandbox // whose network is not known yet, oldest first
}

// A NewSandbox is a sandbox that has come since the first relist.
type NewSandbox struct {
	pleg.ObjectRef
	Found time.Time // start of the relist that found it
	Since time.Time // when the relist saw it
	// Of one that had ended when the relist saw it: whether a source saw it start, the start of
	// the good lists before, and when those had returned that had it.
	WasUp               bool
	MissingAt, ListedAt time.Time
}

// Released takes in an event of the kubelet's PLEG. Started says that a source saw the sandbox
// start (see [Observer.Saw]).
func (n *Networks) Released(at time.Time, e pleg.Event, atStart, started bool, f Facts) {
	if !e.Sandbox || e.From != pleg.Absent && e.From != pleg.Created || atStart || e.Kind > pleg.Died {
		return
	}
	c := NewSandbox{ObjectRef: e.ObjectRef, Found: e.At, Since: at}
	if e.Kind == pleg.Died {
		c.WasUp, c.MissingAt, c.ListedAt = started, f.ListedBefore, f.ListsBack
	}
	n.New = append(n.New, c)
}

// Advance returns the events that are known by now, with Delivery Derived. They change no state,
// so that the next event of the sandbox starts where the one before has led.
func (n *Networks) Advance(at time.Time, f Facts) (events []pleg.Event) {
	if f.Paused {
		return nil
	}
	n.New = slices.DeleteFunc(n.New, func(c NewSandbox) bool {
		status, kind, known := c.judge(at, f)
		if status != nil {
			events = append(events, pleg.Event{Kind: kind, Delivery: pleg.Derived, ObjectRef: c.ObjectRef, From: status.State, To: status.State, At: later(c.Found, f.Listed)})
		}
		return known
	})
	return events
}

// until returns when the sandbox should have an address. After a pause it has its time anew.
func (c NewSandbox) until(f Facts) time.Time {
	return later(c.Since, f.Resumed).Add(AddressWithin)
}

// judge returns the sandbox and the event to report, nil for none, and whether that is final.
func (c NewSandbox) judge(at time.Time, f Facts) (*pleg.SandboxStatus, pleg.Kind, bool) {
	status, known := f.Records.Status(c.Pod.UID)
	if !known || status == nil {
		return nil, 0, !known // the pod has gone, or could not be inspected
	}
	i := slices.IndexFunc(status.Sandboxes, func(s pleg.SandboxStatus) bool { return s.ID == c.ID })
	if i < 0 {
		return nil, 0, true
	}
	s := &status.Sandboxes[i]
	wasUp := c.WasUp || c.ListedAt.Sub(later(c.MissingAt, s.CreatedAt)) > leastLife
	switch {
	case s.HostNetwork:
		return nil, 0, true
	case len(s.IPs) > 0:
		return s, pleg.NetworkSetUp, true
	case s.State == pleg.Exited && (wasUp || c.hasContainers(f)):
		return nil, 0, true // it was up between two relists, and its address is free by now
	case s.State == pleg.Exited, !at.Before(c.until(f)):
		return s, pleg.NetworkFailed, true
	}
	return nil, 0, false
}

// hasContainers reports whether the sandbox has containers. A runtime makes none in a sandbox
// whose network failed.
func (c NewSandbox) hasContainers(f Facts) bool {
	pod := f.Records.Pod(c.Pod.UID)
	return pod != nil && slices.ContainsFunc(pod.Containers, func(o pleg.Container) bool { return o.SandboxID == c.ID || o.SandboxID == "" })
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
