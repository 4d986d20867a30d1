// Package node is the sheet of the node: whether its kubelet would call it ready, what
// that kubelet says of itself, and what all of it costs.
package node

import (
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/report"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// node is the sheet. Its lines are written anew for each view.
type node struct {
	layer.Text
	*pane.View
	report *evidence.Report // nil if nobody looked at the node
}

// New returns the sheet, a layer. It is not safe for concurrent use.
func New() pane.Pane { return new(node) }

const labelWidth = 20 // of the names in the health chain and elsewhere

// Observe takes over what is known of the node.
func (n *node) Observe(v *pane.View, w, h int) {
	n.View, n.report = v, v.Evidence
	n.Labels = labelWidth
	n.Write(v, w, h, func(d *widget.Doc) {
		n.chain()
		d.Sections(report.Node(report.Form{Theme: v.Theme}, v.Snapshot, v.Keys.Keys(keymap.EventSources), v.Source.Demo())...)
	})
}

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{
	keymap.Help, keymap.Back, keymap.Filter, keymap.PeriodUp, keymap.PeriodDown, keymap.Raw, keymap.PauseRelist, keymap.RelistNow, keymap.Freeze,
}

// Info names the node.
func (n *node) Info() pane.Info {
	if n.View == nil {
		return n.Titled("Node", keymap.Over|keymap.Matching, footer...)
	}
	return n.Titled("Node "+n.Source.Node, keymap.Over|keymap.Matching, footer...)
}

// tell adds a name, and beside it a text in as many lines as it takes.
func (n *node) tell(name string, l widget.Level, said string) {
	n.Sections(widget.Section{Rows: []widget.Row{widget.Fact(name, l, said)}})
}

// tellOf is [node.tell] for what is said of a link of the chain.
func (n *node) tellOf(name string, l diagnose.HealthLevel, said string) {
	if l == diagnose.HealthUnknown {
		said = n.Theme.Symbols.Unknown + " not known yet"
	}
	n.tell(name, map[diagnose.HealthLevel]widget.Level{
		diagnose.HealthUnknown: widget.Quiet, diagnose.HealthWell: widget.Good, diagnose.HealthLate: widget.Warn, diagnose.HealthIll: widget.Bad,
	}[l], said)
}

// since returns how long ago a moment was.
func (n *node) since(t time.Time) string { return text.Age(n.At.Sub(t)) }

// until returns how long it is to a moment.
func (n *node) until(t time.Time) string { return text.Age(t.Sub(n.At)) }
