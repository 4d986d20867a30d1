package pleg

import (
	"cmp"
	"slices"
	"time"
)

// An Entry is what the cache holds of one pod.
type Entry struct {
	Status   *PodStatus // of the last inspection; usually nil if that failed
	Err      error      // of the last inspection
	Modified time.Time  // how new Status or Err is
	Observed time.Time  // when the pod was last looked at, changed or not
}

// A Cache holds the outcome of each pod's last inspection, and decides who of
// those that wait for news gets them when. It does not wait itself and is not
// safe for concurrent use: whoever has waiters to block guards it with a lock
// and sends them what [Cache.Served] returns.
type Cache struct {
	entries map[UID]Entry
	time    time.Time // global time: all that is known is at least as new
	timed   bool      // there is a global time
	evented bool

	lastTicket Ticket
	waiting    map[UID][]waiter // in the order of their tickets
	served     []Answer
}

// NewCache returns an empty cache. evented is the gate EventedPLEG of the kubelets up to
// 1.36, whose cache the golden traces hold: with it the cache refuses what is older than
// what it has, and serves whoever asks for a pod that it does not hold at once.
func NewCache(evented bool) *Cache {
	return &Cache{entries: map[UID]Entry{}, evented: evented, waiting: map[UID][]waiter{}}
}

// Get returns what is held of a pod, and for a pod that is not held an empty
// status without an error: the runtime has nothing of it.
func (c *Cache) Get(uid UID) (*PodStatus, error) {
	if e, ok := c.entries[uid]; ok {
		return e.Status, e.Err
	}
	return &PodStatus{PodRef: PodRef{UID: uid}}, nil
}

// Entry returns what is held of a pod with its times, and whether there is
// anything.
func (c *Cache) Entry(uid UID) (Entry, bool) {
	e, ok := c.entries[uid]
	return e, ok
}

// Len returns how many pods the cache holds.
func (c *Cache) Len() int { return len(c.entries) }

// Set puts the outcome of an inspection in place of what was held, even if that
// was newer, and serves waiters for times up to at. With the evented gate it
// refuses what is older, and returns false.
func (c *Cache) Set(uid UID, st *PodStatus, err error, at time.Time) bool {
	if c.evented && c.entries[uid].Modified.After(at) {
		return false
	}
	c.entries[uid] = Entry{Status: st, Err: err, Modified: at, Observed: at}
	c.notify(uid, at)
	return true
}

// Delete removes what is held of a pod. It serves nobody; UpdateTime does.
func (c *Cache) Delete(uid UID) { delete(c.entries, uid) }

// UpdateTime sets the global time and serves waiters of all pods for times up
// to at.
func (c *Cache) UpdateTime(at time.Time) {
	c.time, c.timed = at, true
	before := len(c.served)
	for uid := range c.waiting {
		c.notify(uid, at)
	}
	slices.SortFunc(c.served[before:], func(a, b Answer) int { return cmp.Compare(a.Ticket, b.Ticket) })
}

// Observe notes that a pod was looked at, whether or not that changed what is
// held, and serves its waiters for times up to at. Of a pod that is not held
// nothing is noted.
func (c *Cache) Observe(uid UID, at time.Time) {
	if e, ok := c.entries[uid]; ok {
		e.Observed = at
		c.entries[uid] = e
	}
	c.notify(uid, at)
}

// newer reports whether what is known of a pod is strictly newer than t.
func (c *Cache) newer(uid UID, t time.Time) bool {
	e, ok := c.entries[uid]
	if !ok && c.evented {
		return true
	}
	return c.timed && c.time.After(t) || ok && (e.Modified.After(t) || e.Observed.After(t))
}

// A Ticket names one that waits for a pod's status. It is never 0.
type Ticket uint64

// An Answer is what one that waited gets.
type Answer struct {
	Ticket Ticket
	UID    UID
	Status *PodStatus
	Err    error
}

type waiter struct {
	ticket Ticket
	after  time.Time
}

// Subscribe asks for a pod's status as soon as it is newer than after. If it is
// so already, served is true and [Cache.Get] has the answer. Otherwise the
// ticket will be among those that [Cache.Served] returns, once. Here newer is
// meant strictly, but a waiter is served by a later write of exactly that
// time, too: that is how the kubelet has it.
func (c *Cache) Subscribe(uid UID, after time.Time) (ticket Ticket, served bool) {
	c.lastTicket++
	if c.newer(uid, after) {
		return c.lastTicket, true
	}
	c.waiting[uid] = append(c.waiting[uid], waiter{c.lastTicket, after})
	return c.lastTicket, false
}

// Served returns the answers decided since the last call, in the order in which
// they were; those decided by one [Cache.UpdateTime] in the order of their
// tickets. It returns nil if there are none.
func (c *Cache) Served() []Answer {
	a := c.served
	c.served = nil
	return a
}

// notify serves those that wait for a pod with what is held now.
func (c *Cache) notify(uid UID, at time.Time) {
	list, ok := c.waiting[uid]
	if !ok {
		return
	}
	rest := slices.DeleteFunc(list, func(w waiter) bool {
		if at.Before(w.after) {
			return false
		}
		st, err := c.Get(uid)
		c.served = append(c.served, Answer{w.ticket, uid, st, err})
		return true
	})
	if len(rest) == 0 {
		delete(c.waiting, uid)
		return
	}
	c.waiting[uid] = rest
}
