package node

import (
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/wording"
)

// versus adds our figures and the kubelet's, side by side: the same algorithm against
// the same runtime.
func (n *node) versus() {
	look := n.Theme
	n.Section("Relist: ours, and the kubelet's own")
	k := evidence.Kubelet{Ping: evidence.Answer{Err: nobodyLooks}, Metrics: evidence.Answer{Err: nobodyLooks}}
	if n.report != nil {
		k = n.report.Kubelet
	}
	n.Line(text.Span{Width: labelWidth}, text.Say(look.Head, "PLEGTOP").In(versusWidth),
		text.Say(look.Head, pick(k.Metrics.OK, "KUBELET "+k.Version, "")))
	ours, theirs := n.ours(), n.theirs(&k)
	for i, name := range []string{"relists", "duration p50", "duration p99", "interval", "last good one", "events discarded"} {
		n.Line(text.Say(look.Dim, "  "+name).In(labelWidth), text.Say(look.Text, ours[i]).In(versusWidth), text.Say(look.Text, theirs[i]))
	}
	n.answer("kubelet ping", k.Ping)
	for _, more := range []struct {
		name string
		evidence.Answer
	}{{"kubelet healthz", k.Health}, {"kubelet sync loop", k.SyncLoop}} {
		if more.Asked && (more.Err == "" || more.Err != k.Metrics.Err) { // else it would say the same again
			n.answer(more.name, more.Answer)
		}
	}
	n.answer("kubelet metrics", k.Metrics)
	if diagnose.KubeletStill(&k) {
		n.tell("its relists", n.ill("no more than before for "+text.Age(k.StillFor)))
	}
}

// ago returns how long ago a list was made: never for the zero time.
func (n *node) ago(t time.Time) string {
	return pick(t.IsZero(), "never", wording.Fresh(max(0, n.At.Sub(t)))+" ago")
}

func (n *node) ours() [6]string {
	r := n.Relists
	took := func(d time.Duration, known bool) string { return pick(known, wording.Steady(d), "-") }
	return [6]string{
		text.Count(r.Count) + pick(r.Failed > 0, ", "+text.Count(r.Failed)+" failed", ""), took(r.P50, r.Count > 0), took(r.P99, r.Count > 0),
		took(r.Interval, r.Interval > 0), n.ago(n.Health.ListedAt), text.Count(n.Channel.Discarded),
	}
}

// theirs returns the kubelet's own, which are empty where it tells none: the lines below
// them say why.
func (n *node) theirs(k *evidence.Kubelet) [6]string {
	if !k.Metrics.OK {
		return [6]string{}
	}
	mean := pick(k.Interval.Count > 0, "mean "+wording.Steady(k.Interval.Mean)+", ", "")
	return [6]string{
		text.Count(k.Relist.Count), wording.Steady(k.Relist.P50), bounded(k.Relist), mean + "p99 " + bounded(k.Interval),
		pick(k.Evented(), "not told", n.ago(k.LastSeen)), text.Count(k.Discarded),
	}
}

// bounded returns the 99th percentile, and whether that is only its lower bound.
func bounded(t evidence.Timing) string { return pick(t.Beyond, ">", "") + wording.Steady(t.P99) }

// answer adds how one question to the kubelet went. That it gives no answer is
// evidence; that nobody asked is none.
func (n *node) answer(name string, a evidence.Answer) {
	said := n.dim(a.Err)
	switch {
	case !a.Asked && a.Err != "":
		said = n.missing(a.Err)
	case !a.Asked:
		said.Text = "not asked: " + pick(n.Source.Demo(), "demo", "--kubelet-metrics says where to ask")
	case a.OK:
		said = n.well(pick(a.Text != "", a.Text+", ", "") + "answered in " + text.Took(a.Took))
	case a.TimedOut:
		said = n.ill("took the connection and gave no answer in " + text.Took(a.Took))
	case a.Text != "":
		said = n.ill(a.Text)
	}
	n.tell(name, said)
}

// operations adds the kubelet's kinds of call to the runtime.
func (n *node) operations() {
	if n.report == nil || len(n.report.Kubelet.Operations) == 0 {
		return
	}
	look := n.Theme
	n.Section("The kubelet's calls to the runtime; one that hangs is not in it")
	n.Line(figures(look.Head, "OPERATION", callWidth, "COUNT", "ERRORS", "P50", "P99")...)
	for _, op := range n.report.Kubelet.Operations {
		row := figures(look.Text, op.Name, callWidth, text.Count(op.Count), strconv.FormatUint(op.Errors, 10), wording.Steady(op.Took.P50), bounded(op.Took))
		row[2].Style = pick(op.Errors > 0, look.Warn, look.Text)
		n.Line(row...)
	}
}
