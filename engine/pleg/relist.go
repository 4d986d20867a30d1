package pleg

import (
	"cmp"
	"fmt"
	"time"
)

// A Relist is the progress of a relist.
type Relist struct {
	Scope    Scope
	At       time.Time // its start
	Only     UID       // its only pod, unless it is a relist of all pods
	Queue    []UID     // the records whose turn in this pass is to come, in order
	Retrying bool      // in the second pass
	Pending  UID       // the pod that waits for its inspection; empty for none
}

// A Scope is how much of a relist's work a relist does.
type Scope uint8

const (
	idle       Scope = iota
	everything       // all records
	onePod           // one record
	inspection       // one inspection and nothing else
)

// Begin begins a relist of all pods. Call it once both lists have succeeded: pods is their
// result. at is the START of the relist, before the lists. [Core.Healthy] goes by it, although
// inspections are still to come. Of two pods with one UID the last counts. It returns [ErrBusy]
// if a relist has not ended.
func (c *Core) Begin(at time.Time, pods []*Pod) error {
	if c.state.Relist.Scope != idle {
		return fmt.Errorf("begin relist: %w", ErrBusy)
	}
	c.state.ListedAt = at
	c.state.Gauges.count(pods)
	for _, r := range c.state.Records {
		r.Current, r.Listed = nil, false
	}
	for _, p := range pods {
		c.list(p)
	}
	c.begin(Relist{Scope: everything, At: at, Queue: c.uids()})
	return nil
}

// BeginPod begins a relist of one pod, as 1.36 and later do on demand. Call it once the list of
// that pod has succeeded. It does not move the time of [Core.Healthy], the gauges or the cache's
// global time. It returns [ErrBusy] if a relist has not ended and [ErrRelease] for older
// releases.
func (c *Core) BeginPod(at time.Time, pod *Pod) error {
	switch {
	case !c.rules.onDemand:
		return fmt.Errorf("relist pod %v: %w", pod.PodRef, ErrRelease)
	case c.state.Relist.Scope != idle:
		return fmt.Errorf("relist pod %v: %w", pod.PodRef, ErrBusy)
	}
	c.list(pod)
	c.begin(Relist{Scope: onePod, At: at, Only: pod.UID, Queue: []UID{pod.UID}})
	return nil
}

// BeginInspect begins a single inspection of a known pod, outside any relist. Only the cache is
// written: record, events and pending reinspections stay as they are. 1.28 to 1.31 do this when a
// pod's resources are changed in place; here every release can. It returns [ErrUnknownPod] for a
// pod without a record and [ErrBusy] if a relist has not ended.
func (c *Core) BeginInspect(uid UID) error {
	if c.state.Relist.Scope != idle {
		return fmt.Errorf("inspect pod %s: %w", uid, ErrBusy)
	}
	if r, ok := c.state.Records[uid]; !ok || r.Current == nil && r.Old == nil {
		return fmt.Errorf("inspect pod %s: %w", uid, ErrUnknownPod)
	}
	c.begin(Relist{Scope: inspection, Only: uid, Queue: []UID{uid}})
	return nil
}

func (c *Core) begin(l Relist) {
	c.state.Relist = l
	c.walk()
}

// End ends the relist: the cache's global time moves, and its waiters are served. It returns
// [ErrUnsettled] while a pod still needs an inspection, and [ErrIdle] if no relist was begun.
func (c *Core) End() error {
	l := &c.state.Relist
	if r := c.pending(); r != nil {
		return fmt.Errorf("end relist: pod %v: %w", r.PodRef, ErrUnsettled)
	}
	switch l.Scope {
	case idle:
		return fmt.Errorf("end relist: %w", ErrIdle)
	case everything:
		c.state.Cache.UpdateTime(l.At)
	case onePod:
		c.state.Cache.Observe(l.Only, l.At)
	}
	*l = Relist{}
	return nil
}

// An Inspection is one pod to be inspected.
type Inspection struct {
	Pod       *Pod // as listed; in a second pass, as listed when its inspection failed
	ListAgain bool // the kubelet lists the pod by its label before it asks for states
}

// Next returns the next pod that needs an inspection. It returns the same pod until that pod is
// settled. It returns false if no pod needs one. It changes nothing.
func (c *Core) Next() (Inspection, bool) {
	r := c.pending()
	if r == nil {
		return Inspection{}, false
	}
	return Inspection{Pod: c.subject(r), ListAgain: c.rules.listAgain}, true
}

// Pending returns how many inspections the rest of this pass takes. It changes nothing.
func (c *Core) Pending() int {
	l, n := &c.state.Relist, 0
	if l.Pending != "" {
		n++
	}
	for _, uid := range l.Queue {
		r := c.state.Records[uid]
		if l.Retrying && r.Reinspect || !l.Retrying && r.Current != nil && (len(r.changes()) > 0 || c.retries(r)) {
			n++
		}
	}
	return n
}

// pending returns the record that waits for its inspection, or nil.
func (c *Core) pending() *Record {
	if c.state.Relist.Pending == "" {
		return nil
	}
	return c.state.Records[c.state.Relist.Pending]
}

// subject returns the version of a record's pod that the inspection is about.
func (c *Core) subject(r *Record) *Pod {
	switch {
	case c.state.Relist.Scope == inspection:
		return cmp.Or(r.Current, r.Old)
	case c.state.Relist.Retrying:
		return r.Stale
	}
	return r.Current
}

// retries reports whether a record's turn takes an inspection even if nothing changed.
func (c *Core) retries(r *Record) bool { return r.Reinspect && !c.rules.retryPhase }

// walk gives the records their turns, up to the next one that needs an inspection.
func (c *Core) walk() {
	l := &c.state.Relist
	for l.Pending == "" {
		if len(l.Queue) > 0 {
			r := c.state.Records[l.Queue[0]]
			l.Queue = l.Queue[1:]
			c.reconcile(r)
		} else if l.Scope == everything && c.rules.retryPhase && !l.Retrying {
			l.Retrying, l.Queue = true, c.uids()
		} else {
			return
		}
	}
}

// reconcile gives a record its turn: it settles the record, or finds that its pod must be
// inspected.
func (c *Core) reconcile(r *Record) {
	l := &c.state.Relist
	switch {
	case l.Scope == inspection, l.Retrying && r.Reinspect:
		l.Pending = r.UID
		return
	case l.Retrying: // a pod that failed in the first pass waits for the next relist
		r.Reinspect, r.FailedNow = r.FailedNow, false
		return
	}
	changed, retries := len(r.changes()) > 0, c.retries(r)
	if retries { // before the inspection: a request during it is for the next relist
		r.Reinspect = false
	}
	switch {
	case !changed && !retries:
	case r.Current == nil:
		c.state.Cache.Delete(r.UID)
		c.advance(r, nil)
	default:
		l.Pending = r.UID
	}
}

// Settle reports the outcome of the inspection that [Core.Next] named, and when it began. The
// outcome goes into the cache in any case: an error replaces a good status there. If err is nil,
// the record advances and the pod's events are released. Otherwise the record stays, so that the
// next relist finds the same change again. st passes to the cache: the caller must not change it
// any more. A nil st without an error counts as an empty one: the pod vanished meanwhile. It
// returns [ErrNotPending] for any other pod.
func (c *Core) Settle(uid UID, at time.Time, st *PodStatus, err error) error {
	l, r := &c.state.Relist, c.pending()
	if r == nil || r.UID != uid {
		return fmt.Errorf("settle pod %s: %w", uid, ErrNotPending)
	}
	if st == nil && err == nil {
		st = &PodStatus{PodRef: c.subject(r).PodRef}
	}
	if err == nil && len(st.IPs) == 0 {
		st.IPs = c.state.Cache.keptIPs(uid, st)
	}
	if c.rules.listTime && l.Scope != inspection {
		at = l.At
	}
	c.state.Cache.Set(uid, st, err, at)
	l.Pending = ""
	switch {
	case l.Scope == inspection:
	case err != nil:
		c.fail(r)
	case l.Retrying:
		r.retried()
	default:
		c.advance(r, st)
	}
	c.walk()
	return nil
}
