package model

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A trail is what the rows tell of one pod.
type trail struct {
	rows       []*Row          // oldest first
	containers map[string]*Row // the newest about each, by name
}

// follow puts a row at the end of the trail of its pod.
func (j *Journal) follow(r *Row) {
	t := j.ofPod[r.Pod.UID]
	if t == nil {
		t = &trail{containers: make(map[string]*Row)}
		j.ofPod[r.Pod.UID] = t
	}
	if t.rows = append(t.rows, r); !r.Sandbox && r.Container != "" {
		t.containers[r.Container] = r
	}
}

// forget takes the oldest row of all from the trail of its pod.
func (j *Journal) forget(r *Row) {
	t := j.ofPod[r.Pod.UID]
	switch {
	case r.Gap > 0: // it is of no pod
	case len(t.rows) == 1:
		delete(j.ofPod, r.Pod.UID)
	default:
		t.rows[0], t.rows = nil, t.rows[1:] // the next one that does not fit copies what is left
		if t.containers[r.Container] == r {
			delete(t.containers, r.Container)
		}
	}
}

// Of returns the rows about a pod, shown or not, oldest first: valid until the next update, and
// not to be changed.
func (j *Journal) Of(uid pleg.UID) []*Row {
	if t := j.ofPod[uid]; t != nil {
		return t.rows
	}
	return nil
}

// Containers returns the newest row about each container of a pod, by name: likewise.
func (j *Journal) Containers(uid pleg.UID) map[string]*Row {
	if t := j.ofPod[uid]; t != nil {
		return t.containers
	}
	return nil
}

// Newest returns the Seq of the newest row about a pod; 0 if there is none.
func (j *Journal) Newest(uid pleg.UID) uint64 {
	if of := j.Of(uid); len(of) > 0 {
		return of[len(of)-1].Seq
	}
	return 0
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
func contents(p *engine.Pod) int {
	if p.Status == nil {
		return 0
	}
	return len(p.Status.Containers)
}

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
