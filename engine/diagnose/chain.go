package diagnose

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/waits"
)

// proven returns the links up to the last one that is proven.
func proven(links []Link) []Link {
	for i, l := range links {
		if i > 0 && l.Proof == "" {
			return links[:i]
		}
	}
	return links
}

// chainEnd returns the end of the proven part of a chain, after an arrow: from the helper
// or the process on that holds all the rest up, else the last link, without what was said
// before. It is empty where nothing is known but the call, or that its goroutine waits.
func chainEnd(said string, links []Link) string {
	links = proven(links)
	if n := len(links); n > 1 && links[n-2].Kind == waits.Call && links[n-1].waits() {
		links = links[:n-1]
	}
	if len(links) == 0 || links[len(links)-1].Kind == waits.Relist || links[len(links)-1].Kind == waits.Call {
		return ""
	}
	kinds := []waits.Kind{waits.Helper, waits.Process, waits.Kernel, waits.Server, waits.Mount, waits.Device}
	from := slices.IndexFunc(links, func(l Link) bool { return slices.Contains(kinds, l.Kind) })
	if from < 0 {
		from = len(links) - 1
	}
	for from < len(links) && links[from].NamedIn(said) {
		from++
	}
	if from == len(links) {
		return ""
	}
	return " -> " + ChainLine(links[from:])
}

// waits reports whether a link is a goroutine that waits within the runtime, for nobody knows what.
func (l Link) waits() bool {
	return l.Kind == waits.Goroutine && strings.Contains(l.Name, " waiting for ")
}

// NamedIn reports whether a text has named a link, a process and its state also as [processName]
// does.
func (l Link) NamedIn(said string) bool {
	switch l.Kind {
	case waits.Helper:
		return strings.Contains(said, "(pid "+l.ID+")") || strings.Contains(said, l.Name)
	case waits.Process:
		return strings.Contains(said, "(pid "+l.ID+",") || strings.Contains(said, l.Name)
	case waits.Kernel:
		for _, state := range []evidence.State{evidence.Stopped, evidence.Traced, evidence.Frozen} {
			if l.Name == state.String() {
				letter := ", " + string(rune(state))
				return strings.Contains(said, l.Name) || strings.Contains(said, letter+")") || strings.Contains(said, letter+" in ")
			}
		}
		return strings.Contains(said, ", "+l.Name+")")
	}
	return strings.Contains(said, l.Name)
}
