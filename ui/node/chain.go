package node

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/wording"
)

const (
	// statusClock is how long a kubelet trusts a runtime whose Status fails. Its
	// other clock, that of PLEG, is the snapshot's threshold.
	statusClock = 30 * time.Second
	// lateAge is the age of an answer from which on it is drawn as one to look at:
	// several of them are missing.
	lateAge = 10 * time.Second
)

// chain adds the kubelet's health chain, link by link, and where it ends: the node's
// Ready condition.
func (n *node) chain() {
	n.Section("Would a kubelet call this node Ready? What it looks at, and what it would say")
	if n.Paused {
		n.Paragraph(n.Theme.Warn, "  not known while paused: nobody looks; the last list is "+text.Age(n.Health.ListAge(n.At))+" old")
		return
	}
	n.tell("runtime Status", n.status())
	n.tell("PLEG", n.pleg())
	n.tell("network", n.network())
	n.tell("sync loop", n.loop())
	n.tell("/healthz/syncloop", n.healthz())
	n.ready()
}

func (n *node) status() text.Span {
	of := n.Node
	when := "never answered well"
	if !of.SyncedAt.IsZero() {
		when = "answered well " + n.since(of.SyncedAt) + " ago (limit " + text.Took(statusClock) + ")"
	}
	switch {
	case of.RuntimeDown != "":
		return n.ill(when + ": " + of.RuntimeDown)
	case of.RuntimeErr != "":
		return n.ill(of.RuntimeErr)
	case of.SyncedAt.IsZero() && n.StatusErr == nil:
		return n.unsure()
	case n.At.Sub(of.SyncedAt) < lateAge:
		return n.well(when)
	case !of.DownAt.IsZero(): // if no Status succeeds before
		when += "; runtime down in " + n.until(of.DownAt)
	}
	return n.late(when)
}

func (n *node) pleg() text.Span {
	h := n.Health
	switch {
	case h.ListedAt.IsZero() && n.Node.PLEG == "": // which only a kubelet that starts holds against it
		return n.unsure()
	case h.Verdict != "":
		return n.ill(diagnose.Rounded(h.Verdict))
	}
	age := h.ListAge(n.At)
	said := "list " + wording.Fresh(age) + " old (limit " + text.Took(n.Threshold) + ")"
	switch {
	case age < n.Period+lateAge: // an evented mode lists every few minutes
		return n.well(said)
	case !h.UnhealthyAt.IsZero():
		said += "; unhealthy in " + n.until(h.UnhealthyAt)
	case !n.Phase.EndsBy.IsZero():
		said += "; stays healthy: this relist ends in " + n.until(n.Phase.EndsBy) + " at the latest"
	}
	return n.late(said)
}

func (n *node) network() text.Span {
	switch {
	case n.Node.NetworkErr != "":
		return n.ill(n.Node.NetworkErr)
	case !n.Node.Known:
		return n.unsure()
	}
	return n.well("ready")
}

func (n *node) loop() text.Span {
	of := n.Node
	switch {
	case !of.LoopHeld.IsZero():
		return n.late("waits for a list in its housekeeping, for " + n.since(of.LoopHeld) + " (limit " + text.Took(n.Timeout) + "): no pod is started or stopped, and it sees nothing")
	case !of.LoopStopped.IsZero():
		return n.ill("stopped " + n.since(of.LoopStopped) + " ago: no pod is started or stopped; looks again every " + of.LoopNap.String())
	case !of.Known:
		return n.unsure()
	}
	return n.well("runs: pods are started and stopped")
}

func (n *node) healthz() text.Span {
	at := n.Node.HealthzAt
	switch {
	case at.IsZero() && !n.Node.Known:
		return n.unsure()
	case at.IsZero():
		return n.well("would answer ok")
	case n.At.Before(at):
		return n.late("would fail in " + n.until(at) + "; a liveness check may then restart the kubelet")
	}
	return n.ill("would fail, for " + n.since(at) + " now; a liveness check may restart the kubelet")
}

// ready adds the node's Ready condition, as posted.
func (n *node) ready() {
	of, name := n.Node, "node Ready"
	if !of.Known {
		n.tell(name, n.unsure())
		return
	}
	unposted := diagnose.Unposted(n.report)
	if unposted != "" {
		n.tell(name, n.late("nothing is posted now: "+unposted))
		name = "it would be"
	}
	state, st := n.well("True, reason "+of.Reason), n.Theme.Dim
	if !of.Ready {
		state, st = n.ill("False, reason "+of.Reason), n.Theme.Text
	}
	n.say(name, state.Style, state.Text+", for "+text.AgeCoarse(n.At.Sub(of.Since)))
	n.say("", st, diagnose.Rounded(of.Message))
	if next := n.posting(); next != "" && unposted == "" {
		n.tell("next posted", n.late(next))
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
		all = append(all, pick(next.Ready, "True", "False")+" in "+n.until(next.From)+" to "+n.until(next.To))
	}
	return strings.Join(all, "; ")
}
