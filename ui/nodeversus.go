package ui

import (
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/text"
)

// versus adds our figures and the kubelet's, side by side: the same algorithm
// against the same runtime.
func (n *nodeSheet) versus(b pen, s *engine.Snapshot, r *evidence.Report, from Source, w int) {
	n.section(b, "Relist: ours, and the kubelet's own")
	if r == nil {
		r = &evidence.Report{Kubelet: evidence.Kubelet{Healthz: evidence.Answer{Err: nobodyLooks}, Metrics: evidence.Answer{Err: nobodyLooks}}}
	}
	k := &r.Kubelet
	n.add(slot{b.Head, "", linkWidth}, slot{b.Head, "PLEGTOP", versusWidth}, slot{b.Head, pick(k.Metrics.OK, "KUBELET "+k.Version, ""), 0})
	ours, theirs := ourFigures(s), kubeletFigures(s, k)
	for i, name := range []string{"relists", "duration p50", "duration p99", "interval", "last good one", "events discarded"} {
		n.add(slot{b.Dim, "  " + name, linkWidth}, slot{b.Text, ours[i], versusWidth}, slot{b.Text, theirs[i], 0})
	}
	n.answer(b, "kubelet healthz", k.Healthz, from, w)
	n.answer(b, "kubelet metrics", k.Metrics, from, w)
	if k.StillFor > stillLong {
		n.add(slot{b.Dim, "  its relists", linkWidth}, slot{b.Bad, b.Symbols.Bad + " no more than before for " + text.Age(k.StillFor), 0})
	}
}

// stillLong is for how long the kubelet's count of relists may stand still
// without a word: it relists every second, and is looked at every five.
const stillLong = 15 * time.Second

func ourFigures(s *engine.Snapshot) [6]string {
	r := s.Relists
	last := "never"
	if !s.Health.ListedAt.IsZero() {
		last = fresh(s.Health.ListAge(s.At)) + " ago"
	}
	if r.Count == 0 {
		return [6]string{"0", "-", "-", "-", last, text.Count(s.Channel.Discarded)}
	}
	return [6]string{
		text.Count(r.Count) + pick(r.Failed > 0, ", "+text.Count(r.Failed)+" failed", ""),
		steady(r.P50), steady(r.P99), steady(r.Interval), last, text.Count(s.Channel.Discarded),
	}
}

// kubeletFigures returns the kubelet's own, which are empty where it tells none:
// the lines below them say why.
func kubeletFigures(s *engine.Snapshot, k *evidence.Kubelet) [6]string {
	if !k.Metrics.OK {
		return [6]string{}
	}
	last := "never"
	if !k.LastSeen.IsZero() {
		last = fresh(max(0, s.At.Sub(k.LastSeen))) + " ago"
	}
	return [6]string{
		text.Count(k.Relist.Count), steady(k.Relist.P50), bounded(k.Relist), "p50 " + steady(k.Interval.P50) + " p99 " + bounded(k.Interval),
		last, text.Count(k.Discarded),
	}
}

// bounded returns the 99th percentile, and whether that is only its lower bound.
func bounded(t evidence.Timing) string { return pick(t.Beyond, ">", "") + steady(t.P99) }

// answer adds how one question to the kubelet went. That it gives no answer is
// evidence; that nobody asked is none.
func (n *nodeSheet) answer(b pen, name string, a evidence.Answer, from Source, w int) {
	out := span{b.Dim, missing(a.Err)}
	switch {
	case !a.Asked && a.Err == "":
		out.text = "not asked: " + pick(from.demo(), "demo", "--kubelet-metrics says where to ask")
	case a.OK:
		out = well(b, pick(a.Text != "", a.Text+", ", "")+"answered in "+text.Took(a.Took))
	case a.TimedOut:
		out = ill(b, "took the connection and gave no answer in "+text.Took(a.Took))
	case a.Asked && a.Text != "":
		out = ill(b, a.Text)
	}
	n.paragraph(out.style, out.text, w, slot{b.Dim, "  " + name, linkWidth})
}

// operations adds the kubelet's kinds of call to the runtime.
func (n *nodeSheet) operations(b pen, r *evidence.Report) {
	if r == nil || len(r.Kubelet.Operations) == 0 {
		return
	}
	n.section(b, "The kubelet's calls to the runtime; one that hangs is not in it")
	n.add(slot{b.Head, "  OPERATION", programWidth + 4}, slot{b.Head, "   COUNT", figureWidth}, slot{b.Head, "  ERRORS", figureWidth},
		slot{b.Head, "     P50", figureWidth}, slot{b.Head, "     P99", 0})
	for _, op := range r.Kubelet.Operations {
		errors := slot{b.Text, rightly(b, strconv.FormatUint(op.Errors, 10)), figureWidth}
		if op.Errors > 0 {
			errors.style = b.Warn
		}
		n.add(slot{b.Text, "  " + op.Name, programWidth + 4}, figure(b, text.Count(op.Count)), errors,
			figure(b, steady(op.Took.P50)), slot{b.Text, rightly(b, bounded(op.Took)), 0})
	}
}
