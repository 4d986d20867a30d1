package pleg

import (
	"iter"
	"slices"
)

// A change is one id of a pod with its state in the old record and in the new list.
type change struct {
	id, name string // name of a container; empty for a sandbox
	from, to State
	sandbox  bool
}

// A comparison has the changes between two versions of a pod.
type comparison struct {
	old, current *Pod
	changes      []change
}

// changes returns what changed since the record last advanced. It compares two versions of a pod
// once. An unchanged pod is the same pointer and needs no comparison.
func (r *Record) changes() []change {
	if r.Old == r.Current {
		return nil
	}
	if r.compared == nil {
		r.compared = new(comparison)
	}
	last := r.compared
	if last.old != r.Old || last.current != r.Current {
		*last = comparison{r.Old, r.Current, diff(last.changes[:0], r.Old, r.Current)}
	}
	return last.changes
}

// diff compares two versions of a pod and returns the changes that make events. Either version may be
// nil. The result uses the memory of all. The kubelet's rules: the ids of old come first, and in each
// version containers come before sandboxes. An id counts once, where it is listed first. So if a
// container and a sandbox share an id, the container decides.
func diff(all []change, old, current *Pod) []change {
	all = slices.Grow(all, max(old.size(), current.size()))
	index := map[string]int{} // a search would be quadratic for a pod of very many ids
	for c := range old.objects() {
		if _, ok := index[c.id]; !ok {
			index[c.id] = len(all)
			c.from, c.to = c.to, Absent
			all = append(all, c)
		}
	}
	for c := range current.objects() {
		if i, ok := index[c.id]; !ok {
			index[c.id] = len(all)
			all = append(all, c)
		} else if all[i].to == Absent {
			all[i].to = c.to
		}
	}
	changes := all[:0]
	for _, c := range all {
		if len(c.kinds()) > 0 {
			changes = append(changes, c)
		}
	}
	return changes
}

// objects returns all that a pod lists, as if each was new.
func (p *Pod) objects() iter.Seq[change] {
	return func(yield func(change) bool) {
		if p == nil {
			return
		}
		for _, c := range p.Containers {
			if !yield(change{id: c.ID, name: c.Name, to: c.State.listed()}) {
				return
			}
		}
		for _, s := range p.Sandboxes {
			if !yield(change{id: s.ID, sandbox: true, to: s.State.listed()}) {
				return
			}
		}
	}
}

// The events of each change, in order.
var (
	started     = []Kind{Started}
	died        = []Kind{Died}
	removed     = []Kind{Removed}
	changed     = []Kind{Changed}
	diedRemoved = []Kind{Died, Removed}
)

// kinds returns the events that a change makes. Created counts as Unknown.
func (c *change) kinds() []Kind {
	from, to := c.from, c.to
	if from == Created {
		from = Unknown
	}
	if to == Created {
		to = Unknown
	}
	switch {
	case from == to:
		return nil
	case to == Running:
		return started
	case to == Exited:
		return died
	case to == Unknown:
		return changed
	case from == Exited:
		return removed // an earlier event reported its end
	}
	return diedRemoved
}

// event returns the event of one of the kinds. base has the fields that all events of the pod
// share. An object that vanished while it ran must have ended before it was removed.
func (c *change) event(kind Kind, base Event) Event {
	base.Kind, base.ID, base.Container, base.Sandbox = kind, c.id, c.name, c.sandbox
	base.From, base.To = c.from, c.to
	switch {
	case kind == Removed:
		base.From = Exited
	case kind == Died && c.to == Absent:
		base.To = Exited
	}
	return base
}
