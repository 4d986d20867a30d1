package engine

import (
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// workers are the pod workers that a kubelet which saw the same would have. They act on
// nothing: they show which pods would have been woken, for what, and which wait for a
// status that the relist does not give.
type workers struct {
	passive
	set     *podworker.Set
	channel []pleg.Event // what the sync loop has not read yet; no more than the channel holds
	begun   []pleg.UID   // to be synced, since the loop began to read

	told podworker.Workers // what a kubelet that can be asked said of its own
}

func newWorkers(core *pleg.Core) workers {
	return workers{set: podworker.New(core.Cache(), false, false)}
}

// wanted reports whether they are of interest: not where a kubelet tells what its own do.
func (w *workers) wanted(m *machine) bool { return m.config.Workers == nil && !m.policy.Once }

// send takes in an event that the core has released.
func (w *workers) send(m *machine, e pleg.Event) {
	if e.Delivery == pleg.Delivered && w.wanted(m) {
		w.channel = append(w.channel, e)
	}
}

// advance hands on the events that the sync loop has read, and what statuses became
// newer. A sync takes as long as the loop takes to hand on what it has: so those of one
// relist make one sync at once, and one more when a status is newer than that.
func (w *workers) advance(m *machine) {
	w.set.Advance(m.now)
	w.begin(m)
	if len(w.channel) > 0 && m.core.Len() == 0 {
		for _, e := range w.channel {
			if _, known := m.pods.byUID[e.Pod.UID]; known {
				w.set.Add(m.now, e.Pod)
			}
			w.set.Event(m.now, e)
			w.begin(m)
		}
		w.channel = nil
	}
	for len(w.begun) > 0 {
		for _, uid := range w.begun {
			w.set.Done(m.now, uid)
		}
		w.begun, m.changed = w.begun[:0], true
		w.begin(m) // whose status is newer already
	}
	w.follow(m)
}

// begin begins the syncs for which nobody waits any more.
func (w *workers) begin(m *machine) {
	for {
		uid, more := w.set.Next(m.now)
		if !more {
			return
		}
		w.begun = append(w.begun, uid)
	}
}

// follow has a worker for each pod there is.
func (w *workers) follow(m *machine) {
	for _, uid := range m.pods.moved {
		switch p, there := m.pods.byUID[uid]; {
		case !there:
			w.set.Remove(uid)
		case w.wanted(m):
			w.set.Add(m.now, p.PodRef)
		}
	}
	m.pods.moved = nil
}

// fill shows how the workers stand: the kubelet's, where it tells.
func (w *workers) fill(m *machine, s *Snapshot) {
	if s.Workers = w.told; m.config.Workers == nil {
		s.Workers = w.set.Read()
	}
}
