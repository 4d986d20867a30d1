package lines

import (
	"bytes"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
	"github.com/plegtop/plegtop/ui/text"
)

// A waitsObject is who waits for whom, in the JSON of check.
type waitsObject struct {
	Nodes    []nodeObject    `json:"nodes"`
	Edges    []edgeObject    `json:"edges"`
	Culprits []culpritObject `json:"culprits"` // what waits for nobody, and what surely waits for it: the worst first
}

type nodeObject struct {
	Key     string         `json:"key"` // tells it from all others, also in a later check
	Kind    string         `json:"kind"`
	ID      string         `json:"id,omitempty"`
	Name    string         `json:"name"`
	Subject *subjectObject `json:"subject,omitempty"` // whose it is
	Since   *time.Time     `json:"since,omitempty"`
}

type edgeObject struct {
	From  int    `json:"from"` // waits for the other; both are places in nodes
	To    int    `json:"to"`
	Proof string `json:"proof"` // empty if it is only likely
}

type culpritObject struct {
	Nodes []int `json:"nodes"` // one; several are a deadlock
	Waits []int `json:"waits"`
}

// newWaits returns the graph for the JSON; nil if nobody waits.
func newWaits(g *waits.Graph) *waitsObject {
	if g == nil {
		return nil
	}
	o := &waitsObject{Nodes: make([]nodeObject, len(g.Nodes)), Edges: make([]edgeObject, len(g.Edges)), Culprits: []culpritObject{}}
	for i, n := range g.Nodes {
		o.Nodes[i] = nodeObject{Key: text.Clean(n.Key), Kind: string(n.Kind), ID: text.Clean(n.ID), Name: text.Clean(n.Name), Since: instant(n.Since)}
		if n.Object.ObjectRef != (pleg.ObjectRef{}) {
			subject := newSubject(diagnose.Subject{ObjectRef: n.Object.ObjectRef})
			o.Nodes[i].Subject = &subject
		}
	}
	for i, e := range g.Edges {
		o.Edges[i] = edgeObject{e.From, e.To, text.Clean(e.Proof)}
	}
	for _, c := range g.Culprits() {
		o.Culprits = append(o.Culprits, culpritObject(c))
	}
	return o
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
