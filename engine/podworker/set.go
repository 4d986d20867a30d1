package podworker

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// queueRoom is how many of the events that wait for one worker are kept. More make the
// same one sync, and are only counted.
const queueRoom = 64

// A Set is the workers of a node, one for each pod that it was told of. Whoever has it
// tells it what happens, and then, of each pod that [Set.Next] names, syncs it and says
// [Set.Done]. A set decides when; it does nothing by itself.
//
// Time must not go back from one call to the next. What is said of a pod that it was not
// told of is ignored, as by a kubelet whose pod manager does not know it.
type Set struct {
	cache     *pleg.Cache
	acting    bool
	expecting bool

	byUID   map[pleg.UID]*worker
	ready   []*worker // to be synced, the first woken first
	waiting int       // for statuses
	owing   []*worker // those that expect something
	reports []Report
	sums    Workers // but for All

	all   []*worker // some of them gone
	moved bool      // all is not in order, or has some that are gone
	dirty []*worker // changed since read
	read  []*Worker // never written to once it was returned
}

// A worker is a Worker and what it has to know beside.
type worker struct {
	Worker
	queue    []pleg.Event // that wait for a sync which is not decided on yet, up to queueRoom
	queued   int          // all of them
	taken    int          // events for which a sync is decided on that has not begun
	asked    bool         // a sync is wanted though no event wants it
	woken    bool         // a sync is decided on and has not begun
	ticket   pleg.Ticket  // of the status that is waited for
	synced   bool
	lastSync time.Time // when the last sync ended; as of synced

	gone  bool
	place int     // in all
	read  *Worker // as it was read last; nil if it has changed since
}

// New returns a set without workers, who read the cache. Only acting ones expect events,
// and those only if expecting is true.
func New(cache *pleg.Cache, acting, expecting bool) *Set {
	return &Set{cache: cache, acting: acting, expecting: acting && expecting, byUID: map[pleg.UID]*worker{}}
}

// Add tells the set of a pod. It does nothing for one that it knows.
func (s *Set) Add(now time.Time, pod pleg.PodRef) {
	if s.byUID[pod.UID] != nil {
		return
	}
	w := &worker{Worker: Worker{Pod: pod, Since: now}}
	s.byUID[pod.UID] = w
	s.all, s.moved = append(s.all, w), true
}

// Remove tells the set that there is no such pod any more. What its worker was to do is
// not done, and what it expected is forgotten.
func (s *Set) Remove(uid pleg.UID) {
	w := s.byUID[uid]
	if w == nil {
		return
	}
	delete(s.byUID, uid)
	if w.ticket != 0 {
		s.waiting--
	}
	s.owing = drop(s.owing, w)
	w.gone, s.moved = true, true
}

// Known reports whether there is a worker for that pod.
func (s *Set) Known(uid pleg.UID) bool { return s.byUID[uid] != nil }

// Event hands on what the reader of the event channel took out of it. Events that are not
// for workers are left out: those that were not delivered, and removals, which no kubelet
// hands on but which may be expected.
func (s *Set) Event(now time.Time, e pleg.Event) {
	w := s.byUID[e.Pod.UID]
	if w == nil || e.Delivery != pleg.Delivered {
		return
	}
	s.expire(now)
	w.Last, w.LastAt = e, now
	w.Spared = s.meet(w, e)
	s.touch(w)
	switch {
	case w.Spared:
	case e.Kind == pleg.Removed:
		return
	default:
		if w.queued++; len(w.queue) < queueRoom {
			w.queue = append(w.queue, e)
		}
	}
	s.goOn(now, w)
}

// Ask asks for a sync of a pod for another reason than an event, such as that it is new
// or to be deleted. It waits for no event.
func (s *Set) Ask(now time.Time, uid pleg.UID) {
	if w := s.byUID[uid]; w != nil {
		w.asked = true
		s.goOn(now, w)
	}
}

// Advance takes in what the passing of time and new statuses in the cache have changed.
func (s *Set) Advance(now time.Time) {
	s.expire(now)
	if s.waiting == 0 {
		return
	}
	for _, a := range s.cache.Served() {
		if w := s.byUID[a.UID]; w != nil && w.ticket == a.Ticket {
			s.waiting--
			w.ticket = 0
			s.enter(now, w, Idle)
			s.ready = append(s.ready, w)
		}
	}
}

// Due returns when to call [Set.Advance] though nothing happens; zero for never.
func (s *Set) Due() time.Time {
	var due time.Time
	for _, w := range s.owing {
		if at := w.Expected[0].Until; due.IsZero() || at.Before(due) {
			due = at
		}
	}
	return due
}

// Next returns the next pod that is to be synced now, and false if there is none. From
// then on its worker is syncing, until [Set.Done].
func (s *Set) Next(now time.Time) (pleg.UID, bool) {
	for len(s.ready) > 0 {
		w := s.ready[0]
		s.ready = s.ready[1:]
		if w.gone {
			continue
		}
		w.woken, w.taken = false, 0
		w.Syncs++
		s.sums.Syncs++
		s.enter(now, w, Syncing)
		return w.Pod.UID, true
	}
	s.ready = nil
	return "", false
}

// Done says that the sync of a pod has ended.
func (s *Set) Done(now time.Time, uid pleg.UID) {
	w := s.byUID[uid]
	if w == nil || w.State != Syncing {
		return
	}
	w.synced, w.lastSync = true, now
	s.enter(now, w, Idle)
	s.goOn(now, w)
}

// Waits reports whether any worker waits for a newer status of its pod.
func (s *Set) Waits() bool { return s.waiting > 0 }

// goOn takes a worker as far as it gets now: it goes on once it has something to do, its
// last sync is over, and what it expects has come. Then it waits for a status that is
// newer than its last sync, unless there was none. What comes from then on makes one sync
// more, as the one update does that a kubelet's worker keeps.
// (kubelet pod_workers.go, podWorkerLoop.)
func (s *Set) goOn(now time.Time, w *worker) {
	switch {
	case w.State == Syncing || w.woken || !w.asked && w.queued == 0:
		return
	case !w.asked && len(w.Expected) > 0:
		s.enter(now, w, WaitsForExpected)
		return
	}
	if !w.asked || w.queued > 0 {
		w.WakeUps++
		s.sums.WakeUps++
	}
	s.touch(w)
	w.woken, w.asked = true, false
	w.queue, w.taken, w.queued = nil, w.queued, 0
	if w.synced {
		if ticket, served := s.cache.Subscribe(w.Pod.UID, w.lastSync); !served {
			w.ticket = ticket
			s.waiting++
			s.enter(now, w, WaitsForStatus)
			return
		}
	}
	s.enter(now, w, Idle) // until [Set.Next] is called
	s.ready = append(s.ready, w)
}

func (s *Set) enter(now time.Time, w *worker, state State) {
	s.touch(w)
	if w.State == state {
		return
	}
	w.State, w.Since, w.After = state, now, time.Time{}
	if state == WaitsForStatus {
		w.After = w.lastSync
	}
}

func drop(all []*worker, w *worker) []*worker {
	if i := slices.Index(all, w); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}
