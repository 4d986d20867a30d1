// Package node is the sheet of the node: whether its kubelet would call it ready, what
// that kubelet says of itself, and what all of it costs.
package node

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/report"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
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

// chain adds the kubelet's health chain, link by link, and where it ends: the node's
// Ready condition.
func (n *node) chain() {
	n.Section("Node readiness, as the kubelet computes it")
	if n.Paused {
		n.Paragraph(n.Theme.Warn, "  not judged while paused; the last list is "+text.Age(n.Health.ListAge(n.At))+" old")
		return
	}
	for _, link := range []struct {
		name string
		of   diagnose.HealthPart
		says func(l diagnose.HealthLink) string
	}{
		{"runtime Status", diagnose.HealthStatus, n.status}, {"PLEG", diagnose.HealthPLEG, n.pleg}, {"network", diagnose.HealthNetwork, network},
		{"sync loop", diagnose.HealthLoop, n.loop}, {"/healthz/syncloop", diagnose.HealthProbe, n.healthz},
	} {
		l := diagnose.HealthOf(n.Snapshot, link.of)
		n.tellOf(link.name, l.Level, link.says(l))
	}
	n.ready()
}

func (n *node) status(l diagnose.HealthLink) string {
	when := "never answered well"
	if !l.Since.IsZero() {
		when = "answered well " + n.since(l.Since) + " ago (limit " + text.Took(l.Limit) + ")"
	}
	switch {
	case l.Level == diagnose.HealthIll && l.Limit == 0: // the runtime says so itself
		return l.Text
	case l.Level == diagnose.HealthIll:
		return when + ": " + l.Text
	case l.Level == diagnose.HealthLate && !l.Until.IsZero(): // if no Status succeeds before
		return when + "; runtime down in " + n.until(l.Until)
	}
	return when
}

func (n *node) pleg(l diagnose.HealthLink) string {
	said := "list " + say.Fresh(n.Health.ListAge(n.At)) + " old (limit " + text.Took(l.Limit) + ")"
	switch {
	case l.Level == diagnose.HealthIll:
		return diagnose.Rounded(l.Text)
	case l.Level != diagnose.HealthLate || l.Until.IsZero():
		return said
	case l.Ends:
		return said + "; stays healthy: this relist ends in " + n.until(l.Until) + " at the latest"
	}
	return said + "; unhealthy in " + n.until(l.Until)
}

func network(l diagnose.HealthLink) string { return theme.When(l.Text != "", l.Text, "ready") }

func (n *node) loop(l diagnose.HealthLink) string {
	switch l.Level {
	case diagnose.HealthLate:
		return "waits for a list in its housekeeping, for " + n.since(l.Since) + " (limit " + text.Took(l.Limit) + "): no pod is started or stopped, and it sees nothing"
	case diagnose.HealthIll:
		return "stopped " + n.since(l.Since) + " ago: no pod is started or stopped; looks again every " + n.Node.LoopNap.String()
	}
	return "runs: pods are started and stopped"
}

func (n *node) healthz(l diagnose.HealthLink) string {
	switch l.Level {
	case diagnose.HealthLate:
		return "would fail in " + n.until(l.Until) + "; a liveness check may then restart the kubelet"
	case diagnose.HealthIll:
		return "would fail, for " + n.since(l.Since) + " now; a liveness check may restart the kubelet"
	}
	return "would answer ok"
}

// ready adds the node's Ready condition, as posted.
func (n *node) ready() {
	of, name := diagnose.HealthOf(n.Snapshot, diagnose.HealthReady), "node Ready"
	if of.Level == diagnose.HealthUnknown {
		n.tellOf(name, of.Level, "")
		return
	}
	unposted := diagnose.Unposted(n.report)
	if unposted != "" {
		n.tell(name, widget.Warn, "nothing is posted now: "+unposted)
		name = "it would be"
	}
	word, st := "True", n.Theme.Dim
	if of.Level == diagnose.HealthIll {
		word, st = "False", n.Theme.Text
	}
	n.tellOf(name, of.Level, word+", reason "+n.Node.Reason+", for "+text.AgeCoarse(n.At.Sub(of.Since)))
	n.Paragraph(st, diagnose.Rounded(of.Text), text.Say(n.Theme.Dim, "  ").In(labelWidth))
	if next := n.posting(); next != "" && unposted == "" {
		n.tell("next posted", widget.Warn, next)
	}
}

// posting tells what keeps the kubelet from posting, and what it posts next; empty where
// nothing is to be told.
func (n *node) posting() string {
	var all []string
	if held := n.Node.PostingHeld; !held.IsZero() {
		all = append(all, "waits for the answer to Version, for "+n.since(held)+" (limit "+text.Took(n.Timeout)+"): nothing is posted")
	}
	if next := n.Node.Next; next.To.After(n.At) {
		all = append(all, theme.When(next.Ready, "True", "False")+" in "+n.until(next.From)+" to "+n.until(next.To))
	}
	return strings.Join(all, "; ")
}

// Do is [layer.Text.Do], and shows the stacks of the runtime's goroutines.
func (n *node) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	if a != keymap.Raw {
		return n.Text.Do(a, h)
	}
	if n.report == nil || n.report.Deep == nil || n.report.Deep.Stacks.Total == 0 {
		h.Say("no goroutines were read")
		return nil, true
	}
	s := n.report.Deep.Stacks
	h.Open(layer.NewViewer("Goroutines of "+s.Program, stacks(s)))
	return nil, true
}

// stacks writes the locks, and the groups of goroutines that stand alike.
func stacks(s evidence.Stacks) string {
	var b strings.Builder
	for _, l := range s.Locks {
		fmt.Fprintln(&b, strings.Replace(say.Lock(l), "; ", "\n  ", 1))
		frames(&b, l.Holder.Frames)
	}
	for _, g := range say.AtWork(s) {
		fmt.Fprintln(&b, say.Goroutine(g))
		frames(&b, g.Frames)
	}
	for _, g := range s.Groups {
		fmt.Fprintf(&b, "%d goroutines, such as %d: %s, for %s at most\n", g.Count, g.First, g.State, text.Age(g.Longest))
		frames(&b, g.Frames)
	}
	return b.String()
}

func frames(b *strings.Builder, all []string) {
	for _, f := range all {
		fmt.Fprintln(b, "    "+f)
	}
	fmt.Fprintln(b)
}
