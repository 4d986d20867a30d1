package podworker

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A Set is the workers of a node, one for each pod that was added. Its owner hands it the
// events, syncs each pod that [Set.Next] names, and calls [Set.Done] after that. A set
// decides when; it does nothing by itself.
//
// Time must not go back from one call to the next. An event for a pod that was not added is
// ignored, as by a kubelet whose pod manager does not know it.
type Set struct {
	cache   *pleg.Cache
	sums    Workers   // but for All
	all     []*Record // by namespace, name, UID
	byUID   map[pleg.UID]*Record
	ready   []pleg.UID // to be synced, the first woken first
	overdue []pleg.UID // see [Set.Overdue]
	shown   []*Worker  // what Read returned last; nil if it has changed since
}

// A Record is the whole state of one worker, for a [Checkpoint].
type Record struct {
	Worker   Worker
	Taken    int         // how many waiting events the next sync handles, once it is decided on
	Asked    bool        // a sync is wanted for another reason than an event
	Woken    bool        // a sync is decided on and has not begun
	Ticket   pleg.Ticket // of the status that it waits for; 0 if it waits for none
	LastSync time.Time   // when the last sync ended; zero before

	shown *Worker // as it was read last; nil if it has changed since
}

// New returns a set without workers. Its workers will read the cache. Workers that act expect
// events.
func New(cache *pleg.Cache, acting bool) *Set {
	return &Set{cache: cache, sums: Workers{Acting: acting, Expecting: acting}, byUID: map[pleg.UID]*Record{}}
}

// Add adds a pod. It does nothing for one that the set knows.
func (s *Set) Add(now time.Time, pod pleg.PodRef) {
	if s.byUID[pod.UID] != nil {
		return
	}
	w := &Record{Worker: Worker{Pod: pod, Since: now}}
	i, _ := slices.BinarySearchFunc(s.all, pod, func(w *Record, pod pleg.PodRef) int { return w.Worker.Pod.Compare(pod) })
	s.all, s.shown = slices.Insert(s.all, i, w), nil
	s.byUID[pod.UID] = w
}

// Remove removes a pod that has gone. Its worker does no more syncs, and its expectations are
// forgotten.
func (s *Set) Remove(uid pleg.UID) {
	if w := s.byUID[uid]; w != nil {
		s.all, s.shown = slices.DeleteFunc(s.all, func(o *Record) bool { return o == w }), nil
		s.ready = slices.DeleteFunc(s.ready, func(o pleg.UID) bool { return o == uid })
		delete(s.byUID, uid)
	}
}

// Known reports whether there is a worker for that pod.
func (s *Set) Known(uid pleg.UID) bool { return s.byUID[uid] != nil }

// Event hands on an event that the reader took from the event channel. It leaves out events
// that are not for workers: undelivered events, and removals. No kubelet hands removals on, but
// they may be expected.
func (s *Set) Event(now time.Time, e pleg.Event) {
	w := s.byUID[e.Pod.UID]
	if w == nil || e.Delivery != pleg.Delivered {
		return
	}
	s.expire(now)
	s.touch(w)
	w.Worker.Last, w.Worker.LastAt, w.Worker.Spared = e, now, s.meet(w, e)
	if !w.Worker.Spared && e.Kind != pleg.Removed {
		w.Worker.Queued++
	}
	s.goOn(now, w)
}

// Ask asks for a sync of a pod for another reason than an event, such as that it is new
// or to be deleted. It waits for no event.
func (s *Set) Ask(now time.Time, uid pleg.UID) {
	if w := s.byUID[uid]; w != nil {
		w.Asked = true
		s.goOn(now, w)
	}
}

// Advance applies the passing of time, and new statuses in the cache.
func (s *Set) Advance(now time.Time) {
	s.expire(now)
	for _, a := range s.cache.Served() {
		if w := s.byUID[a.UID]; w != nil && w.Ticket == a.Ticket {
			w.Ticket = 0
			s.wake(now, w)
		}
	}
}

// Next returns the next pod that is to be synced now, and false if there is none. From
// then on its worker is syncing, until [Set.Done].
func (s *Set) Next(now time.Time) (pleg.UID, bool) {
	if len(s.ready) == 0 {
		return "", false
	}
	w := s.byUID[s.ready[0]]
	s.ready = slices.Delete(s.ready, 0, 1)
	w.Worker.Queued -= w.Taken
	w.Woken, w.Taken = false, 0
	w.Worker.Syncs++
	s.sums.Syncs++
	s.enter(now, w, Syncing)
	return w.Worker.Pod.UID, true
}

// Done says that the sync of a pod has ended.
func (s *Set) Done(now time.Time, uid pleg.UID) {
	if w := s.byUID[uid]; w != nil && w.Worker.State == Syncing {
		w.LastSync = now
		s.enter(now, w, Idle)
		s.goOn(now, w)
	}
}

// Waits reports whether any worker waits for a newer status of its pod.
func (s *Set) Waits() bool {
	return slices.ContainsFunc(s.all, func(w *Record) bool { return w.Ticket != 0 })
}

// goOn takes a worker as far as it gets now. It goes on once it has something to do, its last
// sync is over, and its expected events have come. Then it waits for a status that is newer
// than its last sync, if there was a sync. All later events make one more sync, like the one
// pending update of a kubelet's worker. (kubelet pod_workers.go, podWorkerLoop.)
func (s *Set) goOn(now time.Time, w *Record) {
	switch {
	case w.Worker.State == Syncing || w.Woken || !w.Asked && w.Worker.Queued == 0:
		return
	case !w.Asked && len(w.Worker.Expected) > 0:
		s.enter(now, w, WaitsForExpected)
		return
	}
	if w.Worker.Queued > 0 {
		w.Worker.WakeUps++
		s.sums.WakeUps++
	}
	w.Woken, w.Asked, w.Taken = true, false, w.Worker.Queued
	if w.LastSync.IsZero() {
		s.wake(now, w)
	} else if ticket, served := s.cache.Subscribe(w.Worker.Pod.UID, w.LastSync); served {
		s.wake(now, w)
	} else {
		w.Ticket = ticket
		s.enter(now, w, WaitsForStatus)
	}
}

// wake queues a worker's pod for [Set.Next].
func (s *Set) wake(now time.Time, w *Record) {
	s.enter(now, w, Idle)
	s.ready = append(s.ready, w.Worker.Pod.UID)
}

func (s *Set) enter(now time.Time, w *Record, state State) {
	s.touch(w)
	if w.Worker.State == state {
		return
	}
	w.Worker.State, w.Worker.Since, w.Worker.After = state, now, time.Time{}
	if state == WaitsForStatus {
		w.Worker.After = w.LastSync
	}
}

// touch notes that a worker has changed since it was read.
func (s *Set) touch(w *Record) { w.shown, s.shown = nil, nil }

// Read returns the state of all workers, with the same slice if nothing has changed.
func (s *Set) Read() Workers {
	if s.shown == nil {
		s.shown = make([]*Worker, len(s.all))
		for i, w := range s.all {
			if w.shown == nil {
				shown := w.Worker
				w.shown = &shown
			}
			s.shown[i] = w.shown
		}
	}
	sums := s.sums
	sums.All = s.shown
	return sums
}
