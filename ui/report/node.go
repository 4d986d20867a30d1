package report

import (
	"cmp"
	"strconv"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Node returns what the node says of itself and what looking at it costs: who holds something
// up, the event sources, the kubelet's figures beside ours, the host. What is read where
// something hangs comes first while something does. OpensStream are the keys that open an
// event source.
func Node(o Form, s *engine.Snapshot, opensStream string, demo bool) []widget.Section {
	n := node{o, s, demo}
	rest := []widget.Section{n.streams(opensStream), n.versus(), n.cost(), n.host()}
	if r := s.Evidence; r != nil && r.Deep != nil {
		return append(Sources(o, s), rest...)
	}
	return append(rest, Sources(o, s)...)
}

// A node is what the sections of one are made of.
type node struct {
	Form
	*engine.Snapshot
	demo bool
}

const (
	nameWidth   = 18 // cells of the first column of a table
	callWidth   = 22 // of the name of an operation
	oursWidth   = 22 // of our figures beside the kubelet's
	figureWidth = 9

	nobodyLooks = "host inspection unavailable"
	unavailable = "not available: "
)

// missing is a row about what is not known, and why.
func missing(label, why string) widget.Row {
	return widget.Fact(label, widget.Quiet, unavailable+why)
}

// unseen is what stands under a heading of what nobody looks at.
var unseen = widget.Row{Mark: text.Span{Width: 2}, Level: widget.Quiet, Spans: []text.Span{{Text: unavailable + nobodyLooks}}}

// table adds figures behind names of w cells, under their heads.
func (n node) table(s *widget.Section, rows [][]text.Span, w int, head string, heads ...string) {
	columns := []text.Column{{Head: head, Width: w, Left: true}}
	for _, h := range heads {
		columns = append(columns, text.Column{Head: h, Width: figureWidth})
	}
	s.Lines(text.Figures(n.Theme.Head, columns, rows))
}

// cost tells what the programs take beside what we ask of the runtime, so that a person
// who changes the period sees what that does.
func (n node) cost() widget.Section {
	s := widget.Section{Title: "Cost"}
	s.Add(widget.Fact("our calls", widget.Plain, say.Cost(n.Snapshot)+", a relist every "+say.Period(n.Period)))
	s.Add(widget.Styled("recording", widget.Plain, theme.When(n.Recording.Ended != "", n.Theme.Warn, n.Theme.Text), say.Recording(n.Recording)))
	switch r := n.Evidence; {
	case r == nil:
		s.Add(missing("programs", nobodyLooks))
	case len(r.Usage) == 0:
		s.Add(missing("programs", cmp.Or(r.Processes.Missing, "none was found")))
	default:
		var rows [][]text.Span
		for _, u := range r.Usage {
			rows = append(rows, text.Each(n.Theme.Text, u.Name, percent(float64(u.CPU))+theme.When(u.Quota > 0, " of "+percent(u.Quota), ""), text.Bytes(u.Memory), strconv.Itoa(u.Threads), theme.When(u.PID > 0, strconv.Itoa(u.PID), "several")))
		}
		n.table(&s, rows, nameWidth, "PROGRAM", "CPU", "MEMORY", "THREADS", "PID")
	}
	return s
}

// percent returns a part of one core in percent; nothing where it is not known.
func percent(cores float64) string {
	return theme.When(cores < 0, "-", strconv.FormatFloat(cores*100, 'f', 1, 64)+"%")
}

// host tells of the node's pressure, disk and clock, and of what stands still on it.
func (n node) host() widget.Section {
	t, r, s := n.Theme, n.Evidence, widget.Section{Title: "Host"}
	if r == nil {
		s.Rows = []widget.Row{unseen}
		return s
	}
	n.pressure(&s, r.Pressure)
	s.Add(disk("disk", r.Disk, t))
	if r.State.Path != "" && (r.State.Missing != "" || diagnose.DiskLow(r.State) || r.State.ReadOnly != "") {
		s.Add(disk("state folder", r.State, t))
	}
	s.Add(clock(r.Clock, t))
	for _, stuck := range diagnose.StuckProcesses(r) {
		s.Add(widget.Fact("stuck", widget.Bad, stuck))
	}
	for _, d := range r.Devices {
		if diagnose.DeviceStill(d) {
			s.Add(widget.Fact("device", widget.Bad, d.Name+" has answered none of "+strconv.Itoa(d.InFlight)+" requests for "+text.Age(d.Still)))
		}
	}
	for _, l := range r.Limits {
		if diagnose.LimitNear(l) {
			in := theme.When(l.What == evidence.Memory, text.Bytes, text.Count)
			s.Add(widget.Styled("limit", widget.Plain, t.Warn, cmp.Or(l.Of, "the node")+" has "+in(l.Used)+" of "+in(l.Most)+" "+l.What))
		}
	}
	if r.Processes.Missing != "" {
		s.Add(missing("processes", r.Processes.Missing))
	}
	s.Add(widget.Fact("processes", widget.Quiet, r.Processes.Partial),
		widget.Fact("looked at", widget.Quiet, text.Age(max(0, n.At.Sub(r.At)))+" ago, in "+text.Took(r.Took)))
	return s
}

func (n node) pressure(s *widget.Section, p evidence.Pressure) {
	if p.Missing != "" {
		s.Add(missing("pressure", p.Missing))
		return
	}
	row := func(name string, of evidence.Stall) []text.Span {
		return text.Each(n.Theme.Text, name, percent(of.Some10/100), percent(of.Some60/100), percent(of.Full10/100), percent(of.Full60/100))
	}
	n.table(s, [][]text.Span{row("cpu", p.CPU), row("io", p.IO), row("memory", p.Memory)},
		nameWidth, "PRESSURE", "SOME 10s", "SOME 60s", "FULL 10s", "FULL 60s")
}

func disk(name string, d evidence.Disk, t *theme.Theme) widget.Row {
	if d.Missing != "" {
		return missing(name, d.Missing)
	}
	said := text.Bytes(d.Free) + " of " + text.Bytes(d.Total) + " free at " + d.Path
	if d.Total == 0 { // a picture has no figures
		said = d.Path + " is on " + d.Mount.Source + " (" + d.Mount.Type + ")"
	}
	if d.Inodes > 0 {
		said += ", " + text.Count(d.InodesUnused) + " of " + text.Count(d.Inodes) + " inodes"
	}
	if d.ReadOnly != "" {
		said += ", read-only: " + d.ReadOnly
	}
	return widget.Styled(name, widget.Plain, theme.When(diagnose.DiskLow(d) || d.ReadOnly != "", t.Warn, t.Text), said)
}

func clock(c evidence.Clock, t *theme.Theme) widget.Row {
	switch {
	case c.Steps > 0:
		steps := theme.When(c.Steps == 1, " step, of ", " steps, the largest of ") + theme.When(c.Step < 0, "-", "")
		return widget.Styled("clock", widget.Plain, t.Warn, strconv.Itoa(c.Steps)+steps+text.Took(c.Step.Abs())+", "+text.Age(c.StepAge)+" ago")
	case c.Watched == 0:
		return widget.Fact("clock", widget.Quiet, "not watched for long enough yet")
	}
	return widget.Fact("clock", widget.Plain, "no step in "+text.Age(c.Watched))
}
