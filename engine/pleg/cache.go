package pleg

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// An Entry is what the cache has of one pod.
type Entry struct {
	Status   *PodStatus // of the last inspection; usually nil if that failed
	Err      string     // of the last inspection; empty if it was good
	Modified time.Time  // how new Status or Err is
	Observed time.Time  // when the pod was last listed or inspected, changed or not
}

// A Cache has the outcome of each pod's last inspection, and decides when a waiter gets a newer
// outcome. The cache itself never blocks: a caller that blocks waiters guards the cache with a
// lock and sends them the answers of [Cache.Served]. Its fields are for checkpoints alone.
type Cache struct {
	Entries    map[UID]Entry
	Time       time.Time // the global time: all entries are at least as new; zero before the first relist
	Evented    bool
	LastTicket Ticket
	Waiting    map[UID][]Waiter // in the order of their tickets
	Answers    []Answer         // that Served will return
}

// NewCache returns an empty cache. evented is the gate EventedPLEG of the kubelets up to 1.36.
// The golden traces have it. Such a cache refuses a status that is older than its own, and
// serves a caller that asks for an unknown pod at once.
func NewCache(evented bool) *Cache {
	return &Cache{Entries: map[UID]Entry{}, Evented: evented, Waiting: map[UID][]Waiter{}}
}

// Get returns the outcome of a pod's last inspection. For an unknown pod it returns an empty
// status without an error: the runtime has nothing of it.
func (c *Cache) Get(uid UID) (*PodStatus, error) {
	e := c.get(uid)
	if e.Err != "" {
		return e.Status, errors.New(e.Err)
	}
	return e.Status, nil
}

func (c *Cache) get(uid UID) Entry {
	if e, ok := c.Entries[uid]; ok {
		return e
	}
	return Entry{Status: &PodStatus{PodRef: PodRef{UID: uid}}}
}

// Entry returns a pod's entry, and whether there is one.
func (c *Cache) Entry(uid UID) (Entry, bool) {
	e, ok := c.Entries[uid]
	return e, ok
}

// Set replaces a pod's entry by the outcome of an inspection, even if the entry was newer, and
// serves waiters for times up to at. With the evented gate it refuses an older outcome and
// returns false.
func (c *Cache) Set(uid UID, st *PodStatus, err error, at time.Time) bool {
	if c.Evented && c.Entries[uid].Modified.After(at) {
		return false
	}
	e := Entry{Status: st, Modified: at, Observed: at}
	if err != nil {
		e.Err = cmp.Or(err.Error(), "unknown error")
	}
	c.Entries[uid] = e
	c.notify(uid, at)
	return true
}

// Delete removes a pod's entry. It serves no waiters; UpdateTime does.
func (c *Cache) Delete(uid UID) { delete(c.Entries, uid) }

// UpdateTime sets the global time and serves waiters of all pods for times up to at.
func (c *Cache) UpdateTime(at time.Time) {
	c.Time = at
	before := len(c.Answers)
	for uid := range c.Waiting {
		c.notify(uid, at)
	}
	slices.SortFunc(c.Answers[before:], func(a, b Answer) int { return cmp.Compare(a.Ticket, b.Ticket) })
}

// Observe notes that a pod was listed or inspected, changed or not, and serves its waiters for
// times up to at. It notes nothing of a pod without an entry.
func (c *Cache) Observe(uid UID, at time.Time) {
	if e, ok := c.Entries[uid]; ok {
		e.Observed = at
		c.Entries[uid] = e
	}
	c.notify(uid, at)
}

// A Ticket names one waiter for a pod's status. It is never 0.
type Ticket uint64

// A Waiter waits for a pod's status that is newer than After.
type Waiter struct {
	Ticket Ticket
	After  time.Time
}

// An Answer is what a waiter gets: the pod's entry at that moment.
type Answer struct {
	Ticket Ticket
	UID    UID
	Entry
}

// Subscribe asks for a pod's status as soon as it is strictly newer than after. If it is newer
// already, served is true and [Cache.Get] has the answer. Otherwise [Cache.Served] will return
// the ticket, once. A later write of exactly the time after serves a waiter too; that is how the
// kubelet does it.
func (c *Cache) Subscribe(uid UID, after time.Time) (ticket Ticket, served bool) {
	c.LastTicket++
	e, ok := c.Entries[uid]
	if c.Evented && !ok || c.Time.After(after) || ok && (e.Modified.After(after) || e.Observed.After(after)) {
		return c.LastTicket, true
	}
	c.Waiting[uid] = append(c.Waiting[uid], Waiter{c.LastTicket, after})
	return c.LastTicket, false
}

// Served returns the answers since the last call, in the order in which they were decided. Those
// of one [Cache.UpdateTime] are in the order of their tickets.
func (c *Cache) Served() []Answer {
	a := c.Answers
	c.Answers = nil
	return a
}

// notify serves a pod's waiters for times up to at.
func (c *Cache) notify(uid UID, at time.Time) {
	rest := slices.DeleteFunc(c.Waiting[uid], func(w Waiter) bool {
		if at.Before(w.After) {
			return false
		}
		c.Answers = append(c.Answers, Answer{w.Ticket, uid, c.get(uid)})
		return true
	})
	if len(rest) > 0 {
		c.Waiting[uid] = rest
	} else {
		delete(c.Waiting, uid)
	}
}

// keptIPs returns the addresses that a pod keeps after its end: those in the cache, unless a
// sandbox is ready. If the cache has an error, there are none.
func (c *Cache) keptIPs(uid UID, fresh *PodStatus) []string {
	e := c.Entries[uid]
	if e.Err != "" || e.Status == nil || slices.ContainsFunc(fresh.Sandboxes, func(s SandboxStatus) bool { return s.State == Running }) {
		return nil
	}
	return e.Status.IPs
}
