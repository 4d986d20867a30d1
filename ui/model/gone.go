package model

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

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
