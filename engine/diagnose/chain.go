package diagnose

import (
	"slices"

	"github.com/plegtop/plegtop/engine/waits"
)

// chain returns the chain through a node: it begins at the relist, or at whoever else waits, and ends at what holds all
// of it up. The link where it is safest to act has its step.
func (f *Facts) chain(node string) []Link {
	g := f.Graph()
	if g == nil {
		return nil
	}
	path := g.Through(g.Find(node))
	links := make([]Link, len(path))
	for i, l := range path {
		n := &g.Nodes[l.Place]
		links[i] = Link{Kind: n.Kind, ID: n.ID, Name: n.Name, Proof: l.Proof, Since: n.Since, Key: n.Key, object: n.Object.ObjectRef, inside: n.WaitsInside()}
		if l.Again {
			links[i].Name += ", which waits for the first: a deadlock"
		}
	}
	f.cut(links, path)
	return links
}

// proven returns the links before the first one that is not proven.
func proven(links []Link) []Link {
	for i, l := range links {
		if i > 0 && l.Proof == "" {
			return links[:i]
		}
	}
	return links
}

// leadsOn reports whether the finding surely waits for something more than a call. If so, the graph knows what it waits
// for, and no other finding is the cause.
func (f *Finding) leadsOn() bool {
	links := proven(f.Chain)
	return len(links) > 0 && links[len(links)-1].Kind != waits.Relist && links[len(links)-1].Kind != waits.Call
}

// chainEnd returns the end of the proven part of a chain in words. It begins at the helper or the process that holds up
// all the rest; without one, it returns the last link. It leaves out links that are named already. It is empty if only
// the call is known, or only that its goroutine waits.
func chainEnd(links []Link, named map[string]bool) string {
	links = proven(links)
	if n := len(links); n > 1 && links[n-2].Kind == waits.Call && links[n-1].inside {
		links = links[:n-1]
	}
	if len(links) == 0 || links[len(links)-1].Kind == waits.Relist || links[len(links)-1].Kind == waits.Call {
		return ""
	}
	ends := []waits.Kind{waits.Helper, waits.Process, waits.Kernel, waits.Server, waits.Mount, waits.Device}
	from := slices.IndexFunc(links, func(l Link) bool { return slices.Contains(ends, l.Kind) })
	if from < 0 {
		from = len(links) - 1
	}
	for from < len(links) && named[links[from].Key] {
		from++
	}
	return ChainLine(links[from:])
}
