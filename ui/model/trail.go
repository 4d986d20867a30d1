package model

import (
	"iter"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A trail is what the rows tell of one pod.
type trail struct {
	newest     uint64      // the Seq of the newest of them
	containers []Container // the one of the newest row last
}

// A Container is one that rows are about.
type Container struct {
	Name   string
	SeenAt time.Time // of the newest of those rows
	seq    uint64    // likewise
}

// containersKept is how many containers are remembered by name in one pod: no person gave
// names to more of them.
const containersKept = 100

// follow puts an event at the end of the trail of its pod, and returns the Seq of the row
// that was there before; 0 for none.
func (j *Journal) follow(e engine.Event) (before uint64) {
	t := j.trails[e.Pod.UID]
	if t == nil {
		t = new(trail)
		j.trails[e.Pod.UID] = t
	}
	before, t.newest = t.newest, e.Seq
	if e.Sandbox || e.Container == "" {
		return before
	}
	old := slices.IndexFunc(t.containers, func(c Container) bool { return c.Name == e.Container })
	if old < 0 && len(t.containers) == containersKept {
		old = 0
	}
	if old >= 0 {
		t.containers = slices.Delete(t.containers, old, old+1)
	}
	t.containers = append(t.containers, Container{e.Container, e.SeenAt, e.Seq})
	return before
}

// forget takes the oldest row of all from the trail of its pod.
func (j *Journal) forget(r *Row) {
	t := j.trails[r.Pod.UID]
	switch {
	case t == nil: // it is a gap
	case t.newest == r.Seq:
		delete(j.trails, r.Pod.UID)
	case len(t.containers) > 0 && t.containers[0].seq == r.Seq:
		t.containers = slices.Delete(t.containers, 0, 1)
	}
}

// Of yields the rows about a pod, shown or not, the newest first.
func (j *Journal) Of(uid pleg.UID) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for r := j.Row(j.Newest(uid)); r != nil && yield(r); {
			r = j.Row(r.before)
		}
	}
}

// Newest returns the Seq of the newest row about a pod; 0 if there is none.
func (j *Journal) Newest(uid pleg.UID) uint64 {
	if t := j.trails[uid]; t != nil {
		return t.newest
	}
	return 0
}

// Containers returns the containers of a pod that rows are about, the one of the newest
// row last: valid until the next update, and not to be changed.
func (j *Journal) Containers(uid pleg.UID) []Container {
	if t := j.trails[uid]; t != nil {
		return t.containers
	}
	return nil
}

// How many pods that have gone are kept, and how much they may hold in all.
const (
	goneKept    = 300
	objectsKept = 3000
)

// A Tombstone is the last picture of a pod that is no longer listed.
type Tombstone struct {
	Pod  *engine.Pod // as it was when it still had containers, if it ever had
	Gone time.Time   // when it was first missed
}

// gone is the tombstones of the pods that went last, oldest first.
type gone struct {
	tombs  []Tombstone
	fading map[pleg.UID]*engine.Pod // pods that have lost their containers, as they were with them
}

func (g *gone) observe(was, now []*engine.Pod, at time.Time) {
	for before, after := range engine.Changes(was, now) {
		switch {
		case after == nil:
			g.bury(before, at)
		case before == nil:
			g.tombs = slices.DeleteFunc(g.tombs, func(t Tombstone) bool { return t.Pod.UID == after.UID })
		case contents(after) > 0:
			delete(g.fading, after.UID)
		case contents(before) > 0:
			g.fading[after.UID] = before
		}
	}
	g.trim()
}

func (g *gone) bury(p *engine.Pod, at time.Time) {
	if full := g.fading[p.UID]; full != nil {
		p = full
	}
	delete(g.fading, p.UID)
	g.tombs = append(g.tombs, Tombstone{p, at})
}

// trim forgets the oldest.
func (g *gone) trim() {
	n, objects := 0, 0
	for n < min(len(g.tombs), goneKept) {
		objects += contents(g.tombs[len(g.tombs)-1-n].Pod)
		if n > 0 && objects > objectsKept {
			break
		}
		n++
	}
	g.tombs = slices.Delete(g.tombs, 0, len(g.tombs)-n)
}

// contents is how many containers there are in the answer of a pod's last inspection.
func contents(p *engine.Pod) int { return len(statuses(p)) }

// Gone returns the last picture of a pod that is no longer listed, or nil.
func (j *Journal) Gone(uid pleg.UID) *engine.Pod {
	for i := range j.gone.tombs {
		if j.gone.tombs[i].Pod.UID == uid {
			return j.gone.tombs[i].Pod
		}
	}
	return nil
}

// Tombstones returns those that are kept, oldest first: valid until the next update, and
// not to be changed.
func (j *Journal) Tombstones() []Tombstone { return j.gone.tombs }
