package lines

import "github.com/plegtop/plegtop/engine/waits"

// A waitsObject is who waits for whom, in the JSON of check.
type waitsObject struct {
	*waits.Graph
	Culprits []waits.Culprit `line:"culprits"` // what waits for nobody, and what surely waits for it: the worst first
}

// newWaits returns the graph for the JSON; nil if nobody waits.
func newWaits(g *waits.Graph) *waitsObject {
	if g == nil {
		return nil
	}
	return &waitsObject{g, g.Culprits()}
}
