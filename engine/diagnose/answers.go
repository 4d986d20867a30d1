package diagnose

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// failures returns how the lists, Status and Version failed last; nil for what did not.
func failures(s *engine.Snapshot) [3]*answers.Failure {
	return [...]*answers.Failure{s.Failure, s.StatusErr, s.VersionErr}
}

func (v *view) sums(op call.Operation) answers.Calls { return sums(v.Snapshot, op) }

func sums(s *engine.Snapshot, op call.Operation) answers.Calls {
	for i := range s.Calls {
		if s.Calls[i].Op == op {
			return s.Calls[i]
		}
	}
	return answers.Calls{Op: op}
}

// probeTime returns how long the last probe of an operation took that was answered
// well after a moment.
func (v *view) probeTime(op call.Operation, since time.Time) (time.Duration, bool) {
	for i := range v.Probes {
		if p := &v.Probes[i]; p.Op == op && p.Err == nil && p.At.After(since) {
			return p.Took, true
		}
	}
	return 0, false
}

// answered reports whether a call of an operation came back after a moment,
// with whatever answer.
func (v *view) answered(op call.Operation, since time.Time) bool {
	if sums := v.sums(op); sums.LastOK.After(since) || sums.LastErrAt.After(since) && isAnswer(sums.LastErr) {
		return true
	}
	for i := range v.Probes {
		if p := &v.Probes[i]; p.Op == op && p.At.After(since) && isAnswer(p.Err) {
			return true
		}
	}
	return false
}

// isAnswer reports whether a call was answered by the runtime, if only with an
// error.
func isAnswer(err error) bool {
	return !errors.Is(err, call.ErrDeadline) && !errors.Is(err, call.ErrUnavailable) && !errors.Is(err, call.ErrCanceled)
}

// objectsAnswered reports whether any status of an object came back after a
// moment.
func (v *view) objectsAnswered(since time.Time) bool {
	if v.answered(call.PodSandboxStatus, since) || v.answered(call.ContainerStatus, since) {
		return true
	}
	w := v.Sweep
	return w != nil && !w.Began.Before(since) && w.Done > len(w.Hung)
}

// containersAnswered reports whether a list or an object's status came back after
// a moment.
func (v *view) containersAnswered(t time.Time) bool {
	return v.answered(call.ListPodSandbox, t) || v.answered(call.ListContainers, t) || v.objectsAnswered(t)
}

// answerTime returns how long an operation takes that was answered well after a
// moment: the probe's time where there is one, else half of all calls'.
func (v *view) answerTime(op call.Operation, since time.Time) (time.Duration, bool) {
	if int(op) < len(v.general) && v.hangs(op) {
		return 0, false
	}
	if took, ok := v.probeTime(op, since); ok {
		return took, true
	}
	if sums := v.sums(op); sums.LastOK.After(since) {
		return sums.P50, true
	}
	return 0, false
}

// meanwhile says which calls are answered while h hangs, and how fast; empty if
// none is known to be.
func (v *view) meanwhile(h *hang) string {
	var answers []string
	for _, op := range call.Operations() {
		if took, ok := v.answerTime(op, v.began(h)); ok {
			answers = append(answers, op.String()+" in "+span(took))
		}
	}
	if len(answers) == 0 {
		return ""
	}
	return "meanwhile answered: " + strings.Join(answers, ", ")
}

// early reports whether a call may hang because nothing at all is answered: it is
// out for so short a time that the probes, which tell, are out themselves. One
// bounded look has no probes, and asks for everything else anyway.
func (v *view) early(h *hang) bool {
	if !h.out || h.err != nil || v.Policy.Bounds().ProbeAfter == 0 || v.containersAnswered(h.Since) {
		return false
	}
	if v.answered(call.Status, h.Since) { // what is left to be known is whether another object is
		return h.Op.AboutObject() && h.took < answers.Hung+2*answers.Late && v.probing(call.Operation.AboutObject)
	}
	return h.took < answers.ProbesBegin || h.took < answers.Hung+answers.Late && v.probing(func(op call.Operation) bool { return op != call.GetContainerEvents })
}

// probing reports whether such a call is out that tells whether the runtime
// answers.
func (v *view) probing(such func(call.Operation) bool) bool {
	return slices.ContainsFunc(v.InFlight, func(f call.Flight) bool {
		return (f.By == call.ByProbe || f.By == call.ByStatusLoop) && such(f.Op)
	})
}
