package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

// runtimeUnresponsive finds a runtime that answers nothing but perhaps Version,
// and one that answers all but Status or Version. The subject has an operation
// only in the latter case.
func runtimeUnresponsive(in Input) []Finding {
	r := read(in.Snapshot)
	if h, ok := r.silent(); ok {
		return []Finding{in.silentFinding(&r, h)}
	}
	var findings []Finding
	if r.slowsDown() {
		return nil
	}
	for _, op := range []call.Operation{call.Status, call.Version} {
		if r.hangs(op) {
			findings = append(findings, in.halfSilentFinding(&r, r.general[op]))
		}
	}
	return findings
}

// silent returns the call that has hung longest of a runtime that does not
// answer. It takes two kinds of call that hang: one that the runtime answers
// from memory, and one that is about its containers; and that nothing about
// containers was answered since.
func (r *reading) silent() (hang, bool) {
	if h, ok := r.fellSilent(); ok {
		return h, true
	}
	if r.slowsDown() {
		return hang{}, false
	}
	work, ok := r.list()
	if !ok && len(r.objects) > 0 {
		work, ok = r.objects[0], true
	}
	if !ok {
		return hang{}, false
	}
	for _, op := range []call.Operation{call.Version, call.Status} {
		if r.hangs(op) && !r.worksSince(later(r.began(r.general[op]), r.At.Add(-lately))) {
			return longest(work, r.general[op]), true
		}
	}
	if _, lists := r.list(); lists && r.twoPodsHang() && !r.objectsAnswered(later(r.began(work), r.At.Add(-lately))) {
		return work, true
	}
	return hang{}, false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func longest(a, b hang) hang {
	if b.Since.Before(a.Since) {
		return b
	}
	return a
}

// worksSince reports whether a list or an object's status came back after a
// moment.
func (r *reading) worksSince(t time.Time) bool {
	return r.answered(call.ListPodSandbox, t) || r.answered(call.ListContainers, t) || r.objectsAnswered(t)
}

// twoPodsHang reports whether objects of two pods hang: of one, they may share a
// shim, and that is no trouble of the runtime's.
func (r *reading) twoPodsHang() bool {
	for i := range r.objects {
		if r.objects[i].Pod != r.objects[0].Pod {
			return true
		}
	}
	return false
}

func (in Input) silentFinding(r *reading, h hang) Finding {
	f := Finding{
		ID: RuntimeUnresponsive, Severity: severity(h),
		Summary: fmt.Sprintf("no list and no status has come back for %s", r.silence(h)),
		Next: in.runtimeSteps(
			Step{Text: "does it answer crictl", Command: in.crictl("version")},
			Step{Text: "what it does; thousands of blocked goroutines mean a lock", Command: in.logs()},
		),
	}
	if r.hangs(call.Version) {
		f.Summary = fmt.Sprintf("no call has come back for %s, not even Version", r.silence(h))
	}
	if _, fell := r.fellSilent(); fell {
		f.Summary = fmt.Sprintf("the runtime fell silent: Status got no answer within %s, and no other call has come back", span(h.took))
		f.Evidence = append(f.Evidence, r.sweptUntil())
	}
	for op := range r.general {
		if g := r.general[op]; !g.Since.IsZero() {
			f.Evidence = append(f.Evidence, hangs(r, g))
		}
	}
	for i := range r.objects[:min(len(r.objects), 3)] {
		f.Evidence = append(f.Evidence, hangs(r, r.objects[i]))
	}
	since := later(r.began(h), r.At.Add(-lately))
	if took, ok := r.answerTime(call.Version, since); ok {
		f.Evidence = append(f.Evidence, "only Version is answered, in "+span(took))
	} else if took, ok := r.answerTime(call.Status, since); ok {
		f.Evidence = append(f.Evidence, "only Status is answered, in "+span(took))
	}
	f.Evidence = append(f.Evidence, lines(chain(r.Snapshot), in.daemon())...)
	return f
}

// silence says for how long nothing has come back; of a deadline shorter than a
// second, exactly.
func (r *reading) silence(h hang) string {
	if lasted := max(r.At.Sub(h.Since), h.took); lasted < time.Second {
		return span(lasted)
	}
	return going(r.At.Sub(h.Since))
}

// halfSilentFinding is about Status or Version alone.
func (in Input) halfSilentFinding(r *reading, h hang) Finding {
	f := Finding{
		ID: RuntimeUnresponsive, Severity: severity(h),
		Summary:  fmt.Sprintf("%v %s, while other calls are answered", h.Op, r.unanswered(h)),
		Subject:  Subject{Operation: h.Op.String()},
		Evidence: lines(hangs(r, h), r.meanwhile(h)),
		Next:     in.runtimeSteps(Step{Text: "does it hang for crictl, too", Command: in.crictl("info")}),
	}
	if h.Op == call.Version {
		f.Severity = Warning // the kubelet asks for it once, when it starts
		return f
	}
	f.Evidence = append(f.Evidence, lines(chain(r.Snapshot), in.pressure(), in.daemon())...)
	return f
}

// unanswered says for how long a call has had no answer.
func (r *reading) unanswered(h hang) string {
	switch since := r.At.Sub(h.Since); {
	case h.out:
		return "has had no answer for " + going(max(h.took, since))
	case h.inRow > 1:
		return "has had no answer for " + going(since)
	}
	return "got no answer within " + span(h.took)
}

// severity of a hang: critical when it is not just slow.
func severity(h hang) Severity {
	if h.sure() {
		return Critical
	}
	return Warning
}

// hangs says how long a call has been out, or when its deadline ended it.
func hangs(r *reading, h hang) string {
	what := h.Op.String()
	if aboutObject(h.Op) {
		what += " of " + object(h.Flight)
	}
	switch {
	case h.out && h.inRow > 0:
		return fmt.Sprintf("%s is out for %s, after %s that got no answer, since %s", what, going(h.took), count(h.inRow, "call"), clock(h.Since))
	case h.out:
		return fmt.Sprintf("%s is out for %s, since %s", what, going(h.took), clock(h.Since))
	case h.inRow > 1:
		return fmt.Sprintf("%s got no answer within %s, %d times in a row since %s", what, span(h.took), h.inRow, clock(h.Since))
	}
	return fmt.Sprintf("%s got no answer within %s, %s ago", what, span(h.took), going(r.At.Sub(h.Since)))
}

// chain says what the kubelet's own clock on Status makes of it.
func chain(s *engine.Snapshot) string {
	switch n := s.Node; {
	case n.RuntimeDown != "":
		return "the kubelet says: " + n.RuntimeDown
	case n.DownAt.After(s.At):
		return fmt.Sprintf("the kubelet says \"container runtime is down\" in %s unless a Status comes back", going(n.DownAt.Sub(s.At)))
	}
	return ""
}
