package pleg

import (
	"cmp"
	"slices"
)

// Assemble makes pods of one pair of lists (see [Assembler.Assemble]).
func Assemble(sandboxes []*ListedSandbox, containers []*ListedContainer) ([]*Pod, Anomalies) {
	return new(Assembler).Assemble(sandboxes, containers)
}

// An Assembler makes pods of each pair of lists, one pair after the other. A pod with the same
// rows as in the previous lists, in any order, is the same *Pod. The zero value is ready.
type Assembler struct {
	parts map[UID]*part
	order []*part // of the last list, as first listed
	pods  []*Pod  // of the last list
}

// A part is the rows of one pod: pointers to [ListedSandbox] and [ListedContainer].
type part struct {
	pod        *Pod  // of the last list; nil for a new pod
	rows       []any // pod was made of these
	now        []any // the rows in the present lists
	sandboxes  int   // how many of now are sandboxes
	duplicates int   // ids that pod lists more than once
}

// Assemble makes pods of both lists. A sandbox or a container belongs to the pod whose UID it
// names. Containers without any listed sandbox make a pod by themselves. A new or changed pod has
// its rows in the order of the lists. An unchanged pod keeps its old order. If no pod changed, the
// result is the same slice as before. The caller must not change it. The result counts two
// anomalies: DuplicateID and NoSandbox.
func (a *Assembler) Assemble(sandboxes []*ListedSandbox, containers []*ListedContainer) ([]*Pod, Anomalies) {
	for _, row := range sandboxes {
		p := a.part(row.Pod.UID)
		p.now = append(p.now, row)
		p.sandboxes++
	}
	for _, row := range containers {
		p := a.part(row.Pod.UID)
		p.now = append(p.now, row)
	}
	var found Anomalies
	changed := false
	a.order = slices.DeleteFunc(a.order, func(p *part) bool {
		if len(p.now) == 0 {
			delete(a.parts, p.pod.UID)
			changed = true
			return true
		}
		if p.sandboxes == 0 {
			found.NoSandbox += len(p.now)
		}
		changed = p.update() || changed
		found.DuplicateID += p.duplicates
		return false
	})
	if changed {
		a.pods = make([]*Pod, len(a.order))
		for i, p := range a.order {
			a.pods[i] = p.pod
		}
	}
	return a.pods, found
}

// Restore begins with the pods of an earlier list, whose rows are not known any more.
func (a *Assembler) Restore(pods []*Pod) {
	for _, p := range pods {
		a.part(p.UID).pod = p
		a.pods = append(a.pods, p)
	}
}

// part returns the part of a pod, a new one if the pod is new.
func (a *Assembler) part(uid UID) *part {
	p, ok := a.parts[uid]
	if !ok {
		if a.parts == nil {
			a.parts = map[UID]*part{}
		}
		p = new(part)
		a.parts[uid] = p
		a.order = append(a.order, p)
	}
	return p
}

// update makes a new pod if the rows differ from those before. It reports whether the pod
// changed.
func (p *part) update() bool {
	was, changed := p.pod, false
	if was == nil || !sameInAnyOrder(p.rows, p.now) {
		p.rows, p.now = p.now, p.rows
		p.make()
		if changed = was == nil || was.PodRef != p.pod.PodRef || !sameInAnyOrder(was.values(), p.pod.values()); !changed {
			p.pod = was
		}
	}
	clear(p.now)
	p.now, p.sandboxes = p.now[:0], 0
	return changed
}

// make makes the pod of its rows.
func (p *part) make() {
	type id struct {
		sandbox bool
		id      string
	}
	seen := make(map[id]bool, len(p.rows))
	p.pod = new(Pod)
	for _, row := range p.rows {
		switch row := row.(type) {
		case *ListedSandbox:
			p.pod.PodRef = cmp.Or(p.pod.PodRef, row.Pod)
			p.pod.Sandboxes = append(p.pod.Sandboxes, row.Sandbox)
			seen[id{true, row.ID}] = true
		case *ListedContainer:
			p.pod.PodRef = cmp.Or(p.pod.PodRef, row.Pod)
			p.pod.Containers = append(p.pod.Containers, row.Container)
			seen[id{false, row.ID}] = true
		}
	}
	p.duplicates = len(p.rows) - len(seen)
}

// values returns all that a pod lists, as values for ==. All times are in UTC, because ==
// distinguishes times by their location.
func (p *Pod) values() []any {
	var all []any
	for _, s := range p.Sandboxes {
		s.CreatedAt = s.CreatedAt.UTC()
		all = append(all, s)
	}
	for _, c := range p.Containers {
		c.CreatedAt = c.CreatedAt.UTC()
		all = append(all, c)
	}
	return all
}

// sameInAnyOrder reports whether both lists have the same items, each the same number of times.
func sameInAnyOrder(a, b []any) bool {
	if slices.Equal(a, b) {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	left := map[any]int{}
	for _, x := range a {
		left[x]++
	}
	for _, x := range b {
		if left[x] == 0 {
			return false
		}
		left[x]--
	}
	return true
}
