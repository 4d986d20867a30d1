package pleg

import (
	"cmp"
	"slices"
	"time"
)

// Assemble makes pods of what the two lists showed. Sandboxes and containers
// belong to the pod whose UID they name; containers without any listed sandbox
// make a pod by themselves. Within a pod the order of the lists is kept. The
// pods are sorted by the creation of their last listed sandbox, newest first,
// those of one age in the order in which they were first listed. at is the
// time before the list calls. The counters returned are DuplicateID, for an id
// that one list shows twice in one pod, and NoSandbox.
func Assemble(sandboxes []ListedSandbox, containers []ListedContainer, at time.Time) ([]Pod, Anomalies) {
	return new(assembly).assemble(sandboxes, containers, at)
}

// An Assembler assembles one list after the other in the memory of the one before
// the last: what it returned holds until it has been used twice more. That is what
// a [Core] needs, whose records let go of a list when the next one begins. The zero
// value is ready. Not safe for concurrent use.
type Assembler struct {
	last, lastButOne assembly
}

// Assemble does what [Assemble] does.
func (a *Assembler) Assemble(sandboxes []ListedSandbox, containers []ListedContainer, at time.Time) ([]Pod, Anomalies) {
	a.last, a.lastButOne = a.lastButOne, a.last
	return a.last.assemble(sandboxes, containers, at)
}

// An assembly is a list on its way from lines to pods. All pods share one array
// of sandboxes and one of containers: a list of a thousand pods must not cost
// thousands of allocations.
type assembly struct {
	index     map[UID]int // into parts
	parts     []part
	owners    []int // of each line, sandboxes first: index into parts
	order     []int // of parts in the result
	unsandbox int   // containers without a listed sandbox

	pods       []Pod
	sandboxes  []Sandbox
	containers []Container
}

func (a *assembly) assemble(sandboxes []ListedSandbox, containers []ListedContainer, at time.Time) ([]Pod, Anomalies) {
	if a.index == nil {
		a.index = make(map[UID]int, len(sandboxes))
	}
	clear(a.index)
	a.unsandbox = 0
	a.parts = room(a.parts, len(sandboxes))[:0]
	a.share(sandboxes, containers)
	pods := a.carve(len(sandboxes), len(containers), at)
	a.fill(pods, sandboxes, containers)
	return pods, a.anomalies(pods)
}

// room returns a slice of that length, in the memory of the one given where that
// has room for it, and is not far too large: a storm is not to be paid for for ever.
func room[T any](had []T, n int) []T {
	switch {
	case had == nil:
		return make([]T, n)
	case cap(had) < n || cap(had) > 4*n+64:
		return make([]T, n, n+n/8)
	}
	clear(had[n:cap(had)])
	return had[:n]
}

// A part is what is known of a pod before it is made.
type part struct {
	pod                   PodRef
	sandboxes, containers int
	createdAt             time.Time
	place                 int // in the result
}

// share finds the owner of each line.
func (a *assembly) share(sandboxes []ListedSandbox, containers []ListedContainer) {
	a.owners = room(a.owners, len(sandboxes)+len(containers))[:0]
	for i := range sandboxes {
		p := a.own(sandboxes[i].Pod)
		p.sandboxes++
		p.createdAt = sandboxes[i].CreatedAt
	}
	for i := range containers {
		p := a.own(containers[i].Pod)
		p.containers++
		if p.sandboxes == 0 {
			a.unsandbox++
		}
	}
}

// own returns the pod that the next line belongs to. A pod's lines often follow
// each other.
func (a *assembly) own(pod PodRef) *part {
	if n := len(a.owners); n > 0 && a.parts[a.owners[n-1]].pod.UID == pod.UID {
		a.owners = append(a.owners, a.owners[n-1])
		return &a.parts[a.owners[n-1]]
	}
	i, ok := a.index[pod.UID]
	if !ok {
		i = len(a.parts)
		a.index[pod.UID] = i
		a.parts = append(a.parts, part{pod: pod})
	}
	a.owners = append(a.owners, i)
	return &a.parts[i]
}

// carve makes the pods, in order, each with the room that it needs.
func (a *assembly) carve(sandboxes, containers int, at time.Time) []Pod {
	a.order = room(a.order, len(a.parts))
	for i := range a.order {
		a.order[i] = i
	}
	slices.SortFunc(a.order, func(i, j int) int {
		return cmp.Or(a.parts[j].createdAt.Compare(a.parts[i].createdAt), cmp.Compare(i, j))
	})
	a.sandboxes, a.containers = room(a.sandboxes, sandboxes), room(a.containers, containers)
	a.pods = room(a.pods, len(a.order))
	sbs, cts, pods := a.sandboxes, a.containers, a.pods
	for place, i := range a.order {
		p := &a.parts[i]
		p.place = place
		pods[place] = Pod{
			PodRef:     p.pod,
			Sandboxes:  sbs[:0:p.sandboxes],
			Containers: cts[:0:p.containers],
			ListedAt:   at,
		}
		sbs, cts = sbs[p.sandboxes:], cts[p.containers:]
	}
	return pods
}

func (a *assembly) fill(pods []Pod, sandboxes []ListedSandbox, containers []ListedContainer) {
	for i := range sandboxes {
		p := &pods[a.parts[a.owners[i]].place]
		p.Sandboxes = append(p.Sandboxes, sandboxes[i].Sandbox)
	}
	for i := range containers {
		p := &pods[a.parts[a.owners[len(sandboxes)+i]].place]
		p.Containers = append(p.Containers, containers[i].Container)
	}
}

func (a *assembly) anomalies(pods []Pod) Anomalies {
	n := Anomalies{NoSandbox: a.unsandbox}
	for i := range pods {
		n.DuplicateID += duplicates(pods[i].Sandboxes, func(s *Sandbox) string { return s.ID })
		n.DuplicateID += duplicates(pods[i].Containers, func(c *Container) string { return c.ID })
	}
	return n
}

// duplicates counts the lines whose id was there before.
func duplicates[T any](lines []T, id func(*T) string) int {
	if len(lines) > fewIDs {
		return manyDuplicates(lines, id)
	}
	n := 0
	for i := range lines {
		for j := range i {
			if id(&lines[j]) == id(&lines[i]) {
				n++
				break
			}
		}
	}
	return n
}

func manyDuplicates[T any](lines []T, id func(*T) string) int {
	seen := make(map[string]struct{}, len(lines))
	for i := range lines {
		seen[id(&lines[i])] = struct{}{}
	}
	return len(lines) - len(seen)
}

// Compose makes a pod's status of what its sandboxes and containers answered:
// both newest first, those of one age in the order given. The pod's addresses
// are those of the newest sandbox, and of that only if it is ready. Compose
// sorts the slices in place and keeps them.
func Compose(ref PodRef, sandboxes []SandboxStatus, containers []ContainerStatus) *PodStatus {
	sortNewestFirst(sandboxes, func(s *SandboxStatus) time.Time { return s.CreatedAt })
	sortNewestFirst(containers, func(c *ContainerStatus) time.Time { return c.CreatedAt })
	st := &PodStatus{PodRef: ref, Sandboxes: sandboxes, Containers: containers}
	if len(sandboxes) > 0 && sandboxes[0].State == Running {
		st.IPs = sandboxes[0].IPs
	}
	return st
}

// sortNewestFirst sorts large values, which are mostly in order already and
// dear to pass to a comparison.
func sortNewestFirst[T any](list []T, createdAt func(*T) time.Time) {
	for i := 1; i < len(list); i++ {
		if createdAt(&list[i]).After(createdAt(&list[i-1])) {
			slices.SortStableFunc(list, func(a, b T) int { return createdAt(&b).Compare(createdAt(&a)) })
			return
		}
	}
}
