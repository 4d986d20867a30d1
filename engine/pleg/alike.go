package pleg

// alike reports that two pods have equal ids in equal states, so that there is
// nothing to diff. Almost every pod is so in almost every relist, though some
// runtimes list in another order each time. distinct says that was lists no id
// twice; if it does, only lists in equal order are alike, because of two equal
// ids the first decides. same says that there is nothing to show, either: created
// and unknown are one to the diff, and not to people.
func alike(was, now *Pod, distinct bool) (alike, same bool) {
	if was == nil || now == nil {
		return was == now, was == now
	}
	if len(was.Containers) != len(now.Containers) || len(was.Sandboxes) != len(now.Sandboxes) {
		return false, false
	}
	same = was.PodRef == now.PodRef
	pairs := pairing{distinct: distinct}
	for i := range now.Containers {
		c := &now.Containers[i]
		j := i
		if !sameID(was.Containers[i].ID, c.ID) {
			j = place(was.Containers, c.ID, func(o *Container) string { return o.ID })
		}
		if !pairs.add(j, i) || !was.Containers[j].State.alike(c.State) {
			return false, false
		}
		o := &was.Containers[j]
		same = same && o.State == c.State && o.Attempt == c.Attempt && o.Name == c.Name
	}
	pairs.taken = 0
	for i := range now.Sandboxes {
		s := &now.Sandboxes[i]
		j := i
		if !sameID(was.Sandboxes[i].ID, s.ID) {
			j = place(was.Sandboxes, s.ID, func(o *Sandbox) string { return o.ID })
		}
		if !pairs.add(j, i) || !was.Sandboxes[j].State.alike(s.State) {
			return false, false
		}
		same = same && was.Sandboxes[j].State == s.State
	}
	return true, same
}

// A pairing makes sure that two lists of equal length pair off one to one.
type pairing struct {
	distinct bool
	taken    uint64 // places in the old list; of longer lists only equal places pair
}

// add pairs place j of the old list, negative for none, with place i of the new
// one, if it may.
func (p *pairing) add(j, i int) bool {
	if j < 0 || j != i && !p.distinct || p.taken&(1<<j) != 0 {
		return false
	}
	p.taken |= 1 << j
	return true
}

// place returns where in a list an id is, -1 if it is not there. It looks
// nowhere in a list so long that a search is dear.
func place[T any](list []T, id string, idOf func(*T) string) int {
	if len(list) <= fewIDs {
		for j := range list {
			if sameID(idOf(&list[j]), id) {
				return j
			}
		}
	}
	return -1
}

// sameID compares two ids. Those of runtimes are equally long and mostly
// differ in the last byte, if at all, which saves the call of a comparison.
func sameID(a, b string) bool {
	n := len(a)
	return n == len(b) && (n == 0 || a[n-1] == b[n-1] && a == b)
}

// alike reports that two states of something listed are one to the diff.
func (s State) alike(o State) bool {
	return s == o || s.listed().compared() == o.listed().compared()
}

// distinct reports whether no list of a pod has an id twice.
func (p *Pod) distinct() bool {
	return duplicates(p.Sandboxes, func(s *Sandbox) string { return s.ID }) == 0 &&
		duplicates(p.Containers, func(c *Container) string { return c.ID }) == 0
}
