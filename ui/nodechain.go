package ui

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/text"
)

const (
	// statusClock is how long a kubelet trusts a runtime whose Status fails. Its
	// other clock, that of PLEG, is the snapshot's threshold.
	statusClock = 30 * time.Second
	// lateAge is the age of an answer from which on it is drawn as one to look at:
	// several of them are missing.
	lateAge = 10 * time.Second
)

// chain adds the kubelet's health chain, link by link, and where it ends: the
// node's Ready condition.
func (n *nodeSheet) chain(b pen, s *engine.Snapshot, w int) {
	n.section(b, "Would a kubelet call this node Ready? What it looks at, and what it would say")
	if s.Paused {
		n.add(slot{b.Warn, "  not known while paused: nobody looks; the last list is " + text.Age(s.Health.ListAge(s.At)) + " old", 0})
		return
	}
	for _, link := range []struct {
		name string
		span
	}{
		{"runtime Status", statusLink(b, s)},
		{"PLEG", listLink(b, s)},
		{"network", networkLink(b, s)},
		{"sync loop", loopLink(b, s)},
		{"/healthz/syncloop", healthzLink(b, s)},
	} {
		n.paragraph(link.style, link.text, w, slot{b.Dim, "  " + link.name, linkWidth})
	}
	n.ready(b, s, w)
}

func well(b pen, text string) span { return span{b.Good, b.Symbols.Good + " " + text} }
func late(b pen, text string) span { return span{b.Warn, b.Symbols.Warn + " " + text} }
func ill(b pen, text string) span  { return span{b.Bad, b.Symbols.Bad + " " + text} }

func unsure(b pen) span { return span{b.Dim, b.Symbols.Unknown + " not known yet"} }

func networkLink(b pen, s *engine.Snapshot) span {
	switch {
	case s.Node.NetworkErr != "":
		return ill(b, s.Node.NetworkErr)
	case !s.Node.Known:
		return unsure(b)
	}
	return well(b, "ready")
}

func statusLink(b pen, s *engine.Snapshot) span {
	n := s.Node
	when := "never answered well"
	if !n.SyncedAt.IsZero() {
		when = "answered well " + text.Age(s.At.Sub(n.SyncedAt)) + " ago (limit " + text.Took(statusClock) + ")"
	}
	switch {
	case n.RuntimeDown != "":
		return ill(b, when+": "+n.RuntimeDown)
	case n.RuntimeErr != "":
		return ill(b, n.RuntimeErr)
	case n.SyncedAt.IsZero() && s.StatusErr == nil:
		return unsure(b)
	case s.At.Sub(n.SyncedAt) >= lateAge:
		return late(b, when+untilDown(s))
	}
	return well(b, when)
}

// untilDown says when the kubelet gives the runtime up, if no Status succeeds.
func untilDown(s *engine.Snapshot) string {
	if s.Node.DownAt.IsZero() {
		return ""
	}
	return "; runtime down in " + text.Age(s.Node.DownAt.Sub(s.At))
}

func listLink(b pen, s *engine.Snapshot) span {
	h := s.Health
	switch {
	case h.ListedAt.IsZero() && s.Node.PLEG == "": // which only a kubelet that starts holds against it
		return unsure(b)
	case h.Verdict != "":
		return ill(b, diagnose.Rounded(h.Verdict))
	}
	out := "list " + fresh(h.ListAge(s.At)) + " old (limit " + text.Took(s.Threshold) + ")"
	if h.ListAge(s.At) >= lateAge {
		switch {
		case !h.UnhealthyAt.IsZero():
			out += "; unhealthy in " + text.Age(h.UnhealthyAt.Sub(s.At))
		case !s.Phase.EndsBy.IsZero():
			out += "; stays healthy: this relist ends in " + text.Age(s.Phase.EndsBy.Sub(s.At)) + " at the latest"
		}
		return late(b, out)
	}
	return well(b, out)
}

func loopLink(b pen, s *engine.Snapshot) span {
	n := s.Node
	switch {
	case !n.LoopHeld.IsZero():
		return late(b, "waits for a list in its housekeeping, for "+text.Age(s.At.Sub(n.LoopHeld))+" (limit "+text.Took(s.Timeout)+"): no pod is started or stopped, and it sees nothing")
	case !n.LoopStopped.IsZero():
		return ill(b, "stopped "+text.Age(s.At.Sub(n.LoopStopped))+" ago: no pod is started or stopped; looks again every "+n.LoopNap.String())
	case !n.Known:
		return unsure(b)
	}
	return well(b, "runs: pods are started and stopped")
}

func healthzLink(b pen, s *engine.Snapshot) span {
	at := s.Node.HealthzAt
	switch {
	case at.IsZero() && !s.Node.Known:
		return unsure(b)
	case at.IsZero():
		return well(b, "would answer ok")
	case s.At.Before(at):
		return late(b, "would fail in "+text.Age(at.Sub(s.At))+"; a liveness check may then restart the kubelet")
	}
	return ill(b, "would fail, for "+text.Age(s.At.Sub(at))+" now; a liveness check may restart the kubelet")
}

// posting tells what keeps the kubelet from posting, and what it posts next; empty where
// nothing is to be told.
func posting(s *engine.Snapshot) string {
	var all []string
	if since := s.Node.PostingHeld; !since.IsZero() {
		all = append(all, "waits for the answer to Version, for "+text.Age(s.At.Sub(since))+" (limit "+text.Took(s.Timeout)+"): nothing is posted")
	}
	if next := s.Node.Next; next.To.After(s.At) {
		all = append(all, pick(next.Ready, "True", "False")+" in "+text.Age(max(next.From.Sub(s.At), 0))+" to "+text.Age(next.To.Sub(s.At)))
	}
	return strings.Join(all, "; ")
}

// ready adds the node's Ready condition, as posted.
func (n *nodeSheet) ready(b pen, s *engine.Snapshot, w int) {
	name := slot{b.Dim, "  node Ready", linkWidth}
	node := s.Node
	if !node.Known {
		n.add(name, slot{b.Dim, b.Symbols.Unknown + " not known yet", 0})
		return
	}
	unposted := diagnose.Unposted(s.Evidence)
	if unposted != "" {
		now := late(b, "nothing is posted now: "+unposted)
		n.paragraph(now.style, now.text, w, name)
		name.text = "  it would be"
	}
	state := well(b, "True, reason "+node.Reason)
	if !node.Ready {
		state = ill(b, "False, reason "+node.Reason)
	}
	n.add(name, slot{state.style, state.text + ", for " + text.AgeCoarse(s.At.Sub(node.Since)), 0})
	n.paragraph(pick(node.Ready, b.Dim, b.Text), diagnose.Rounded(node.Message), w, slot{b.Dim, "", linkWidth})
	if text := posting(s); text != "" && unposted == "" {
		next := late(b, text)
		n.paragraph(next.style, next.text, w, slot{b.Dim, "  next posted", linkWidth})
	}
}
