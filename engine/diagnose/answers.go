package diagnose

import (
	"errors"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

// pass is how long an engine has run at most for its only relist to be taken for
// one look at a runtime: check ends within 20 s unless it is told otherwise.
const pass = 30 * time.Second

// onePass reports whether a snapshot is of one look at a runtime, all of whose
// calls are taken as made at the same time.
func onePass(s *engine.Snapshot) bool {
	return s.At.Sub(s.Started) < pass && s.Relists.Count <= 1
}

// began returns when the trouble of a hang began, for the question what was
// answered since. In one pass the calls before it count as well.
func (r *reading) began(h hang) time.Time {
	if onePass(r.Snapshot) {
		return r.Started
	}
	if h.swept && r.Sweep != nil && r.Sweep.Began.Before(h.Since) {
		return r.Sweep.Began
	}
	return h.Since
}

// answered reports whether a call of an operation came back after a moment,
// with whatever answer.
func (r *reading) answered(op call.Operation, since time.Time) bool {
	sums := r.sums(op)
	if sums.LastOK.After(since) || sums.LastErrAt.After(since) && isAnswer(sums.LastErr) {
		return true
	}
	for i := range r.Probes {
		if p := &r.Probes[i]; p.Op == op && p.At.After(since) && isAnswer(p.Err) {
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
func (r *reading) objectsAnswered(since time.Time) bool {
	if r.answered(call.PodSandboxStatus, since) || r.answered(call.ContainerStatus, since) {
		return true
	}
	w := r.Sweep
	return w != nil && !w.Began.Before(since) && w.Done > len(w.Hung)
}

// meanwhile says which calls are answered while h hangs, and how fast; empty if
// none is known to be.
func (r *reading) meanwhile(h hang) string {
	since := r.began(h)
	var answers []string
	for _, op := range call.Operations() {
		if took, ok := r.answerTime(op, since); ok {
			answers = append(answers, op.String()+" in "+span(took))
		}
	}
	if len(answers) == 0 {
		return ""
	}
	return "meanwhile answered: " + strings.Join(answers, ", ")
}

// answerTime returns how long an operation takes that was answered well after a
// moment: the probe's time where there is one, else half of all calls'.
func (r *reading) answerTime(op call.Operation, since time.Time) (time.Duration, bool) {
	if int(op) < len(r.general) && r.hangs(op) {
		return 0, false
	}
	for i := range r.Probes {
		if p := &r.Probes[i]; p.Op == op && p.Err == nil && p.At.After(since) {
			return p.Took, true
		}
	}
	if sums := r.sums(op); sums.LastOK.After(since) {
		return sums.P50, true
	}
	return 0, false
}

// others says which other calls that are about the whole runtime hang as well.
func (r *reading) others(not call.Operation) string {
	var hangs []string
	for op := range r.general {
		if op := call.Operation(op); op != not && r.hangs(op) {
			hangs = append(hangs, op.String()+" for "+going(r.general[op].took))
		}
	}
	if len(hangs) == 0 {
		return ""
	}
	return "hangs as well: " + strings.Join(hangs, ", ")
}

// lines drops the lines that are empty, since there was nothing to say.
func lines(all ...string) []string {
	kept := all[:0]
	for _, line := range all {
		if line != "" {
			kept = append(kept, line)
		}
	}
	return kept
}

// object names what a call is about: namespace/pod container.
func object(f engine.Flight) string {
	pod := f.Pod.String()
	if pod == "" {
		pod = "a pod without a name"
	}
	switch {
	case f.Op == call.ContainerStatus && f.Container != "":
		return pod + " " + f.Container
	case f.Op == call.ContainerStatus && f.ID != "":
		return pod + " container " + f.ID
	}
	return pod
}
