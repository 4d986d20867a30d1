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
	a := assembly{
		index: make(map[UID]int, len(sandboxes)),
		parts: make([]part, 0, len(sandboxes)),
	}
	a.share(sandboxes, containers)
	pods := a.carve(len(sandboxes), len(containers), at)
	a.fill(pods, sandboxes, containers)
	return pods, a.anomalies(pods)
}

// An assembly is a list on its way from lines to pods. All pods share one array
// of sandboxes and one of containers: a list of a thousand pods must not cost
// thousands of allocations.
type assembly struct {
	index     map[UID]int // into parts
	parts     []part
	owners    []int // of each line, sandboxes first: index into parts
	unsandbox int   // containers without a listed sandbox
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
	a.owners = make([]int, 0, len(sandboxes)+len(containers))
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

func (a *assembly) own(pod PodRef) *part {
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
	order := make([]int, len(a.parts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(a.parts[j].createdAt.Compare(a.parts[i].createdAt), cmp.Compare(i, j))
	})
	sbs, cts := make([]Sandbox, sandboxes), make([]Container, containers)
	pods := make([]Pod, len(order))
	for place, i := range order {
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
