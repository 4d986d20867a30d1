package pleg

// alike reports that two pods have equal ids in equal states, so that there is
// nothing to diff. Almost every pod is so in almost every relist, though some
// runtimes, containerd among them, list in another order each time. If was lists an
// id twice, only lists in equal order are alike, because of two equal ids the first
// decides. x is of was, and kept for as long as that. same says that there is nothing
// to show, either: created and unknown are one to the diff, and not to people.
func alike(was, now *Pod, x *places) (alike, same bool) {
	if was == nil || now == nil {
		return was == now, was == now
	}
	if len(was.Containers) != len(now.Containers) || len(was.Sandboxes) != len(now.Sandboxes) {
		return false, false
	}
	same = was.PodRef == now.PodRef
	pairs := pairing{distinct: x.distinct, n: len(now.Containers)}
	for i := range now.Containers {
		c := &now.Containers[i]
		j := i
		if !sameID(was.Containers[i].ID, c.ID) {
			j = place(was.Containers, c.ID, &x.containers, func(o *Container) string { return o.ID })
		}
		if !pairs.add(j, i) || !was.Containers[j].State.alike(c.State) {
			return false, false
		}
		o := &was.Containers[j]
		same = same && o.State == c.State && o.Attempt == c.Attempt && o.Name == c.Name
	}
	pairs = pairing{distinct: x.distinct, n: len(now.Sandboxes)}
	for i := range now.Sandboxes {
		s := &now.Sandboxes[i]
		j := i
		if !sameID(was.Sandboxes[i].ID, s.ID) {
			j = place(was.Sandboxes, s.ID, &x.sandboxes, func(o *Sandbox) string { return o.ID })
		}
		if !pairs.add(j, i) || !was.Sandboxes[j].State.alike(s.State) {
			return false, false
		}
		same = same && was.Sandboxes[j].State == s.State
	}
	return true, same
}

// places says where the ids of a pod are in its lists.
type places struct {
	distinct              bool           // no list has an id twice
	containers, sandboxes map[string]int // of long lists, once they are needed
}

// A pairing makes sure that two lists of n lines pair off one to one.
type pairing struct {
	distinct bool
	n        int
	taken    uint64   // the first places in the old list, a bit each
	many     []uint64 // all of them in a long list; nil while its lines are where they were
}

// add pairs place j of the old list, negative for none, with place i of the new
// one, if it may.
func (p *pairing) add(j, i int) bool {
	if j < 0 || j != i && !p.distinct {
		return false
	}
	if p.n > 64 {
		return p.addToMany(j, i)
	}
	free := p.taken&(1<<j) == 0
	p.taken |= 1 << j
	return free
}

func (p *pairing) addToMany(j, i int) bool {
	if p.many == nil {
		if i == j {
			return true
		}
		p.many = make([]uint64, (p.n+63)/64)
		for k := range i {
			p.many[k/64] |= 1 << (k % 64)
		}
	}
	free := p.many[j/64]&(1<<(j%64)) == 0
	p.many[j/64] |= 1 << (j % 64)
	return free
}

// place returns where in a list an id is, -1 if it is not there. A list so long that
// a search is dear gets an index.
func place[T any](list []T, id string, index *map[string]int, idOf func(*T) string) int {
	if len(list) > fewIDs {
		if *index == nil {
			*index = make(map[string]int, len(list))
			for j := range list {
				(*index)[idOf(&list[j])] = j
			}
		}
		if j, ok := (*index)[id]; ok {
			return j
		}
		return -1
	}
	for j := range list {
		if sameID(idOf(&list[j]), id) {
			return j
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
