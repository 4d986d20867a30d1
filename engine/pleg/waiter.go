package pleg

import (
	"cmp"
	"slices"
	"time"
)

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

type waiters struct {
	last    Ticket
	waiting map[UID][]waiter // in the order of their tickets
	served  []Answer
}

// Subscribe asks for a pod's status as soon as it is newer than after. If it is
// so already, served is true and [Cache.Get] has the answer. Otherwise the
// ticket will be among those that [Cache.Served] returns, once. Here newer is
// meant strictly, but a waiter is served by a later write of exactly that
// time, too: that is how the kubelet has it.
func (c *Cache) Subscribe(uid UID, after time.Time) (ticket Ticket, served bool) {
	c.waiters.last++
	if c.newer(uid, after) {
		return c.waiters.last, true
	}
	c.waiters.waiting[uid] = append(c.waiters.waiting[uid], waiter{c.waiters.last, after})
	return c.waiters.last, false
}

// Served returns the answers decided since the last call, in the order in which
// they were; those decided by one [Cache.UpdateTime] in the order of their
// tickets. It returns nil if there are none.
func (c *Cache) Served() []Answer {
	a := c.waiters.served
	c.waiters.served = nil
	return a
}

// Waiting returns how many wait.
func (c *Cache) Waiting() int {
	n := 0
	for _, list := range c.waiters.waiting {
		n += len(list)
	}
	return n
}

// notify serves those that wait for a pod with what is held now.
func (c *Cache) notify(uid UID, at time.Time) {
	list, ok := c.waiters.waiting[uid]
	if !ok {
		return
	}
	rest := slices.DeleteFunc(list, func(w waiter) bool {
		if at.Before(w.after) {
			return false
		}
		st, err := c.Get(uid)
		c.waiters.served = append(c.waiters.served, Answer{w.ticket, uid, st, err})
		return true
	})
	if len(rest) == 0 {
		delete(c.waiters.waiting, uid)
		return
	}
	c.waiters.waiting[uid] = rest
}

func (c *Cache) notifyAll(at time.Time) {
	before := len(c.waiters.served)
	for uid := range c.waiters.waiting {
		c.notify(uid, at)
	}
	slices.SortFunc(c.waiters.served[before:], func(a, b Answer) int { return cmp.Compare(a.Ticket, b.Ticket) })
}
