package report

import (
	"cmp"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// versus sets our figures beside the kubelet's: the same algorithm against the same runtime. Where
// those are not known ours stand alone.
func (n node) versus() widget.Section {
	t, s := n.Theme, widget.Section{Title: "Relist"}
	k := evidence.Kubelet{Ping: evidence.Answer{Err: nobodyLooks}, Metrics: evidence.Answer{Err: nobodyLooks}}
	if n.Evidence != nil {
		k = n.Evidence.Kubelet
	}
	var rows [][]text.Span
	for _, r := range n.compared(&k) {
		if !k.Metrics.OK {
			s.Add(widget.Fact(r[0], widget.Plain, r[1]))
			continue
		}
		rows = append(rows, []text.Span{text.Say(t.Dim, r[0]), text.Say(t.Text, r[1]), text.Say(t.Text, r[2])})
	}
	if k.Metrics.OK {
		s.Title = "Relist: ours, and the kubelet's own"
		s.Lines(text.Figures(t.Head, []text.Column{
			{Width: nameWidth, Left: true}, {Head: "PLEGTOP", Width: oursWidth, Left: true}, {Head: "KUBELET " + k.Version, Left: true},
		}, rows))
	}
	s.Add(n.answer("kubelet ping", k.Ping))
	for _, more := range []struct {
		name string
		evidence.Answer
	}{{"kubelet healthz", k.Health}, {"kubelet sync loop", k.SyncLoop}} {
		if more.Asked && (more.Err == "" || more.Err != k.Metrics.Err) { // else it would say the same again
			s.Add(n.answer(more.name, more.Answer))
		}
	}
	s.Add(n.answer("kubelet metrics", k.Metrics))
	if alpha := Alpha(&k); alpha != "" {
		s.Add(widget.Fact("its events", widget.Plain, alpha))
	}
	if diagnose.KubeletStill(&k) {
		s.Add(widget.Fact("its relists", widget.Bad, "no more than before for "+text.Age(k.StillFor)))
	}
	return s
}

// compared returns what is compared: its name, ours, and the kubelet's own.
func (n node) compared(k *evidence.Kubelet) [][3]string {
	r := n.Relists
	ago := func(t time.Time) string {
		return theme.When(t.IsZero(), "never", say.Fresh(max(0, n.At.Sub(t)))+" ago")
	}
	mean := func(t evidence.Timing) string { return theme.When(t.Count > 0, "mean "+say.Steady(t.Mean), "-") }
	return [][3]string{
		{"relists", text.Count(r.Count) + theme.When(r.Failed > 0, ", "+text.Count(r.Failed)+" failed", ""), text.Count(k.Relist.Count)},
		{"duration", theme.When(r.Count > 0, "p50 "+say.Steady(r.P50)+", p99 "+say.Steady(r.P99), "-"), mean(k.Relist)},
		{"interval", theme.When(r.Interval > 0, say.Steady(r.Interval), "-"), mean(k.Interval)},
		{"last good one", ago(n.Health.ListedAt), theme.When(k.Alpha(), "not told", ago(k.LastSeen))},
		{"events discarded", text.Count(n.Channel.Discarded), text.Count(k.Discarded)},
	}
}

// Alpha says what a kubelet up to 1.36 makes of the runtime's event stream where its gate
// EventedPLEG is on; empty where it is off.
func Alpha(k *evidence.Kubelet) string {
	switch {
	case !k.Alpha():
		return ""
	case k.FellBack():
		return "EventedPLEG is on, in its alpha form, and has given the runtime's event stream up"
	}
	return "EventedPLEG is on, in its alpha form: the runtime's events write its cache, and it relists every " + text.Age(evidence.AlphaPeriod)
}

// answer tells how one question to the kubelet went; nothing in a demo, which has none to ask.
func (n node) answer(name string, a evidence.Answer) widget.Row {
	switch unasked := !a.Asked && a.Err == ""; {
	case unasked && n.demo:
		return widget.Row{}
	case unasked:
		return widget.Fact(name, widget.Quiet, "not asked: --kubelet-metrics says where to ask")
	}
	level, said := Probed(a)
	return widget.Fact(name, level, said)
}

// Probed says how one question to the kubelet went. That it gives no answer is evidence; that
// nobody asked is none.
func Probed(a evidence.Answer) (widget.Level, string) {
	switch {
	case !a.Asked:
		return widget.Quiet, unavailable + a.Err
	case a.OK:
		return widget.Good, cmp.Or(a.Text, "answered") + " in " + text.Took(a.Took)
	case a.TimedOut:
		return widget.Bad, "no answer in " + text.Took(a.Took)
	case a.Text != "":
		return widget.Bad, "fails: " + a.Text
	}
	return widget.Quiet, a.Err
}
