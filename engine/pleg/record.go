package pleg

import (
	"cmp"
	"iter"
	"slices"
)

// A Record is the two ends of a pod record.
type Record struct {
	// Old is the pod as it was when its record last advanced, Current as the
	// last list showed it. Either may be nil: Old until the first good
	// inspection, Current once the record has advanced or the pod has gone.
	Old, Current *Pod
	Reinspect    bool // will be inspected again though nothing changed
	Same         bool // Current shows nothing that Old does not, but perhaps in another order
}

// A record is a pod record with what the relist needs to know beside it.
type record struct {
	PodRef
	old     *Pod // a copy of its own, see Clone
	current *Pod
	stale   *Pod // what a retry phase inspects: the pod as listed when its inspection failed

	places     places // of what old lists
	same       bool   // current shows nothing that old does not
	first, end int    // place of its changes in the present relist
	listed     bool   // in the last list
	due        bool   // inspect even if nothing changed
	again      bool   // will be due, once the retry phase has passed
	failed     bool   // the last inspection failed
	gone       bool   // out of the map, not yet out of the order
}

// records holds one record for each UID, in the order of the UIDs.
type records struct {
	byUID  map[UID]*record
	order  []*record
	sorted int // how many of order are in order; newcomers follow
	gone   int // how many of order are gone
}

func byUID(a, b *record) int { return cmp.Compare(a.UID, b.UID) }

func (s *records) add(pod PodRef) *record {
	r := &record{PodRef: pod}
	s.byUID[pod.UID] = r
	s.order = append(s.order, r)
	return r
}

// sort puts the newcomers in their places. They are few, but for the first
// relist, so the rest is not sorted again.
func (s *records) sort() {
	fresh := slices.Clone(s.order[s.sorted:])
	if len(fresh) == 0 {
		return
	}
	slices.SortFunc(fresh, byUID)
	for at, head := len(s.order)-1, s.sorted-1; len(fresh) > 0; at-- {
		last := fresh[len(fresh)-1]
		if head >= 0 && byUID(s.order[head], last) > 0 {
			s.order[at] = s.order[head]
			head--
			continue
		}
		s.order[at] = last
		fresh = fresh[:len(fresh)-1]
	}
	s.sorted = len(s.order)
}

// drop forgets a record; its place in the order goes with the next sweep, so
// that a walk over the order is not disturbed.
func (s *records) drop(r *record) {
	delete(s.byUID, r.UID)
	r.gone = true
	s.gone++
}

func (s *records) sweep() {
	if s.gone == 0 {
		return
	}
	s.order = slices.DeleteFunc(s.order, func(r *record) bool { return r.gone })
	s.sorted, s.gone = len(s.order), 0
}

// Record returns both ends of a pod's record, and whether there is one. For a
// record that leaks both may be nil.
func (c *Core) Record(uid UID) (old, current *Pod, ok bool) {
	r, ok := c.records.byUID[uid]
	if !ok {
		return nil, nil, false
	}
	return r.old, r.current, true
}

// Records returns all records in the order in which pods are settled: by UID.
// The core must not be changed while the sequence is read.
func (c *Core) Records() iter.Seq2[UID, Record] {
	return func(yield func(UID, Record) bool) {
		for _, r := range c.records.order {
			if !r.gone && !yield(r.UID, Record{r.old, r.current, r.due || r.again, r.same && r.current != nil}) {
				return
			}
		}
	}
}

// Reinspecting reports whether a pod will be inspected again though nothing
// changed: its inspection failed, or [Core.RequestReinspect] asked for it.
func (c *Core) Reinspecting(uid UID) bool {
	if r, ok := c.records.byUID[uid]; ok {
		return r.due || r.again
	}
	_, ok := c.asked[uid]
	return ok
}

// Leaked names, in order of UID, the records that the kubelet never lets go of
// though their pods are gone. That happens to a pod that was only ever listed
// without containers and sandboxes and, up to release 1.31, to one that
// vanished before its first good inspection; the cache entry of the latter
// stays, too. They take part in no decision, so that a view may hide them and
// their owner may [Core.Forget] them. Between two relists only.
func (c *Core) Leaked() iter.Seq[UID] {
	return func(yield func(UID) bool) {
		for _, r := range c.records.order {
			if r.leaked() && !yield(r.UID) {
				return
			}
		}
	}
}

// Forget drops a leaked record and its cache entry, which the kubelet would
// keep until it is restarted. It returns false, and changes nothing, for any
// other record and while a relist is under way. No event depends on it.
func (c *Core) Forget(uid UID) bool {
	r, ok := c.records.byUID[uid]
	if !ok || c.relist.scope != idle || !r.leaked() {
		return false
	}
	c.cache.Delete(uid)
	c.records.drop(r)
	c.records.sweep()
	return true
}

func (r *record) leaked() bool {
	return !r.gone && !r.listed && !r.due && !r.again && r.old.size() == 0
}

// seen returns the pod as it was last listed, nil if it is a leak.
func (r *record) seen() *Pod {
	if r.current != nil {
		return r.current
	}
	return r.old
}

func (r *record) changed() bool { return r.end > r.first }

// list sets the pod as a list showed it; nil if it was not in it.
func (r *record) list(p *Pod) { r.current, r.listed = p, p != nil }
