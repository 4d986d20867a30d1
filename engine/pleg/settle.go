package pleg

import (
	"fmt"
	"time"
)

// Settle reports how the inspection of the pod that [Core.Next] named went, and
// at what time it began. The outcome goes into the cache either way: an error
// replaces a good status there. With a nil err the record advances and the
// pod's events are released; otherwise the record stays, so that the next
// relist finds the same change again. st passes to the cache and is not to be
// touched again; a nil st without an error counts as an empty one, which is
// what a pod gets that vanished meanwhile. It returns [ErrNotPending] for any
// other pod.
func (c *Core) Settle(uid UID, at time.Time, st *PodStatus, err error) error {
	l := &c.relist
	r, pod := l.pending, l.pod
	if r == nil || r.UID != uid {
		return fmt.Errorf("settle pod %s: %w", uid, ErrNotPending)
	}
	l.await(nil, nil)
	if st == nil && err == nil {
		st = &PodStatus{PodRef: pod.PodRef}
	}
	c.store(pod, at, st, err)
	switch {
	case l.scope == inspection:
	case err != nil:
		c.fail(r)
	case l.retrying:
		r.retried()
	default:
		c.advance(r, st)
	}
	return nil
}

// store puts what an inspection found into the cache.
func (c *Core) store(pod *Pod, at time.Time, st *PodStatus, err error) {
	if err == nil && len(st.IPs) == 0 {
		st.IPs = c.keptIPs(pod.UID, st)
	}
	if c.rules.listTime && c.relist.scope != inspection {
		at = pod.ListedAt
	}
	c.cache.Set(pod.UID, st, err, at)
}

// keptIPs returns the addresses that a pod keeps after its end: those in the
// cache, unless a sandbox is ready and so has its say. An error in the cache
// has none to keep.
func (c *Core) keptIPs(uid UID, st *PodStatus) []string {
	for i := range st.Sandboxes {
		if st.Sandboxes[i].State == Running {
			return nil
		}
	}
	e, ok := c.cache.Entry(uid)
	if !ok || e.Err != nil || e.Status == nil {
		return nil
	}
	return e.Status.IPs
}

// retried notes a good inspection in the second pass. A pod that has failed in
// the first pass of this relist is due all the same, as this relist listed it.
func (r *record) retried() {
	r.due, r.again, r.failed = r.again, false, r.again
	r.stale = nil
	if r.due {
		r.stale = r.current.Clone()
	}
}

func (c *Core) fail(r *record) {
	r.failed = true
	switch {
	case c.relist.retrying:
		r.again = false // it is due as it is
	case c.rules.retryPhase:
		r.again = true
		if !r.due { // else the second pass has the older pod to inspect first
			r.stale = r.current.Clone()
		}
	default:
		r.due = true
	}
}

// advance moves a record on after a good inspection, or after the end of its
// pod, and releases the events.
func (c *Core) advance(r *record, st *PodStatus) {
	l := &c.relist
	base := Event{ObjectRef: ObjectRef{Pod: r.PodRef}, At: l.at}
	c.exits = st.Lookup()
	for i := range l.changes[r.first:r.end] {
		x := &l.changes[r.first+i]
		for _, kind := range transition(x.from, x.to) {
			c.release(x.event(kind, base))
		}
	}
	if !r.changed() && c.rules.onDemand {
		base.Kind = PodSync
		c.release(base)
	}
	c.readEvents()
	c.shift(r)
}

func (c *Core) shift(r *record) {
	if c.rules.retryPhase { // a change that settles makes up for earlier failures
		r.due, r.stale = false, nil
	}
	if r.current == nil {
		c.records.drop(r)
		return
	}
	r.old, r.current = r.current.Clone(), nil
	r.places = places{distinct: r.old.distinct()}
	r.failed = false
}

// release offers an event to the channel and releases it, whether the channel
// takes it or not.
func (c *Core) release(e Event) {
	if e.Kind == Died {
		e.ExitCode, e.Exited = c.exits.exit(e.ID)
	}
	switch {
	case e.Kind == Changed:
		e.Delivery = Filtered
	case c.unread >= c.capacity:
		e.Delivery = Discarded
	default:
		c.unread++ // and Delivered, the zero value
	}
	c.released = append(c.released, e)
}
