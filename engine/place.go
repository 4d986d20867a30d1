package engine

import "github.com/plegtop/plegtop/engine/pleg"

// A place is whose an id is, as the records have it.
type place struct {
	pod       pleg.PodRef
	container string // its name; empty for a sandbox
	sandbox   bool
	state     pleg.State // as of the last relist that has settled it
}

// passed reports whether a step is over by what the records have settled: a source that
// tells of it tells nothing new.
func (p place) passed(kind pleg.Kind) bool {
	return kind == pleg.Started && p.state == pleg.Running || kind <= pleg.Died && p.state == pleg.Exited
}

// An index finds the pod of an id. It is made when it is first asked for, and kept up to
// date from then on.
type index struct {
	pods  map[string]pleg.UID // by id; may have ids that their pods have no more
	made  int                 // how many it had when it was made
	stale []pleg.UID          // pods that have changed since it was brought up to date
}

// mostStale is of how many pods the index may lag behind: with more it is made anew.
const mostStale = 1000

// place returns whose an id is; false if no record has it.
func (t *pods) place(id string) (place, bool) {
	t.index.update(t)
	p, ok := t.byUID[t.index.pods[id]]
	if !ok {
		return place{}, false
	}
	current, ok := placeIn(p.Current, id)
	old, was := placeIn(p.Old, id)
	if !ok {
		current = old
	}
	current.state = old.state
	return current, ok || was
}

func placeIn(p *pleg.Pod, id string) (place, bool) {
	if p == nil {
		return place{}, false
	}
	for i := range p.Containers {
		if c := &p.Containers[i]; c.ID == id {
			return place{pod: p.PodRef, container: c.Name, state: c.State}, true
		}
	}
	for i := range p.Sandboxes {
		if s := &p.Sandboxes[i]; s.ID == id {
			return place{pod: p.PodRef, sandbox: true, state: s.State}, true
		}
	}
	return place{}, false
}

// touch notes that a pod has changed.
func (x *index) touch(uid pleg.UID) {
	switch {
	case x.pods == nil:
	case len(x.stale) < mostStale:
		x.stale = append(x.stale, uid)
	default:
		*x = index{}
	}
}

func (x *index) update(t *pods) {
	if x.pods == nil || len(x.pods) > 2*x.made+mostStale {
		*x = index{pods: make(map[string]pleg.UID)}
		for _, p := range t.byUID {
			x.take(p.Old)
			x.take(p.Current)
		}
		x.made = len(x.pods)
	}
	for _, uid := range x.stale {
		if p := t.byUID[uid]; p != nil {
			x.take(p.Old)
			x.take(p.Current)
		}
	}
	x.stale = x.stale[:0]
}

func (x *index) take(p *pleg.Pod) {
	if p == nil {
		return
	}
	for i := range p.Containers {
		x.pods[p.Containers[i].ID] = p.UID
	}
	for i := range p.Sandboxes {
		x.pods[p.Sandboxes[i].ID] = p.UID
	}
}
