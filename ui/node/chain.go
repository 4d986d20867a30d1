package node

import (
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// chain adds the kubelet's health chain, link by link, and where it ends: the node's
// Ready condition.
func (n *node) chain() {
	n.Section("Node readiness, as the kubelet computes it What it looks at, and what it would say")
	if n.Paused {
		n.Paragraph(n.Theme.Warn, "  not known while paused: nobody looks; the last list is "+text.Age(n.Health.ListAge(n.At))+" old")
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
