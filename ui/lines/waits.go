package lines

import (
	"bytes"
	"slices"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/waits"
	"github.com/plegtop/plegtop/ui/text"
)

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

// allWaits stands for the graph of all that waits.
const allWaits = "all"

// appendDOT appends who waits for whom in the language of Graphviz: all of it, or what the
// first finding with an id waits for and what waits for that; no nodes if it does not hold.
func appendDOT(b []byte, u diagnose.Update, id string) []byte {
	g, place := u.Waits, -1
	if id != allWaits {
		g = nil
		i := slices.IndexFunc(u.Findings, func(f diagnose.Finding) bool { return string(f.ID) == id && len(f.Nodes) > 0 })
		if i >= 0 {
			if place = u.Waits.Find(u.Findings[i].Nodes[0]); place >= 0 {
				g = u.Waits
			}
		}
	}
	out := bytes.NewBuffer(b)
	g.WriteDot(out, place, text.Clean) //nolint:errcheck // a buffer takes all
	return out.Bytes()
}
