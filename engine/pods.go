package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// pods has one [Pod] for each record of the core that has something to show. A Pod is never written
// to: a change makes a new one.
type pods struct {
	ByUID  map[pleg.UID]*Pod
	Listed bool // there was a good list
	Came   []pleg.PodRef
	Went   []pleg.UID
	Left   []string // sandboxes that their pod does not list any more

	changed bool // since sorted was made
	sorted  []*Pod
	made    *Objects // nil after objects came or went
	counts  Counts
	found   pleg.Anomalies
}

func newPods() pods { return pods{ByUID: make(map[pleg.UID]*Pod)} }

// showAll brings all pods up to date with the core's records. A record with two empty ends, which the kubelet
// leaks, is not shown.
func (t *pods) showAll(core *pleg.Core) {
	t.changed = t.changed || !t.Listed
	t.Listed = true
	shown := 0
	for uid, r := range core.Records() {
		if t.take(uid, r, core.ListedAt()) {
			shown++
		}
	}
	if shown == len(t.ByUID) {
		return
	}
	for uid := range t.ByUID {
		if r, _ := core.Record(uid); r.Old == nil && r.Current == nil {
			t.drop(uid)
		}
	}
}

// show brings one pod up to date with its record. listedAt is when the record was listed.
func (t *pods) show(core *pleg.Core, uid pleg.UID, listedAt time.Time) {
	r, _ := core.Record(uid)
	if !t.take(uid, r, listedAt) {
		t.drop(uid)
	}
}

// take takes over a record. It returns false if the record has nothing to show.
func (t *pods) take(uid pleg.UID, r pleg.Record, listedAt time.Time) bool {
	seen := cmp.Or(r.Current, r.Old)
	if seen == nil {
		return false
	}
	if r.Current == nil && r.Listed {
		r.Current = r.Old // its change is settled
	}
	p := t.ByUID[uid]
	if p != nil && p.Old == r.Old && p.Current == r.Current && p.Reinspect == r.Reinspect {
		return true
	}
	var q Pod
	if p == nil {
		t.Came = append(t.Came, seen.PodRef)
		t.made = nil
	} else {
		q = *p
		if !sameObjects(p.Seen(), seen) {
			t.made = nil
			t.leave(p.Seen(), seen)
		}
	}
	if p == nil || !samePod(p.Seen(), seen) {
		q.ListedAt = listedAt
	}
	q.PodRef, q.Old, q.Current, q.Reinspect = seen.PodRef, r.Old, r.Current, r.Reinspect
	if seen.Orphans() == nil {
		q.Orphaned = time.Time{}
	} else if q.Orphaned.IsZero() {
		q.Orphaned = listedAt
	}
	t.put(&q)
	return true
}

func (t *pods) put(p *Pod) {
	t.ByUID[p.UID] = p
	t.changed = true
}

func (t *pods) drop(uid pleg.UID) {
	if p, known := t.ByUID[uid]; known {
		t.leave(p.Seen(), nil)
		delete(t.ByUID, uid)
		t.changed, t.made = true, nil
		t.Went = append(t.Went, uid)
	}
}

// leave notes which sandboxes a pod does not list any more.
func (t *pods) leave(was, now *pleg.Pod) {
	for _, s := range was.Sandboxes {
		if now == nil || !now.HasSandbox(s.ID) {
			t.Left = append(t.Left, s.ID)
		}
	}
}

// samePod reports whether two lists show the same states of a pod's objects. After a restore the
// pod is not the same pointer.
func samePod(a, b *pleg.Pod) bool {
	return a == b || a.PodRef == b.PodRef &&
		slices.EqualFunc(a.Sandboxes, b.Sandboxes, func(x, y pleg.Sandbox) bool { return x.ID == y.ID && x.State == y.State }) &&
		slices.EqualFunc(a.Containers, b.Containers, func(x, y pleg.Container) bool { return x.ID == y.ID && x.State == y.State })
}

// sameObjects reports whether two ends of a record have the same sandboxes and containers.
func sameObjects(a, b *pleg.Pod) bool {
	return a == b || a.PodRef == b.PodRef &&
		slices.EqualFunc(a.Sandboxes, b.Sandboxes, func(x, y pleg.Sandbox) bool { return x.ID == y.ID }) &&
		slices.EqualFunc(a.Containers, b.Containers, func(x, y pleg.Container) bool { return x.ID == y.ID })
}

// inspected takes in an inspection that is settled.
func (t *pods) inspected(core *pleg.Core, i *inspection) {
	uid := i.Pod.UID
	t.show(core, uid, core.ListedAt())
	p := t.ByUID[uid]
	if p == nil {
		return
	}
	q := *p
	if entry, ok := core.Cache().Entry(uid); ok {
		q.Status, q.StatusErr, q.StatusAt = entry.Status, i.Err, entry.Modified
	}
	q.Inspected++
	q.InspectedAt = i.Ended
	q.InspectLast = i.Ended.Sub(i.Began)
	q.InspectWorst = max(q.InspectWorst, q.InspectLast)
	q.Anomalies = i.found
	if i.failed == nil {
		q.Failure = nil
	} else {
		q.Failure = q.Failure.Again(i.failed.Flight, i.failed.At, i.failed.Err, 1)
	}
	t.put(&q)
}

// event notes the last event of a pod that is still there, and the death that it reports, if any.
func (t *pods) event(e Event, died *past.Death) {
	p := t.ByUID[e.Pod.UID]
	if p == nil {
		return
	}
	q := *p
	q.LastEvent = e
	if died != nil {
		q.Deaths = past.Remember(q.Deaths, *died)
	}
	t.put(&q)
}

// read returns all pods in order, their counts, and the anomalies of their last inspections. Before
// the first list there are none: the pods are nil. The results are never changed.
func (t *pods) read() ([]*Pod, Counts, pleg.Anomalies) {
	if !t.Listed || !t.changed {
		return t.sorted, t.counts, t.found
	}
	sorted := make([]*Pod, 0, len(t.ByUID))
	for _, was := range t.sorted {
		if p := t.ByUID[was.UID]; p != nil && p.PodRef == was.PodRef {
			sorted = append(sorted, p)
		}
	}
	if len(sorted) < len(t.ByUID) { // some came
		sorted = sorted[:0]
		for _, p := range t.ByUID {
			sorted = append(sorted, p)
		}
		slices.SortFunc(sorted, func(a, b *Pod) int { return a.PodRef.Compare(b.PodRef) })
	}
	t.sorted, t.changed = sorted, false
	t.counts, t.found = Counts{}, pleg.Anomalies{}
	for _, p := range sorted {
		t.counts.add(p.Seen())
		t.found = t.found.Add(p.Anomalies)
	}
	return t.sorted, t.counts, t.found
}

// index returns the index of all objects. It stays the same while only states change.
func (t *pods) index() *Objects {
	if t.made == nil {
		all, _, _ := t.read()
		t.made = ObjectsOf(all)
	}
	return t.made
}

// find returns a sandbox or container and its pod; nil if no pod lists it. Old of the pod has its
// state as of the last relist that settled it.
func (t *pods) find(id string) (*Pod, pleg.ObjectRef) {
	p := t.ByUID[t.index().pods[id].UID]
	if p == nil {
		return nil, pleg.ObjectRef{}
	}
	o, lists := p.Find(id)
	if !lists {
		return nil, pleg.ObjectRef{}
	}
	return p, o.ObjectRef
}

// lists reports whether a pod lists a sandbox or container.
func (t *pods) lists(id string) bool {
	p, _ := t.find(id)
	return p != nil
}

// running yields the containers that are listed as running.
func (t *pods) running(yield func(id string) bool) {
	for _, p := range t.ByUID {
		seen := p.Seen()
		for i := range seen.Containers {
			if c := &seen.Containers[i]; c.State == pleg.Running && !yield(c.ID) {
				return
			}
		}
	}
}

// add counts what a pod holds.
func (n *Counts) add(p *pleg.Pod) {
	n.Pods++
	n.Sandboxes += len(p.Sandboxes)
	n.Containers += len(p.Containers)
	for i := range p.Containers {
		switch p.Containers[i].State {
		case pleg.Created:
			n.Created++
		case pleg.Running:
			n.Running++
		case pleg.Exited:
			n.Exited++
		default:
			n.Unknown++
		}
	}
}
