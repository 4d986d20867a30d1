package engine

import (
	"hash/maphash"
	"maps"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Objects finds the pod of a container or sandbox by its id. It is never changed. Snapshots
// between which no object came or went have the same one.
type Objects struct {
	shards [objectShards]map[string]*pleg.PodRef
}

// objectShards is in how many parts the index of objects is kept: only those are made anew
// in which an object came or went.
const objectShards = 256

var objectSeed = maphash.MakeSeed()

func shardOf(id string) int { return int(maphash.String(objectSeed, id) % objectShards) }

// Equal reports whether both have the same objects.
func (o *Objects) Equal(p *Objects) bool {
	same := func(a, b *pleg.PodRef) bool { return *a == *b }
	return o == p || o != nil && p != nil && slices.EqualFunc(o.shards[:], p.shards[:], func(a, b map[string]*pleg.PodRef) bool { return maps.EqualFunc(a, b, same) })
}

// ObjectsOf returns the index of pods that are in the order of a snapshot.
func ObjectsOf(all []*Pod) *Objects {
	t := pods{byUID: make(map[pleg.UID]*Pod, len(all))}
	for _, p := range all {
		t.byUID[p.UID] = p
		t.index.touch(p.UID)
	}
	return t.index.read(&t)
}

// PodOf returns which of the pods of a snapshot that has this index is listed to have a
// container or sandbox; nil if none is.
func (o *Objects) PodOf(all []*Pod, id string) *Pod {
	ref, known := o.shards[shardOf(id)][id]
	if !known {
		return nil
	}
	p := podIn(all, *ref)
	if p == nil || !p.lists(id) {
		return nil
	}
	return p
}

// Has reports whether the snapshots that have this index list a container or sandbox. It looks at no
// pod, unlike [Objects.PodOf].
func (o *Objects) Has(id string) bool {
	_, known := o.shards[shardOf(id)][id]
	return known
}

// podIn returns a pod of those of a snapshot; nil if it is not among them.
func podIn(all []*Pod, ref pleg.PodRef) *Pod {
	i, found := slices.BinarySearchFunc(all, ref, func(p *Pod, ref pleg.PodRef) int { return p.PodRef.Compare(ref) })
	if !found {
		return nil
	}
	return all[i]
}

// Pod returns a pod that is listed; nil if it is not.
func (s *Snapshot) Pod(ref pleg.PodRef) *Pod { return podIn(s.Pods, ref) }

// lists reports whether a pod that is shown lists an id.
func (t *pods) lists(id string) bool {
	ref, _, known := t.Object(id)
	return known && t.byUID[ref.Pod.UID].lists(id)
}

func (p *Pod) lists(id string) bool {
	_, known := p.Find(id)
	return known
}

// Find returns the sandbox or container of an id as the pod was last seen.
func (p *Pod) Find(id string) (evidence.Object, bool) { return find(p.Seen(), id) }

// find returns the sandbox or container of an id in a pod, which may be nil.
func find(p *pleg.Pod, id string) (o evidence.Object, known bool) {
	if p == nil {
		return o, false
	}
	for i := range p.Sandboxes {
		if s := &p.Sandboxes[i]; s.ID == id {
			return evidence.Object{ObjectRef: pleg.ObjectRef{ID: id, Pod: p.PodRef, Sandbox: true}, State: s.State}, true
		}
	}
	for i := range p.Containers {
		if c := &p.Containers[i]; c.ID == id {
			return evidence.ContainerOf(p.PodRef, c), true
		}
	}
	return o, false
}

// index is the source of [Objects], with all that a pod has in either end of its record. It
// is brought up to date when it is asked.
type index struct {
	made   *Objects // what the last snapshot has; nil if something has come or gone since
	now    Objects
	shared [objectShards]bool // a snapshot has that part: it is not to be changed
	of     map[pleg.UID]owned // what is in it of each pod
	stale  map[pleg.UID]struct{}
	ids    map[string]struct{} // of one pod, while that is brought up to date
	twice  bool                // some id was in two pods
	lost   map[string]struct{} // ids that a pod has no more, where some were in two
}

// owned is what the index has of one pod.
type owned struct {
	ref  *pleg.PodRef
	ends [2]*pleg.Pod
}

// touch notes that a pod has changed, come or gone.
func (x *index) touch(uid pleg.UID) {
	if x.stale == nil {
		x.stale, x.of, x.ids = make(map[pleg.UID]struct{}), make(map[pleg.UID]owned), make(map[string]struct{})
	}
	x.stale[uid] = struct{}{}
}

// read returns the index as it is now, never to be changed.
func (x *index) read(t *pods) *Objects {
	if x.update(t); x.made == nil {
		o := x.now
		x.made = &o
		for i := range x.shared {
			x.shared[i] = true
		}
	}
	return x.made
}

func (x *index) update(t *pods) {
	for uid := range x.stale {
		x.bring(uid, t.byUID[uid])
	}
	clear(x.stale)
	if len(x.lost) == 0 {
		return
	}
	for _, o := range x.of { // a runtime that makes no sense lists one in two pods
		o.each(func(id string) {
			if _, lost := x.lost[id]; lost {
				x.put(id, &o, o.ref)
			}
		})
	}
	x.lost = nil
}

// bring brings one pod up to date, which is nil if it has gone.
func (x *index) bring(uid pleg.UID, p *Pod) {
	was := x.of[uid]
	now := owned{ref: was.ref}
	if p != nil {
		if now.ends = [2]*pleg.Pod{p.Old, p.Current}; now.ref == nil || *now.ref != p.PodRef {
			now.ref = &pleg.PodRef{UID: p.UID, Namespace: p.Namespace, Name: p.Name}
		}
	}
	if now == was {
		return
	}
	clear(x.ids)
	now.each(func(id string) {
		x.ids[id] = struct{}{}
		x.put(id, &now, was.ref)
	})
	was.each(func(id string) {
		if _, still := x.ids[id]; !still && x.now.shards[shardOf(id)][id] == was.ref {
			delete(x.shard(id), id)
			x.lose(id)
		}
	})
	if x.of[uid] = now; p == nil {
		delete(x.of, uid)
	}
}

// put notes that a pod has an id, as it may have before under another name. Of two pods that
// have one it is the first by UID.
func (x *index) put(id string, o *owned, was *pleg.PodRef) {
	switch has := x.now.shards[shardOf(id)][id]; {
	case has == o.ref:
		return
	case has != nil && has != was:
		if x.twice = true; has.UID < o.ref.UID {
			return
		}
	}
	x.shard(id)[id] = o.ref
}

// lose notes that a pod has an id no more that another one may still have.
func (x *index) lose(id string) {
	if !x.twice {
		return
	}
	if x.lost == nil {
		x.lost = make(map[string]struct{})
	}
	x.lost[id] = struct{}{}
}

// shard returns the part that an id belongs to, to be changed.
func (x *index) shard(id string) map[string]*pleg.PodRef {
	i := shardOf(id)
	switch s := &x.now.shards[i]; {
	case *s == nil:
		*s = make(map[string]*pleg.PodRef)
	case x.shared[i]:
		*s = maps.Clone(*s)
	}
	x.shared[i], x.made = false, nil
	return x.now.shards[i]
}

func (o *owned) each(do func(id string)) {
	for _, p := range o.ends {
		if p == nil {
			continue
		}
		for i := range p.Sandboxes {
			do(p.Sandboxes[i].ID)
		}
		for i := range p.Containers {
			do(p.Containers[i].ID)
		}
	}
}

// Object returns whose an id is, and its state as of the last relist that has settled it.
func (t *pods) Object(id string) (ref pleg.ObjectRef, settled pleg.State, known bool) {
	t.index.update(t)
	of, known := t.index.now.shards[shardOf(id)][id]
	if !known {
		return ref, settled, false
	}
	p := t.byUID[of.UID]
	now, current := find(p.Current, id)
	was, old := find(p.Old, id)
	if !current {
		now = was
	}
	return now.ObjectRef, was.State, current || old
}

// Pod reports whether there is a pod that is shown, and whether it could not be inspected.
func (t *pods) Pod(uid pleg.UID) (known, unsettled bool) {
	p, known := t.byUID[uid]
	return known, known && p.Reinspect
}
