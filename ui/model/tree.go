package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Part is a sandbox or a container of a pod.
type Part struct {
	Sandbox bool
	Last    bool // the last sandbox, or the last container below it
	ID      string
	Name    string // of a container
	State   pleg.State
	Dead    bool // it has died, though State is how the runtime listed it last
	Attempt uint32
	Created time.Time
	Image   string                // of a container
	Status  *pleg.ContainerStatus // of a container, if the cache has one
}

// Parts returns what the pod holds: each sandbox, the oldest first, and below it its
// containers by name, the newest of each first. Those whose sandbox is not listed come
// below the newest one. It is worked out when it is asked for first, and not to be
// changed.
func (p *Pod) Parts() []Part {
	if p.parts == nil {
		p.parts = p.branches()
	}
	return p.parts
}

// Hangs reports whether the call that hangs is about a part of the pod.
func (p *Pod) Hangs(part *Part) bool { return p.Out != nil && p.Out.ID != "" && p.Out.ID == part.ID }

func (p *Pod) branches() []Part {
	sandboxes, containers := p.sorted()
	newest := max(len(sandboxes)-1, 0)
	places := make(map[string]int, len(sandboxes))
	for i, s := range sandboxes {
		places[s.ID] = i
	}
	below := make([][]*pleg.Container, newest+1)
	for _, c := range containers {
		i, listed := places[c.SandboxID]
		if !listed {
			i = newest
		}
		below[i] = append(below[i], c)
	}
	rows := make([]Part, 0, len(sandboxes)+len(containers))
	for i, leaves := range below {
		if i < len(sandboxes) {
			s := sandboxes[i]
			rows = append(rows, Part{
				Sandbox: true, Last: i == newest, ID: s.ID, State: s.State, Dead: p.Died(s.ID), Attempt: s.Attempt, Created: s.CreatedAt,
			})
		}
		for j, c := range leaves {
			rows = append(rows, Part{
				ID: c.ID, Name: c.Name, State: c.State, Dead: p.Died(c.ID), Attempt: c.Attempt, Created: c.CreatedAt, Image: c.Image,
				Last: j == len(leaves)-1, Status: p.Status(c.ID),
			})
		}
	}
	return rows
}

// sorted returns the sandboxes, the oldest first, and the containers by name.
func (p *Pod) sorted() (sandboxes []pleg.Sandbox, containers []*pleg.Container) {
	sandboxes = slices.Clone(p.Seen.Sandboxes)
	slices.SortStableFunc(sandboxes, func(a, b pleg.Sandbox) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), a.CreatedAt.Compare(b.CreatedAt))
	})
	for i := range p.Seen.Containers {
		containers = append(containers, &p.Seen.Containers[i])
	}
	slices.SortFunc(containers, func(a, b *pleg.Container) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), diagnose.NewestFirst(a, b))
	})
	return sandboxes, containers
}
