package diagnose

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/waits"
)

// ChainLine returns a chain in one line, without what a link before it has named:
// "relist -> ListContainers -> status lock of pay/api-7d -> shim 4711 -> runc update
// (10m) -> D in nfs4_do_setattr, server 10.0.0.9:/vol -> /data". A link that is not
// proven is called likely. It is empty for no links.
func ChainLine(links []Link) string {
	var b strings.Builder
	for i, l := range links {
		named := slices.ContainsFunc(links[:i], func(before Link) bool { return strings.Contains(before.Name, l.Name) })
		switch {
		case l.Kind == waits.Container && named:
			continue
		case b.Len() == 0:
		case l.Kind == waits.Server && links[i-1].Kind == waits.Kernel:
			b.WriteString(", ")
		default:
			b.WriteString(" -> ")
		}
		if i > 0 && l.Proof == "" {
			b.WriteString("likely ")
		}
		b.WriteString(l.Name)
	}
	return b.String()
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

// chainEnd returns the end of the proven part of a chain: from the helper or the process
// on that holds all the rest up, else the last link.
func chainEnd(links []Link) string {
	links = proven(links)
	kinds := []waits.Kind{waits.Helper, waits.Process, waits.Kernel, waits.Server, waits.Mount, waits.Device}
	from := slices.IndexFunc(links, func(l Link) bool { return slices.Contains(kinds, l.Kind) })
	if from < 0 {
		from = max(0, len(links)-1)
	}
	return ChainLine(links[from:])
}

// heldBy returns what a headline says of the chain of the first finding that has one and
// is as severe, unless it has said so.
func heldBy(said string, held []Finding, least Severity) string {
	i := slices.IndexFunc(held, func(f Finding) bool { return f.Severity >= least && len(f.Chain) > 0 })
	if i < 0 {
		return ""
	}
	links := proven(held[i].Chain)
	end := chainEnd(links)
	if last := links[len(links)-1].Kind; last == waits.Relist || last == waits.Call || strings.Contains(said, end) {
		return ""
	}
	return " -> " + end
}
