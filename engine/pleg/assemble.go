package pleg

import (
	"cmp"
	"maps"
	"slices"
)

// Assemble makes pods of one pair of lists (see [Assembler.Assemble]).
func Assemble(sandboxes []*ListedSandbox, containers []*ListedContainer) ([]*Pod, Anomalies) {
	return new(Assembler).Assemble(sandboxes, containers)
}

// An Assembler makes pods of one pair of lists after the other. What did not change is the same
// pointer: a pod with the same rows as in the list before is the same *Pod. The zero value is
// ready.
type Assembler struct {
	parts map[UID]*part
	order []*part // of the last list, as first listed
	pods  []*Pod  // of the last list
}

// A part is the rows of one pod: pointers to [ListedSandbox] and [ListedContainer].
type part struct {
	pod        *Pod  // of the last list; nil for a new pod
	rows       []any // that pod was made of
	now        []any // in the present list
	sandboxes  int   // how many of now are
	duplicates int   // ids that pod lists more than once
	restored   bool  // and no two lists since then had the same rows
}

// Assemble makes pods of both lists. A sandbox or a container belongs to the pod whose UID it
// names. Containers without any listed sandbox make a pod by themselves. A pod whose rows are
// those of the list before, in any order, is the same pointer and keeps its old order. A new or
// changed pod has its rows in the order of the lists. If no pod changed, the result is the same
// slice as before. The caller must not change it. The result counts two anomalies: DuplicateID,
// for an id that one list shows twice in one pod, and NoSandbox.
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

// Restore begins with the pods of an earlier list whose rows are not known any more. A pod keeps its order
// and its pointer if the next list has the same sandboxes and containers.
func (a *Assembler) Restore(pods []*Pod) {
	for _, p := range pods {
		restored := a.part(p.UID)
		restored.pod, restored.restored = p, true
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

// update makes the pod anew if its rows are others than before, and reports whether it did.
func (p *part) update() bool {
	was := p.pod
	same := was != nil && sameRows(p.rows, p.now)
	p.restored = p.restored && !same
	if !same {
		p.rows, p.now = p.now, p.rows
		p.make()
		if p.restored && p.pod.lists(was) && was.lists(p.pod) {
			p.pod = was
		}
	}
	clear(p.now)
	p.now, p.sandboxes = p.now[:0], 0
	return !same
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

// lists reports whether p has all that q has.
func (p *Pod) lists(q *Pod) bool {
	if p.PodRef != q.PodRef || len(p.Sandboxes) != len(q.Sandboxes) || len(p.Containers) != len(q.Containers) {
		return false
	}
	sandboxes, containers := make(map[string]Sandbox), make(map[string]Container)
	for _, s := range p.Sandboxes {
		sandboxes[s.ID] = s
	}
	for _, c := range p.Containers {
		containers[c.ID] = c
	}
	for _, s := range q.Sandboxes {
		if has := sandboxes[s.ID]; has.ID != s.ID || has.State != s.State || has.Attempt != s.Attempt {
			return false
		}
	}
	for _, c := range q.Containers {
		if has := containers[c.ID]; has.ID != c.ID || has.Name != c.Name || has.State != c.State || has.Attempt != c.Attempt {
			return false
		}
	}
	return true
}

// sameRows reports whether both lists have the same rows, in any order. Of a row that is listed
// twice only the number of all rows counts.
func sameRows(a, b []any) bool {
	switch {
	case slices.Equal(a, b):
		return true
	case len(a) != len(b):
		return false
	case len(a) > fewIDs:
		return maps.Equal(set(a), set(b))
	}
	return containsAll(a, b) && containsAll(b, a)
}

func set(rows []any) map[any]bool {
	s := make(map[any]bool, len(rows))
	for _, row := range rows {
		s[row] = true
	}
	return s
}

func containsAll(list, rows []any) bool {
	return !slices.ContainsFunc(rows, func(row any) bool { return !slices.Contains(list, row) })
}
