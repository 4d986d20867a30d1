package node

import (
	"cmp"
	"strconv"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/wording"
)

// cost adds what the programs take beside what we ask of the runtime, so that a person
// who changes the period sees what that does.
func (n *node) cost() {
	look := n.Theme
	n.Section("Cost")
	n.say("our calls", look.Text, wording.Cost(n.Snapshot)+", a relist every "+wording.Period(n.Period))
	switch r := n.report; {
	case r == nil:
		n.tell("programs", n.missing(nobodyLooks))
	case len(r.Usage) == 0:
		n.tell("programs", n.missing(cmp.Or(r.Processes.Missing, "none was found")))
	default:
		n.Line(figures(look.Head, "PROGRAM", labelWidth, "CPU", "MEMORY", "THREADS", "PID")...)
		for _, u := range r.Usage {
			n.Line(figures(look.Text, u.Name, labelWidth, percent(float64(u.CPU)), text.Bytes(u.Memory), strconv.Itoa(u.Threads), pick(u.PID > 0, strconv.Itoa(u.PID), "several"))...)
		}
	}
}

// percent returns a part of one core in percent; nothing where it is not known.
func percent(cores float64) string {
	return pick(cores < 0, "-", strconv.FormatFloat(cores*100, 'f', 1, 64)+"%")
}

// host adds the node's pressure, disk and clock.
func (n *node) host() {
	look, r := n.Theme, n.report
	n.Section("Host")
	if r == nil {
		n.Paragraph(look.Dim, "  "+n.missing(nobodyLooks).Text)
		return
	}
	n.pressure(r.Pressure)
	n.disk("disk", r.Disk)
	if r.State.Path != "" && (r.State.Missing != "" || diagnose.DiskLow(r.State) || r.State.ReadOnly != "") {
		n.disk("state folder", r.State)
	}
	n.clock(r.Clock)
	for _, stuck := range diagnose.StuckProcesses(r) {
		n.tell("stands still", n.ill(stuck))
	}
	for _, d := range r.Devices {
		if diagnose.DeviceStill(d) {
			n.tell("device", n.ill(d.Name+" has answered none of "+strconv.Itoa(d.InFlight)+" requests for "+text.Age(d.Still)))
		}
	}
	for _, l := range r.Limits {
		if diagnose.LimitNear(l) {
			in := pick(l.What == evidence.Memory, text.Bytes, text.Count)
			n.say("limit", look.Warn, cmp.Or(l.Of, "the node")+" has "+in(l.Used)+" of "+in(l.Most)+" "+l.What)
		}
	}
	if r.Processes.Missing != "" {
		n.tell("processes", n.missing(r.Processes.Missing))
	}
	if r.Processes.Partial != "" {
		n.say("processes", look.Dim, r.Processes.Partial)
	}
	n.say("looked at", look.Dim, text.Age(max(0, n.At.Sub(r.At)))+" ago, in "+text.Took(r.Took))
}

func (n *node) pressure(p evidence.Pressure) {
	if p.Missing != "" {
		n.tell("pressure", n.missing(p.Missing))
		return
	}
	look := n.Theme
	n.Line(figures(look.Head, "PRESSURE", labelWidth, "SOME 10s", "SOME 60s", "FULL 10s", "FULL 60s")...)
	for _, of := range []struct {
		name string
		evidence.Stall
	}{{"cpu", p.CPU}, {"io", p.IO}, {"memory", p.Memory}} {
		n.Line(figures(look.Text, of.name, labelWidth, percent(of.Some10/100), percent(of.Some60/100), percent(of.Full10/100), percent(of.Full60/100))...)
	}
}

func (n *node) disk(name string, d evidence.Disk) {
	if d.Missing != "" {
		n.tell(name, n.missing(d.Missing))
		return
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
	n.say(name, pick(diagnose.DiskLow(d) || d.ReadOnly != "", n.Theme.Warn, n.Theme.Text), said)
}

func (n *node) clock(c evidence.Clock) {
	st, said := n.Theme.Text, "no step in "+text.Age(c.Watched)
	switch {
	case c.Steps > 0:
		steps := pick(c.Steps == 1, " step, of ", " steps, the largest of ") + pick(c.Step < 0, "-", "")
		st, said = n.Theme.Warn, strconv.Itoa(c.Steps)+steps+text.Took(c.Step.Abs())+", "+text.Age(c.StepAge)+" ago"
	case c.Watched == 0:
		st, said = n.Theme.Dim, "not watched for long enough yet"
	}
	n.say("clock", st, said)
}
