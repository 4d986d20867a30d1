package diagnose

import (
	"slices"

	"github.com/plegtop/plegtop/engine/waits"
)

// chain returns the chain through a node: from the relist, or who else waits, down to what holds all of it up.
// The safest place to act has its step.
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

// proven returns the links up to the last one that is proven.
func proven(links []Link) []Link {
	for i, l := range links {
		if i > 0 && l.Proof == "" {
			return links[:i]
		}
	}
	return links
}

// leadsOn reports whether the finding surely waits for more than a call. Then the graph knows whom it waits for,
// and nobody else is its reason.
func (f *Finding) leadsOn() bool {
	links := proven(f.Chain)
	return len(links) > 0 && links[len(links)-1].Kind != waits.Relist && links[len(links)-1].Kind != waits.Call
}

// chainEnd returns the end of the proven part of a chain in words: from the helper or the process on that holds all
// the rest up, else the last link, without what is named already. It is empty if nothing is known but the call, or
// that its goroutine waits.
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
