package sources

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// AddressWithin is how long a sandbox may be up without an address. Runtimes call a sandbox
	// ready only when its network is ready. Its containers start within seconds, so the pod is
	// inspected again.
	AddressWithin = 30 * time.Second
	// leastLife is the shortest time between two lists in which a sandbox may have come up, run
	// containers, lost them and ended.
	leastLife = 2 * time.Second
)

// Networks derives from inspections whether the network of each new sandbox was set up. No
// kubelet makes such events, and nobody gets them.
type Networks struct {
	New    []NewSandbox // whose network is not known yet, oldest first
	At     time.Time    // of the last Advance
	Paused bool         // the relist was paused at that time
}

// A NewSandbox is a sandbox that has come since the first relist.
type NewSandbox struct {
	pleg.ObjectRef
	Found  time.Time     // start of the relist that found it
	Since  time.Time     // when the relist saw it
	Waited time.Duration // for an address; a pause does not count
}

// Released takes in an event of the kubelet's PLEG. Started says that a source saw the sandbox
// start (see [Observer.Saw]). A sandbox that may have come up and ended between two lists makes
// no event: its address is free by now.
func (n *Networks) Released(at time.Time, e pleg.Event, atStart, started bool, f Facts) {
	isNew := e.Sandbox && (e.From == pleg.Absent || e.From == pleg.Created) && e.Kind <= pleg.Died && !atStart
	wasUp := e.Kind == pleg.Died && (started || f.ListsBack.Sub(f.ListedBefore) > leastLife)
	if isNew && !wasUp {
		n.New = append(n.New, NewSandbox{ObjectRef: e.ObjectRef, Found: e.At, Since: at})
	}
}

// Advance returns the events that are known by now, with Delivery Derived. They change no state,
// so the next event of the sandbox starts in the state where the previous event ended.
func (n *Networks) Advance(at time.Time, f Facts) (events []pleg.Event) {
	was, paused := n.At, n.Paused
	n.At, n.Paused = at, f.Paused
	for i := range n.New {
		if c := &n.New[i]; !paused {
			c.Waited += at.Sub(later(was, c.Since))
		}
	}
	if f.Paused {
		return nil
	}
	n.New = slices.DeleteFunc(n.New, func(c NewSandbox) bool {
		status, kind, known := c.judge(f)
		if status != nil {
			events = append(events, pleg.Event{Kind: kind, Delivery: pleg.Derived, ObjectRef: c.ObjectRef, From: status.State, To: status.State, At: later(c.Found, f.Listed)})
		}
		return known
	})
	return events
}

// Due returns when the next sandbox has waited for an address for too long; zero for never.
func (n *Networks) Due() (due time.Time) {
	for i := range n.New {
		if at := n.At.Add(AddressWithin - n.New[i].Waited); !n.Paused && at.After(n.At) && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}

// judge returns the sandbox and the event to report, nil for none, and whether that is final.
func (c NewSandbox) judge(f Facts) (*pleg.SandboxStatus, pleg.Kind, bool) {
	status, known := f.Records.Status(c.Pod.UID)
	if !known || status == nil {
		return nil, 0, !known // the pod has gone, or could not be inspected
	}
	i := slices.IndexFunc(status.Sandboxes, func(s pleg.SandboxStatus) bool { return s.ID == c.ID })
	if i < 0 {
		return nil, 0, true
	}
	switch s := &status.Sandboxes[i]; {
	case s.HostNetwork:
		return nil, 0, true
	case len(s.IPs) > 0:
		return s, pleg.NetworkSetUp, true
	case s.State == pleg.Exited && c.hasContainers(f):
		return nil, 0, true // it was up between two relists
	case s.State == pleg.Exited, c.Waited >= AddressWithin:
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
