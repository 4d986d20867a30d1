package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// idleMost is how long our own relist may take, and how old the last good list may be,
// where nothing is left to be desired: while a call hangs probes go out every 5 s and may
// take 8 s.
const idleMost = answers.FreshFor

// remembered takes down what the other parts know, as of each step: no step changes any of
// that twice.
type remembered struct {
	passive
	past.Keeper
	silence
	flips    int              // of the verdict
	report   *evidence.Report // the last look
	listedAt time.Time        // start of the last good list
	listBad  bool             // the last list failed
	status   uint64           // calls of Status that returned
	errors   uint64           // of calls about the whole runtime
	failedAt time.Time        // when the last of those failed that speak of it
	counted  past.Counts
}

func (r *remembered) fill(_ *machine, s *Snapshot) { s.Memory = r.Read() }

func (r *remembered) advance(m *machine) {
	if k := &m.kubelet; k.flips != r.flips {
		r.flips = k.flips
		r.Judged(k.healthy, k.since)
	}
	if m.evidence != r.report {
		r.report = m.evidence
		r.Looked(m.evidence, m.pods.running)
	}
	if sum := m.calls.sums.Of(call.Status); sum.Count != r.status {
		r.status = sum.Count
		if !sum.LastErrAt.After(sum.LastOK) {
			r.StatusTook(sum.Last)
		}
	}
	r.lists(m)
	r.outages(m)
	r.Idle(m.idle(), m.now)
}

// lists takes down what became of the lists of all pods.
func (r *remembered) lists(m *machine) {
	if bad := m.known.Failure != nil; bad != r.listBad {
		r.listBad = bad
		if bad {
			r.ListFailed(*m.known.Failure)
		} else {
			r.ListCameBack(m.now)
		}
	}
	if at := m.core.ListedAt(); !at.Equal(r.listedAt) {
		r.listedAt = at
		size := func(op call.Operation) uint64 { return m.calls.sums.Of(op).LastResponseBytes }
		r.Listed(past.ListSizes{At: m.now, Sandboxes: size(call.ListPodSandbox), Containers: size(call.ListContainers)})
	}
}

// outages takes down when the runtime goes away, and when it is back: when a list or
// Status is answered, and the last of each was.
func (r *remembered) outages(m *machine) {
	was := r.counted
	failures, answered := uint64(0), time.Time{}
	r.counted.All = 0
	for op := range call.PodSandboxStatus {
		sum := m.calls.sums.Of(op)
		failures, r.counted.All = failures+sum.Errors, r.counted.All+sum.Count
		if sum.Op != call.Version {
			answered = latest(answered, sum.LastOK)
		}
	}
	if failures != r.errors {
		r.errors = failures
		r.counted.Failed = m.calls.sums.FoundNobody()
	}
	switch {
	case r.counted.Failed > was.Failed:
		r.failedAt = m.now
		r.WentAway(m.now, was)
	case answered.After(r.failedAt) && m.known.Failure == nil && m.known.StatusErr == nil:
		r.IsThere()
	}
	r.Counted(r.counted)
}

// inspected takes down the end of an inspection of a pod, which may be nil. One that had
// failed for want of a runtime, or with an answer of its own, may have done so by chance.
func (r *remembered) inspected(m *machine, p *Pod, err error) {
	if err != nil || p == nil || p.Failure == nil {
		return
	}
	was := p.Failure
	if errors.Is(was.Err, call.ErrCanceled) || errors.Is(was.Err, call.ErrDeadline) && was.Took() >= answers.Late {
		return
	}
	r.Recovered(m.now)
}

// idle reports whether our own relists leave nothing to be desired: neither the last one
// nor the one under way is long.
func (m *machine) idle() bool {
	listed := m.core.ListedAt()
	return !m.pause.on && m.kubelet.healthy && m.known.Failure == nil && !listed.IsZero() && m.now.Sub(listed) <= idleMost && m.relists.lastTook <= idleMost
}

// running yields the containers that are listed as running.
func (t *pods) running(yield func(id string) bool) {
	for _, p := range t.byUID {
		seen := p.Seen()
		for i := range seen.Containers {
			if c := &seen.Containers[i]; c.State == pleg.Running && !yield(c.ID) {
				return
			}
		}
	}
}

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
		last = latest(last, at)
	}
	return last
}

// hears takes in an answer, before whoever wanted it does. All that is asked by one who
// looks once counts as asked at one moment: nothing comes back then.
func (r *remembered) hears(m *machine, a *answer) {
	ranOut := errors.Is(a.err, call.ErrDeadline)
	good := a.err == nil || errors.Is(a.err, call.ErrNotFound)
	late := m.isLate(a.Op, a.took)
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

// isLate reports whether a call that takes so long takes longer than such calls do.
func (m *machine) isLate(op call.Operation, took time.Duration) bool {
	return took >= answers.Late && took >= m.table(m.now).TwiceUsual(op)
}

// failedInRow returns how often lists, Status and Version have failed in a row.
func (m *machine) failedInRow() (inRow [3]int) {
	for i, f := range m.known.Failures() {
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
	for i, f := range m.known.Failures() {
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
		if m.isLate(p.Op, m.now.Sub(p.Since)) {
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
