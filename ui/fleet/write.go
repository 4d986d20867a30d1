package fleet

import (
	"time"

	"github.com/plegtop/plegtop/ui/jsonline"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Schema names the shape of the JSON, which docs/fleet.schema.json describes. Fields are only
// ever added to it.
const Schema = "plegtop/fleet/1"

// appendJSON appends a round as one object in one line.
func appendJSON(b []byte, r Round) []byte {
	return jsonline.Append(b, &struct {
		Schema string    `line:"schema"`
		Time   time.Time `line:"time"`
		Counts Counts    `line:"counts"`
		Nodes  []*Node   `line:"nodes"`
		Notes  []string  `line:"notes,omitempty"` // what was left out, and why
	}{Schema: Schema, Time: r.At, Counts: r.counts(), Nodes: r.Nodes})
}

// appendTable appends a round as text: the counts, then a line for each node. Nothing is cut.
func appendTable(b []byte, r Round, symbols theme.Symbols) []byte {
	t := &theme.Theme{Symbols: symbols}
	var d widget.Doc
	d.Write(widget.Pen{Theme: t}, 0, 0, func(d *widget.Doc) {
		line := []text.Span{}
		for _, s := range r.counts().spans(t) {
			line = append(line, s.In(text.Width(s.Text)+2))
		}
		d.Line(line...)
		rows := make([][]text.Span, 0, len(r.Nodes))
		for _, n := range r.Nodes {
			symbol, word, _ := n.word(t)
			rows = append(rows, text.Each(t.Text, dash(n.Name), symbol+" "+word, dash(n.Culprit), n.says()))
		}
		columns := []text.Column{{Head: "NODE", Left: true}, {Head: "STATE", Left: true}, {Head: "CULPRIT", Left: true}, {Head: "WHAT", Left: true}}
		for _, l := range text.Figures(t.Head, columns, rows) {
			d.Line(l...)
		}
	})
	return d.Append(b)
}

// dash stands for what is empty, so that columns can be told apart by their words.
func dash(s string) string { return theme.When(s == "", "-", s) }
