package lines

import (
	"fmt"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
)

// facts writes what was seen, whatever the findings make of it. What they tell
// word for word is not written again.
func (p *page) facts(u diagnose.Update, o CheckOptions) {
	s, written := u.Snapshot, writtenIn(u.Findings)
	p.row(0, "node", ready(s.Node, o.Node, strings.TrimPrefix(o.kubelet(s), "v"), written))
	p.row(0, "pleg", health(s, written)+"; "+ages(s))
	p.row(0, "runtime", runtime(s, o, written))
	p.row(0, "pods", counts(s, written))
	p.row(0, "asked", asked(s))
	if s.Evidence != nil {
		p.row(0, "host", host(s.Evidence))
	}
}

// writtenIn returns whether the summaries and the evidence of findings hold a text.
func writtenIn(all []diagnose.Finding) func(string) bool {
	var said strings.Builder
	for _, f := range all {
		said.WriteString(f.Summary + "\n" + strings.Join(f.Evidence, "\n") + "\n")
	}
	return func(s string) bool {
		return s != "" && (strings.Contains(said.String(), s) || strings.Contains(said.String(), diagnose.Rounded(s)))
	}
}

// ready says what a kubelet of that release would say of its node here.
func ready(n engine.Node, node, release string, written func(string) bool) string {
	if node == "" {
		node = "this node"
	}
	if !n.Known {
		return node + ": no answer yet that says whether it would be Ready"
	}
	word := "NotReady"
	if n.Ready {
		word = "Ready"
	}
	why := n.Reason
	if !written(n.Message) {
		why += ": " + diagnose.Rounded(n.Message)
	}
	return fmt.Sprintf("%s would be %s for kubelet %s (%s)", node, word, release, why)
}

func health(s *engine.Snapshot, written func(string) bool) string {
	switch {
	case s.Health.Healthy:
		return "healthy"
	case written(s.Health.Verdict):
		return "not healthy"
	}
	return "not healthy: " + diagnose.Rounded(s.Health.Verdict)
}

// ages tells the two ages apart: of the lists, which Healthy() tests, and of
// the last relist in which every inspection went well.
func ages(s *engine.Snapshot) string {
	list, inspect := "no list yet", "no settled relist yet"
	if !s.Health.ListedAt.IsZero() {
		list = "list age " + text.Took(s.Health.ListAge(s.At))
	}
	if !s.Health.SettledAt.IsZero() {
		inspect = "inspection age " + text.Took(s.Health.InspectAge(s.At))
	}
	return fmt.Sprintf("%s (threshold %s), %s", list, text.Age(s.Threshold), inspect)
}

func runtime(s *engine.Snapshot, o CheckOptions, written func(string) bool) string {
	v := s.Version
	said := "unknown, it has not said its version"
	if v.RuntimeName != "" {
		said = fmt.Sprintf("%s %s, CRI %s", v.RuntimeName, v.RuntimeVersion, v.APIVersion)
	}
	for _, c := range s.Conditions {
		if !c.Status && !written(c.Message) && (c.Type == "RuntimeReady" || c.Type == "NetworkReady") {
			said += fmt.Sprintf(", %s is false (%s: %s)", c.Type, c.Reason, c.Message)
		}
	}
	if o.Source == "demo" {
		said += ", embedded"
	}
	return said + ", " + o.Endpoint
}

func counts(s *engine.Snapshot, written func(string) bool) string {
	c := s.Counts
	said := fmt.Sprintf("%s, %s, %s", finding.Plural(c.Pods, "pod"), finding.Plural(c.Sandboxes, "sandbox"), finding.Plural(c.Containers, "container"))
	var states []string
	for _, state := range []struct {
		n    int
		word string
	}{{c.Running, "running"}, {c.Exited, "exited"}, {c.Created, "created"}, {c.Unknown, "unknown"}} {
		if state.n > 0 {
			states = append(states, fmt.Sprintf("%d %s", state.n, state.word))
		}
	}
	if len(states) > 0 {
		said += ": " + strings.Join(states, ", ")
	}
	if s.Partial != "" && !written(s.Partial) {
		said += "; " + s.Partial
	}
	return said
}

// asked says how far the sweep came.
func asked(s *engine.Snapshot) string {
	w := s.Sweep
	if w == nil || w.Refused != "" {
		return "no object: " + finding.Unfinished(w)
	}
	if w.Total == 0 && !w.Canceled && !w.CutOff {
		return "no object: none is listed"
	}
	said := fmt.Sprintf("%d of %s in %s, %d at a time", w.Done, finding.Plural(w.Total, "object"), text.Took(sweepTook(s)), w.Width)
	if w.Serial > 0 {
		said += fmt.Sprintf(" (%s one by one)", text.Took(w.Serial))
	}
	if n := len(w.Hung); n > 0 {
		said += fmt.Sprintf("; %d without an answer within %s", n, text.Age(w.Timeout))
	}
	if n := len(w.Failed); n > 0 {
		said += fmt.Sprintf("; %d failed", n)
	}
	if w.Flaky > 0 {
		said += fmt.Sprintf("; %d failed once, not twice", w.Flaky)
	}
	if why := finding.Unfinished(w); why != "" {
		said += "; " + why
	}
	return said
}

// host says what the node itself is busy with.
func host(r *evidence.Report) string {
	var said []string
	for _, u := range r.Usage {
		one := fmt.Sprintf("%s %s", u.Name, text.Bytes(u.Memory))
		if u.CPU >= 0 {
			one += fmt.Sprintf(" %.2f cores", u.CPU)
		}
		said = append(said, one)
	}
	if p := r.Pressure; p.Missing == "" {
		said = append(said, fmt.Sprintf("pressure cpu %.0f%%, io %.0f%%, memory %.0f%%", p.CPU.Some10, p.IO.Some10, p.Memory.Some10))
	}
	if d := r.Disk; d.Missing == "" && d.Total > 0 {
		said = append(said, fmt.Sprintf("%s of %s free on %s", text.Bytes(d.Free), text.Bytes(d.Total), d.Path))
	}
	said = append(said, kubelet(r.Kubelet))
	return strings.Join(said, "; ")
}

func kubelet(k evidence.Kubelet) string {
	switch a := k.Healthz; {
	case a.OK:
		return "kubelet healthz ok in " + text.Took(a.Took)
	case a.TimedOut:
		return "kubelet healthz does not answer"
	case a.Asked:
		return "kubelet not available"
	}
	return "kubelet not asked"
}
