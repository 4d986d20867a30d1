package ui

import (
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A nodeSheet is the screen of the node: whether its kubelet would call it
// ready, what that kubelet says of itself, and what all of it costs.
type nodeSheet struct {
	sheet
	open bool
}

const (
	linkWidth   = 20 // of the names in the health chain and elsewhere
	versusWidth = 22 // of a column that compares ours with the kubelet's
	figureWidth = 9  // of a column of figures
	callWidth   = 24 // of an operation's name
)

// observe brings the sheet up to date with s, for w cells.
func (n *nodeSheet) observe(b pen, s *engine.Snapshot, from Source, w int) {
	if !n.open {
		return
	}
	r := s.Evidence
	n.anew()
	n.chain(b, s, w)
	n.versus(b, s, r, from, w)
	n.cost(b, s, r)
	n.host(b, s, r, w)
	n.operations(b, r)
	n.clamp(n.size())
}

// openNode shows the node, or goes back from it.
func (m *Model) openNode() {
	m.node.open = !m.node.open
	m.node.scroll = scroll{}
	m.refresh()
}

// missing says that something is not there, and why.
func missing(why string) string { return "not available: " + why }

const nobodyLooks = "nobody looks at the node here"

// cost adds what the programs take beside what we ask of the runtime, so that a
// person who changes the period sees what that does.
func (n *nodeSheet) cost(b pen, s *engine.Snapshot, r *evidence.Report) {
	n.section(b, "Cost")
	n.add(slot{b.Dim, "  our calls", linkWidth}, slot{b.Text, cost(s) + ", a relist every " + s.Period.String(), 0})
	switch {
	case r == nil:
		n.add(slot{b.Dim, "  programs", linkWidth}, slot{b.Dim, missing(nobodyLooks), 0})
		return
	case len(r.Usage) == 0:
		n.add(slot{b.Dim, "  programs", linkWidth}, slot{b.Dim, missing(pick(r.Processes.Missing != "", r.Processes.Missing, "none was found")), 0})
		return
	}
	n.figures(b, b.Head, "PROGRAM", linkWidth, "CPU", "MEMORY", "THREADS", "PID")
	for _, u := range r.Usage {
		n.figures(b, b.Text, u.Name, linkWidth, percent(u.CPU), text.Bytes(u.Memory), strconv.Itoa(u.Threads), pick(u.PID > 0, strconv.Itoa(u.PID), "several"))
	}
}

// figures adds a line of a table: a name, and figures at the right of their columns.
func (n *nodeSheet) figures(b pen, st theme.Style, name string, w int, figures ...string) {
	all := []slot{{st, "  " + name, w}}
	for i, f := range figures {
		f = string(text.AppendRight(nil, f, figureWidth-1, b.Symbols.Ellipsis))
		all = append(all, slot{st, f, pick(i < len(figures)-1, figureWidth, 0)})
	}
	n.add(all...)
}

// percent returns a part of one core in percent; nothing where it is not known.
func percent(cores float64) string {
	if cores < 0 {
		return "-"
	}
	return strconv.FormatFloat(cores*100, 'f', 1, 64) + "%"
}

// host adds the node's pressure, disk and clock.
func (n *nodeSheet) host(b pen, s *engine.Snapshot, r *evidence.Report, w int) {
	n.section(b, "Host")
	if r == nil {
		n.add(slot{b.Dim, "  " + missing(nobodyLooks), 0})
		return
	}
	n.pressure(b, r.Pressure)
	n.disk(b, "disk", r.Disk)
	if r.State.Path != "" && (r.State.Missing != "" || isLow(r.State) || r.State.ReadOnly != "") {
		n.disk(b, "state folder", r.State)
	}
	n.clock(b, r.Clock)
	for _, stuck := range diagnose.StuckProcesses(r) {
		now := ill(b, stuck)
		n.paragraph(now.style, now.text, w, slot{b.Dim, "  stands still", linkWidth})
	}
	for _, d := range r.Devices.Busy {
		if d.Still >= stillLong {
			now := ill(b, d.Name+" has answered none of "+strconv.Itoa(d.InFlight)+" requests for "+text.Age(d.Still))
			n.add(slot{b.Dim, "  device", linkWidth}, slot{now.style, now.text, 0})
		}
	}
	for _, l := range r.Limits {
		in := pick(l.What == evidence.Memory, text.Bytes, text.Count)
		if l.Used*2 >= l.Most && l.What != evidence.CPUPeriods {
			n.add(slot{b.Dim, "  limit", linkWidth}, slot{b.Warn, pick(l.Of == "", "the node", l.Of) + " has " + in(l.Used) + " of " + in(l.Most) + " " + l.What, 0})
		}
	}
	for _, why := range []string{r.Processes.Missing, r.Processes.Partial} {
		if why != "" {
			n.paragraph(b.Dim, pick(why == r.Processes.Missing, missing(why), why), w, slot{b.Dim, "  processes", linkWidth})
		}
	}
	n.add(slot{b.Dim, "  looked at", linkWidth}, slot{b.Dim, lookedAt(s, r), 0})
}

// lookedAt says how old a report is, and what it took.
func lookedAt(s *engine.Snapshot, r *evidence.Report) string {
	return text.Age(max(0, s.At.Sub(r.At))) + " ago, in " + text.Took(r.Took)
}

func (n *nodeSheet) pressure(b pen, p evidence.Pressure) {
	if p.Missing != "" {
		n.add(slot{b.Dim, "  pressure", linkWidth}, slot{b.Dim, missing(p.Missing), 0})
		return
	}
	n.figures(b, b.Head, "PRESSURE", linkWidth, "SOME 10s", "SOME 60s", "FULL 10s", "FULL 60s")
	for _, of := range []struct {
		name string
		evidence.Stall
	}{{"cpu", p.CPU}, {"io", p.IO}, {"memory", p.Memory}} {
		n.figures(b, b.Text, of.name, linkWidth, percent(of.Some10/100), percent(of.Some60/100), percent(of.Full10/100), percent(of.Full60/100))
	}
}

// lowDisk is the part of a disk, in percent, below which what is free on it is
// worth a look: the kubelet begins to evict at 10 % of its own.
const lowDisk = 10

func isLow(d evidence.Disk) bool {
	return d.Free*100 < d.Total*lowDisk || d.InodesUnused*100 < d.Inodes*lowDisk
}

func (n *nodeSheet) disk(b pen, name string, d evidence.Disk) {
	if d.Missing != "" {
		n.add(slot{b.Dim, "  " + name, linkWidth}, slot{b.Dim, missing(d.Missing), 0})
		return
	}
	out := text.Bytes(d.Free) + " of " + text.Bytes(d.Total) + " free at " + d.Path
	if d.Inodes > 0 {
		out += ", " + text.Count(d.InodesUnused) + " of " + text.Count(d.Inodes) + " inodes"
	}
	if d.ReadOnly != "" {
		out += ", read-only: " + d.ReadOnly
	}
	n.add(slot{b.Dim, "  " + name, linkWidth}, slot{pick(isLow(d) || d.ReadOnly != "", b.Warn, b.Text), out, 0})
}

func (n *nodeSheet) clock(b pen, c evidence.Clock) {
	st, out := b.Text, "no step in "+text.Age(c.Watched)
	switch {
	case c.Steps > 0:
		st, out = b.Warn, strconv.Itoa(c.Steps)+pick(c.Steps == 1, " step, of ", " steps, the largest of ")+pick(c.Step < 0, "-", "")+text.Took(c.Step.Abs())+", "+text.Age(c.StepAge)+" ago"
	case c.Watched == 0:
		st, out = b.Dim, "not watched for long enough yet"
	}
	n.add(slot{b.Dim, "  clock", linkWidth}, slot{st, out, 0})
}

// versus adds our figures and the kubelet's, side by side: the same algorithm
// against the same runtime.
func (n *nodeSheet) versus(b pen, s *engine.Snapshot, r *evidence.Report, from Source, w int) {
	n.section(b, "Relist: ours, and the kubelet's own")
	if r == nil {
		r = &evidence.Report{Kubelet: evidence.Kubelet{Ping: evidence.Answer{Err: nobodyLooks}, Metrics: evidence.Answer{Err: nobodyLooks}}}
	}
	k := &r.Kubelet
	n.add(slot{b.Head, "", linkWidth}, slot{b.Head, "PLEGTOP", versusWidth}, slot{b.Head, pick(k.Metrics.OK, "KUBELET "+k.Version, ""), 0})
	ours, theirs := ourFigures(s), kubeletFigures(s, k)
	for i, name := range []string{"relists", "duration p50", "duration p99", "interval", "last good one", "events discarded"} {
		n.add(slot{b.Dim, "  " + name, linkWidth}, slot{b.Text, ours[i], versusWidth}, slot{b.Text, theirs[i], 0})
	}
	n.answer(b, "kubelet ping", k.Ping, from, w)
	for _, more := range []struct {
		name string
		evidence.Answer
	}{{"kubelet healthz", k.Health}, {"kubelet sync loop", k.SyncLoop}} {
		if more.Asked && (more.Err == "" || more.Err != k.Metrics.Err) { // else it would say the same again
			n.answer(b, more.name, more.Answer, from, w)
		}
	}
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
		steady(r.P50), steady(r.P99), pick(r.Interval > 0, steady(r.Interval), "-"), last, text.Count(s.Channel.Discarded),
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
		text.Count(k.Relist.Count), steady(k.Relist.P50), bounded(k.Relist), pick(k.Interval.Count > 0, "mean "+steady(k.Interval.Mean)+", ", "") + "p99 " + bounded(k.Interval),
		last, text.Count(k.Discarded),
	}
}

// bounded returns the 99th percentile, and whether that is only its lower bound.
func bounded(t evidence.Timing) string { return pick(t.Beyond, ">", "") + steady(t.P99) }

// answer adds how one question to the kubelet went. That it gives no answer is
// evidence; that nobody asked is none.
func (n *nodeSheet) answer(b pen, name string, a evidence.Answer, from Source, w int) {
	out := span{b.Dim, a.Err}
	switch {
	case !a.Asked && a.Err != "":
		out.text = missing(a.Err)
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
	n.figures(b, b.Head, "OPERATION", callWidth, "COUNT", "ERRORS", "P50", "P99")
	for _, op := range r.Kubelet.Operations {
		n.figures(b, b.Text, op.Name, callWidth, text.Count(op.Count), strconv.FormatUint(op.Errors, 10), steady(op.Took.P50), bounded(op.Took))
		if op.Errors > 0 {
			n.lines[len(n.lines)-1][2].style = b.Warn
		}
	}
}
