package lines

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/report"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// facts returns what was seen, whatever the findings make of it. What they tell
// word for word is not told again.
func facts(u diagnose.Update, o CheckOptions) []widget.Section {
	s, written, seen := u.Snapshot, writtenIn(u.Findings), widget.Section{}
	say := func(label, said string) { seen.Add(widget.Fact(label, widget.Plain, said)) }
	say("node", ready(s, o.Node, strings.TrimPrefix(o.kubelet(s), "v"), written))
	say("kubelet", kubeletSays(s.Evidence))
	say("pleg", health(s, written)+"; "+ages(s))
	say("runtime", runtime(s, o, written))
	say("pods", counts(s, written))
	say("asked", asked(s))
	if s.Evidence == nil {
		return []widget.Section{seen}
	}
	if say("host", host(s.Evidence)); s.Evidence.Deep == nil {
		return []widget.Section{seen}
	}
	return append([]widget.Section{seen}, report.Sources(report.Form{Brief: true}, s)...)
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

// ready says what a kubelet of that release would say of its node here, if it
// started now; where the node's own one says as much, that it does.
func ready(s *engine.Snapshot, node, release string, written func(string) bool) string {
	node = cmp.Or(node, "this node")
	n, basis := diagnose.NodeReady(s)
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
	switch {
	case n.Ready: // it may have other reasons, and words, of its own
		return fmt.Sprintf("%s: a kubelet %s started now would say Ready, as far as the runtime and PLEG go", node, release)
	case basis == diagnose.ByKubelet:
		return fmt.Sprintf("%s: %s by what its kubelet %s says of its PLEG (%s), though plegtop's own lists are answered", node, word, release, why)
	}
	return fmt.Sprintf("%s: a kubelet %s started now would say %s (%s)", node, release, word, why)
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
	said := fmt.Sprintf("%s, %s, %s", say.Plural(c.Pods, "pod"), say.Plural(c.Sandboxes, "sandbox"), say.Plural(c.Containers, "container"))
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
		return "no object: " + diagnose.Unfinished(s)
	}
	if w.Total == 0 && !w.Canceled && !w.CutOff {
		return "no object: none is listed"
	}
	said := fmt.Sprintf("%d of %s in %s, %d at a time", w.Done, say.Plural(w.Total, "object"), text.Took(sweepTook(s)), w.Width)
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
	if why := diagnose.Unfinished(s); why != "" {
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
	return strings.Join(said, "; ")
}

// kubeletSays returns what the node's own kubelet sees, by its metrics and its healthz;
// nothing if there was nobody to ask.
func kubeletSays(r *evidence.Report) string {
	if r == nil {
		return ""
	}
	k := r.Kubelet
	if !k.Ping.Asked {
		return k.Ping.Err
	}
	if k.Ping.Refused && k.Metrics.Refused {
		return "nobody listens at its ports"
	}
	var said []string
	if k.Version != "" {
		said = append(said, k.Version)
	}
	switch healthy, known := diagnose.KubeletPLEG(k); {
	case known && healthy:
		said = append(said, "PLEG is healthy, its last relist began "+text.Took(k.ReadAt.Sub(k.LastSeen))+" ago")
	case known:
		said = append(said, "PLEG is not healthy: its last relist began "+text.Age(k.ReadAt.Sub(k.LastSeen))+" ago")
	case !k.Metrics.OK:
		_, how := report.Probed(k.Metrics)
		said = append(said, "metrics "+how)
	case k.Alpha():
		said = append(said, report.Alpha(&k))
	case !k.LastSeen.IsZero():
		said = append(said, "its last relist began "+text.Age(k.ReadAt.Sub(k.LastSeen))+" ago")
	}
	if k.Interval.Mean > 0 {
		said = append(said, "one every "+text.Took(k.Interval.Mean)+" since it started")
	}
	for _, q := range []struct {
		name string
		evidence.Answer
	}{{"healthz", k.Health}, {"sync loop", k.SyncLoop}, {"ping", k.Ping}} {
		if q.Asked && (q.OK || q.TimedOut || q.Err != k.Metrics.Err) {
			_, how := report.Probed(q.Answer)
			said = append(said, q.name+" "+how)
		}
	}
	return strings.Join(said, "; ")
}
