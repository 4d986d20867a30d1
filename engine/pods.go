package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// pods keeps one [Pod] for each record of a core that has something to show. A Pod
// that a snapshot has is never written to: what changes it makes a copy first.
type pods struct {
	byUID  map[pleg.UID]*Pod
	fresh  map[pleg.UID]*Pod // copied since the last snapshot: may still be written to; each with the pod that this has, if any
	gone   []*Pod            // of the last snapshot, and dropped since
	moved  []pleg.UID        // that came or went since the workers were told
	listed bool              // there was a good list
	index  index             `frozen:"-"`
	left   []string          // sandboxes that are listed no more, since the ledger was told

	sorted []*Pod         // as in the last snapshot
	counts Counts         // of sorted
	found  pleg.Anomalies // in sorted
}

// showAll brings the table up to the core's records. A record with two empty
// ends, which the kubelet leaks, is not shown.
func (t *pods) showAll(core *pleg.Core) {
	t.listed = true
	shown := 0
	for uid, r := range core.Records() {
		if t.take(uid, r) {
			shown++
		}
	}
	if shown == len(t.byUID) {
		return
	}
	for uid := range t.byUID {
		if was, now, _ := core.Record(uid); was == nil && now == nil {
			t.drop(uid)
		}
	}
}

// show brings one pod up to its record.
func (t *pods) show(core *pleg.Core, uid pleg.UID) {
	was, now, _ := core.Record(uid)
	if !t.take(uid, pleg.Record{Old: was, Current: now, Reinspect: core.Reinspecting(uid)}) {
		t.drop(uid)
	}
}

func (t *pods) drop(uid pleg.UID) {
	p, ok := t.byUID[uid]
	if !ok {
		return
	}
	t.leave(p.Seen(), nil)
	if was, fresh := t.fresh[uid]; fresh {
		p = was
		delete(t.fresh, uid)
	}
	if p != nil {
		t.gone = append(t.gone, p)
	}
	delete(t.byUID, uid)
	t.index.touch(uid)
	t.moved = append(t.moved, uid)
}

// take takes over a record and returns false if it has nothing to show.
func (t *pods) take(uid pleg.UID, r pleg.Record) bool {
	seen := cmp.Or(r.Current, r.Old)
	if seen == nil {
		return false
	}
	p := t.byUID[uid]
	if p != nil && p.Old == r.Old && p.Reinspect == r.Reinspect && (r.Same && p.Current == p.Old || same(p.Current, r.Current)) {
		return true
	}
	if p == nil {
		t.moved = append(t.moved, uid)
	} else {
		t.leave(p.Seen(), seen)
	}
	p = t.edit(uid)
	p.PodRef, p.Old, p.Reinspect = seen.PodRef, r.Old, r.Reinspect
	p.Current = keep(r)
	if seen.Orphans() == nil {
		p.Orphaned = time.Time{}
	} else if p.Orphaned.IsZero() {
		p.Orphaned = seen.ListedAt
	}
	return true
}

// keep returns the current end of a record in a form that may be kept.
func keep(r pleg.Record) *pleg.Pod {
	switch {
	case r.Current == nil:
		return nil
	case r.Same:
		return r.Old
	}
	return r.Current.Clone()
}

// same compares all but the time of the list.
func same(a, b *pleg.Pod) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return a.PodRef == b.PodRef && slices.Equal(a.Containers, b.Containers) && slices.Equal(a.Sandboxes, b.Sandboxes)
}

func (t *pods) edit(uid pleg.UID) *Pod {
	p := t.byUID[uid]
	t.index.touch(uid)
	if _, fresh := t.fresh[uid]; fresh {
		return p
	}
	q := &Pod{}
	if p != nil {
		*q = *p
	}
	if t.fresh == nil {
		t.fresh = make(map[pleg.UID]*Pod)
	}
	t.byUID[uid] = q
	t.fresh[uid] = p
	return q
}

// inspected takes in an inspection that has come to its end.
func (t *pods) inspected(core *pleg.Core, uid pleg.UID, i *inspection) {
	t.show(core, uid)
	if _, shown := t.byUID[uid]; !shown {
		return
	}
	p := t.edit(uid)
	if entry, ok := core.Cache().Entry(uid); ok {
		p.Status, p.StatusErr, p.StatusAt = entry.Status, entry.Err, entry.Modified
	}
	p.Inspected++
	p.InspectedAt = i.ended
	p.InspectLast = i.took()
	p.InspectWorst = max(p.InspectWorst, p.InspectLast)
	p.Anomalies = i.found
	if i.failed == nil {
		p.Failure = nil
	} else {
		p.Failure = p.Failure.Again(i.failed.Flight, i.failed.at, i.failed.err, i.failed.tries)
	}
}

// event notes the last event of a pod that is still there, and who of it has died.
func (t *pods) event(e Event, died *ledger.Death) {
	if _, ok := t.byUID[e.Pod.UID]; !ok {
		return
	}
	p := t.edit(e.Pod.UID)
	p.LastEvent = e
	if died != nil {
		p.Deaths = ledger.Remember(p.Deaths, *died)
	}
}

// read returns all pods in order, how many there are of each kind, and what
// was odd in their inspections. It is nil before the first list. What it
// returns is never changed.
func (t *pods) read() ([]*Pod, Counts, pleg.Anomalies) {
	edits := t.edits()
	if !t.listed || t.sorted != nil && len(edits) == 0 {
		return t.sorted, t.counts, t.found
	}
	sorted := make([]*Pod, 0, len(t.byUID))
	rest := t.sorted
	odd := false
	for _, e := range edits {
		n, _ := slices.BinarySearchFunc(rest, e.pod, byName)
		sorted, rest = append(sorted, rest[:n]...), rest[n:]
		if e.out {
			rest = rest[1:]
			t.counts.add(e.pod, -1)
		} else {
			sorted = append(sorted, e.pod)
			t.counts.add(e.pod, 1)
		}
		odd = odd || e.pod.Anomalies != pleg.Anomalies{}
	}
	sorted = append(sorted, rest...)
	t.sorted = sorted
	if odd {
		t.found = pleg.Anomalies{}
		for _, p := range t.sorted {
			t.found = t.found.Add(p.Anomalies)
		}
	}
	t.gone = nil
	clear(t.fresh)
	return t.sorted, t.counts, t.found
}

// leave notes which sandboxes a pod has had until now and does not list any more.
func (t *pods) leave(was, now *pleg.Pod) {
	if was == nil || was == now {
		return
	}
	for _, s := range was.Sandboxes {
		if now == nil || !now.HasSandbox(s.ID) {
			t.left = append(t.left, s.ID)
		}
	}
}

// An edit takes a pod into the order of the last snapshot, or out of it.
type edit struct {
	pod *Pod
	out bool
}

// edits returns what has changed since the last snapshot, in its order.
func (t *pods) edits() []edit {
	edits := make([]edit, 0, 2*len(t.fresh)+len(t.gone))
	for _, p := range t.gone {
		edits = append(edits, edit{p, true})
	}
	for uid, was := range t.fresh {
		if was != nil {
			edits = append(edits, edit{was, true})
		}
		edits = append(edits, edit{t.byUID[uid], false})
	}
	slices.SortFunc(edits, func(a, b edit) int { return byName(a.pod, b.pod) })
	return edits
}

// byName is the order of the pods of a snapshot.
func byName(a, b *Pod) int { return a.PodRef.Compare(b.PodRef) }

// add adds what a pod holds so many times.
func (n *Counts) add(p *Pod, times int) {
	seen := p.Seen()
	n.Pods += times
	n.Sandboxes += times * len(seen.Sandboxes)
	n.Containers += times * len(seen.Containers)
	for i := range seen.Containers {
		switch seen.Containers[i].State {
		case pleg.Created:
			n.Created += times
		case pleg.Running:
			n.Running += times
		case pleg.Exited:
			n.Exited += times
		default:
			n.Unknown += times
		}
	}
}
