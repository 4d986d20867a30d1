package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// asking returns the subject of a finding about a call.
func asking(c call.Flight) Subject { return Subject{c.Op.String(), c.Object()} }

// lasted returns for how long a call has had no answer, or how long the last attempt went without one.
func (f *Facts) lasted(h *answers.Hang) time.Duration { return max(h.Took, f.at().Sub(h.Since)) }

// crictlVerbs are the subcommands of crictl that make a call.
var crictlVerbs = map[call.Operation]string{
	call.ListPodSandbox: "pods", call.ListContainers: "ps -a", call.PodSandboxStatus: "inspectp", call.ContainerStatus: "inspect",
}

// silentFor returns in words for how long there has been no answer. For a deadline shorter than a second it returns the
// exact time.
func (f *Facts) silentFor(h *answers.Hang) string {
	if lasted := f.lasted(h); lasted < time.Second {
		return span(lasted)
	}
	return going(f.at().Sub(h.Since))
}

// severity returns the severity of a hang: critical when it goes on. A single hang of two or three seconds is over
// before anybody can look, and holds up a relist no longer than many changed pods do. Until one call about the whole
// runtime has been answered, nobody knows how long that takes: then we wait twice as long, unless nothing else is
// answered either. check looks only once, so it does not wait.
func (f *Facts) severity(h *answers.Hang) Severity {
	lasted, wait := f.lasted(h), f.Snapshot.Policy.HungLong()
	if h.Swept && h.InRow < 2 {
		lasted = h.Took // nobody has asked since
	}
	if l := f.List(); l != nil && h.Op.AboutObject() {
		lasted = max(lasted, l.Took) // the list may wait for this object
	}
	if !h.Op.AboutObject() && !f.Scope.Whole() && f.Sums(h.Op).LastOK.IsZero() {
		wait *= 2
	}
	if f.once() && (f.List() != nil || !h.Op.AboutObject()) {
		wait = 0 // nobody waits longer for a list than the time to find out what holds it up
	}
	if h.Sure && lasted >= wait {
		return Critical
	}
	return Warning
}

// failing returns the severity of calls that have failed since a moment. It is critical if they have failed for too
// long to be a restart of the runtime, or chance.
func (f *Facts) failing(since time.Time) Severity {
	if f.at().Sub(since) >= f.Snapshot.Policy.Bounds().FailingLong {
		return Critical
	}
	return Warning
}

// anyHangs reports whether any call hangs.
func (f *Facts) anyHangs() bool {
	for range f.EachHang {
		return true
	}
	return false
}

// itselfHangs reports whether a list, Status or Version hangs for sure.
func (f *Facts) itselfHangs() bool {
	return slices.ContainsFunc(f.General[:], func(h answers.Hang) bool { return !h.Since.IsZero() && h.Sure })
}

// silence returns in words how a call got no answer.
func (f *Facts) silence(h *answers.Hang) string {
	switch {
	case h.Out:
		return "got no answer for " + going(f.lasted(h))
	case h.InRow > 1:
		return "got no answer for " + going(f.at().Sub(h.Since))
	}
	return "got no answer within " + span(h.Took)
}

// hangLine returns a line about how long a call has been out, or when its deadline ended it.
func (f *Facts) hangLine(h *answers.Hang) line {
	v := Values{"operation": h.Op, "age": age(f.lasted(h)), "took": h.Took, "since": h.Since, "calls": many{h.InRow, "call"}, "n": h.InRow}
	if h.Op.AboutObject() {
		v["object"] = h.Object().String()
	}
	switch {
	case h.Out && h.InRow > 0:
		return lineOf("hang.out-again", v)
	case h.Out:
		v["age"] = age(h.Took)
		return lineOf("hang.out", v)
	case h.InRow > 1:
		return lineOf("hang.ended-again", v)
	}
	v["age"] = age(f.at().Sub(h.Since))
	return lineOf("hang.ended", v)
}

// meanwhile returns a line about the calls that are answered while h hangs, and how fast they are answered.
func (f *Facts) meanwhile(h *answers.Hang) line {
	var answered []string
	for _, op := range call.Operations() {
		if took, ok := f.AnswerTime(op, f.BeganAt(h)); ok {
			answered = append(answered, op.String()+" in "+span(took))
		}
	}
	return lineOf("meanwhile", Values{"answered": answered})
}

// refusalLines returns a line for each call that says how it fails.
func (f *Facts) refusalLines(all []*answers.Failure) (lines []line) {
	for _, e := range all {
		lines = append(lines, f.refusal(e))
	}
	return lines
}

// hangLines returns a line for each call that hangs: how long it has had no answer. It returns at most 2*nodeLinesMost.
func (f *Facts) hangLines() (lines []line) {
	for h := range f.EachHang {
		if len(lines) == 2*nodeLinesMost {
			break
		}
		lines = append(lines, f.hangLine(h))
	}
	return lines
}
