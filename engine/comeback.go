package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/past"
)

const (
	// ranOutMost is how many calls that ran out are known: two that have nothing to do with
	// each other are enough.
	ranOutMost = 16
	// goneForSure is how often in a row a call must have found nobody, on a runtime that
	// comes and goes, for the next answer to be a comeback.
	goneForSure = 3
)

// silence is what has to be known of calls to tell whether the runtime answers nothing.
type silence struct {
	heard  [call.GetContainerEvents]time.Time // the last good answer, by operation
	ranOut []call.Flight                      // calls of late, oldest first
}

// last returns when an operation, or one that stands after it, was last answered well.
func (s *silence) last(first call.Operation) (last time.Time) {
	for _, at := range s.heard[first:] {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// hears takes in an answer, before whoever wanted it does. All that is asked by one who
// looks once counts as asked at one moment: nothing comes back then.
func (r *remembered) hears(m *machine, a *answer) {
	ranOut := errors.Is(a.err, call.ErrDeadline)
	good := a.err == nil || errors.Is(a.err, call.ErrNotFound)
	late := m.isLateFor(a.Op, a.took)
	if a.Op.AboutObject() && (late && (good || ranOut) || good && r.HasHung(a.ID, a.at)) {
		r.Hung(a.ID, a.at)
	}
	switch {
	case m.policy.Once:
	case ranOut && late:
		r.ranOut = append(r.ranOut, a.Flight)
		r.ranOut = r.ranOut[max(0, len(r.ranOut)-ranOutMost):]
	case good:
		if a.Op != call.Version && (m.wasGone() || r.wasSilent(m, a, late)) {
			r.CameBack(past.Comeback{At: a.at, InRow: m.failedInRow()})
		}
		r.heard[a.Op] = a.at
	}
}

// isLateFor reports whether a call that takes so long takes longer than such calls do.
func (m *machine) isLateFor(op call.Operation, took time.Duration) bool {
	if took < answers.Late {
		return false
	}
	usual := m.calls.sums.Half(op)
	if op.IsList() {
		usual = max(usual, m.relists.usual())
	}
	return took >= 2*min(usual, answers.UsualMost)
}

func (m *machine) failures() [3]*answers.Failure {
	return [...]*answers.Failure{m.relists.failure, m.status.failure, m.status.versionErr}
}

// failedInRow returns how often lists, Status and Version have failed in a row.
func (m *machine) failedInRow() (inRow [3]int) {
	for i, f := range m.failures() {
		if f != nil {
			inRow[i] = f.InRow
		}
	}
	return inRow
}

// wasGone reports whether a list, Status or Version found nobody there, or both a list and
// Status failed at once, and nothing was answered since. That a runtime which comes and
// goes fails once or twice is no such thing.
func (m *machine) wasGone() bool {
	var since time.Time
	inRow, failed, away := 0, 0, false
	for i, f := range m.failures() {
		if f == nil {
			continue
		}
		switch call.KindOf(f.Err) {
		case call.ErrUnavailable, call.ErrSilent:
			away = true
		case call.ErrDeadline, call.ErrTooLarge, call.ErrCanceled, call.ErrUnreadable:
			continue
		default:
			if i == 2 { // of Version alone
				continue
			}
			failed++
		}
		inRow, since = max(inRow, f.InRow), latest(since, f.First)
	}
	r := &m.memory
	return (away || failed == 2) && !r.last(call.Status).After(since) && (inRow >= goneForSure || !r.ComesAndGoes(m.now))
}

// wasSilent reports whether an answer is the first after a silence. Two calls that have
// nothing to do with each other must have waited, and nothing been answered since they
// began; or the answer was late itself, and nothing else came meanwhile that tells whether
// others are answered. While no status is answered, what lists say ends nothing; nor does
// a Status that came at once.
func (r *remembered) wasSilent(m *machine, a *answer, late bool) bool {
	waited := slices.Clone(r.ranOut)
	for _, p := range m.calls.out {
		if m.isLateFor(p.Op, m.now.Sub(p.Since)) {
			waited = append(waited, p.Flight)
		}
	}
	if late {
		waited = append(waited, a.Flight)
	} else if a.Op == call.Status {
		return false
	}
	first := call.PodSandboxStatus
	if slices.ContainsFunc(waited, func(f call.Flight) bool {
		return !f.Op.AboutObject() && f.Since.After(r.last(call.ListPodSandbox))
	}) {
		first = call.ListPodSandbox
	} else if !a.Op.AboutObject() {
		return false
	}
	waited = slices.DeleteFunc(waited, func(f call.Flight) bool {
		return f.Op < call.ListPodSandbox && first.AboutObject() || !f.Since.After(r.last(first))
	})
	unrelated := slices.ContainsFunc(waited, func(f call.Flight) bool {
		return f.Op >= call.ListPodSandbox && slices.ContainsFunc(waited, func(o call.Flight) bool { return o.Pod != f.Pod || o.Op < call.ListPodSandbox })
	})
	return unrelated || late && !r.last(call.Status).After(a.Since)
}
