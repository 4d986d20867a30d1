package pleg

import "iter"

// A Record is what the core knows of one pod.
type Record struct {
	PodRef

	// Old is the pod when its record last advanced. Current is the pod in the last list. Old is nil
	// until the first good inspection. Current is nil once the record has advanced or the pod has
	// gone.
	Old, Current *Pod

	Listed    bool // in the last list
	Reinspect bool // will be inspected even if nothing changed

	// For releases with a second pass (see rules):
	FailedNow bool // the inspection failed in the first pass of this relist
	Stale     *Pod // what the second pass inspects: the pod as listed when its inspection failed

	compared *comparison // the last one; nil for none
}

// Record returns a pod's record, and whether there is one. If the record leaks, both of its ends
// may be nil.
func (c *Core) Record(uid UID) (Record, bool) {
	r, ok := c.state.Records[uid]
	if !ok {
		return Record{}, false
	}
	return r.show(), true
}

// Records returns all records in the order of their turns: by UID. The core must not move while
// the sequence is read.
func (c *Core) Records() iter.Seq2[UID, Record] {
	return func(yield func(UID, Record) bool) {
		for _, uid := range c.uids() {
			if !yield(uid, c.state.Records[uid].show()) {
				return
			}
		}
	}
}

// show returns a copy for callers. There, a pod whose inspection failed in this relist is due
// already.
func (r *Record) show() Record {
	s := *r
	s.Reinspect = r.Reinspect || r.FailedNow
	return s
}

// RequestReinspect requests one inspection of a pod even if nothing changed. The inspection is
// part of the pod's next turn, in this relist if that turn is still to come. For a pod that was
// never listed, the request waits without a limit. Before release 1.36 it does nothing (see
// [Core.BeginInspect]).
func (c *Core) RequestReinspect(uid UID) {
	r, ok := c.state.Records[uid]
	switch {
	case !c.rules.onDemand:
	case ok:
		r.Reinspect = true
	default:
		c.state.Requested[uid] = true
	}
}

// list notes that a list shows a pod. A new pod gets a record.
func (c *Core) list(p *Pod) {
	s := &c.state
	r, ok := s.Records[p.UID]
	if !ok {
		r = &Record{PodRef: p.PodRef, Reinspect: s.Requested[p.UID]}
		delete(s.Requested, p.UID)
		s.Records[p.UID], c.order = r, nil
	}
	r.Current, r.Listed = p, true
}

// advance moves a record on after a good inspection, or after the end of its pod, and releases
// the events.
func (c *Core) advance(r *Record, st *PodStatus) {
	c.releaseAll(r, st)
	if c.rules.retryPhase { // a change that settles cancels earlier failures
		r.Reinspect, r.Stale = false, nil
	}
	if r.Current == nil {
		c.drop(r.UID)
		return
	}
	r.Old, r.Current = r.Current, nil
}

// fail notes a failed inspection.
func (c *Core) fail(r *Record) {
	switch {
	case c.state.Relist.Retrying:
		r.FailedNow = false // Reinspect is still set
	case c.rules.retryPhase:
		r.FailedNow = true
		if !r.Reinspect { // otherwise the second pass inspects the older pod first
			r.Stale = r.Current
		}
	default:
		r.Reinspect = true
	}
}

// retried notes a good inspection in the second pass. A pod whose inspection failed in the first
// pass of this relist is due in the next one, as this relist listed it.
func (r *Record) retried() {
	r.Reinspect, r.FailedNow = r.FailedNow, false
	r.Stale = nil
	if r.Reinspect {
		r.Stale = r.Current
	}
}

// drop forgets a record.
func (c *Core) drop(uid UID) {
	delete(c.state.Records, uid)
	c.order = nil
}

// ForgetLeaked drops the records, with their cache entries, that the kubelet keeps for ever after
// their pods have gone. Such a pod was last seen without containers and sandboxes. Up to release
// 1.31, a pod that vanished before its first good inspection is such a pod, too. No event depends
// on these records. ForgetLeaked changes nothing while a relist is under way.
func (c *Core) ForgetLeaked() {
	if c.state.Relist.Scope != idle {
		return
	}
	for uid, r := range c.state.Records {
		if !r.Listed && !r.Reinspect && !r.FailedNow && r.Old.size() == 0 {
			c.state.Cache.Delete(uid)
			c.drop(uid)
		}
	}
}
