package engine

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
)

// idleMost is how long our own relist may take, and how old the last good list may be, if all is well. While a
// call hangs, probes go out every 5 s and may take 8 s.
const idleMost = answers.FreshFor

// memory notes what the diagnosis needs to know about the past.
type memory struct {
	past.Keeper
	silence
	Flips    int       // how often the verdict has changed
	ListBad  bool      // the last list failed
	Status   uint64    // how many calls of Status have returned
	Errors   uint64    // how many calls about the whole runtime have failed
	FailedAt time.Time // when a call about the whole runtime last found no runtime
	Current  past.Counts
	Gone     past.Gone // sandboxes that have left the lists lately
}

// remember notes what has changed since the last observation.
func (m *Model) remember() {
	r := &m.memory
	if h := &m.kubelet.PLEG; h.Flips != r.Flips {
		r.Flips = h.Flips
		r.Judged(h.Healthy, h.Since)
	}
	if sum := m.sums.Of(call.Status); sum.Count != r.Status {
		r.Status = sum.Count
		if !sum.LastErrAt.After(sum.LastOK) {
			r.StatusTook(sum.Last)
		}
	}
	r.lists(m)
	r.outages(m)
	r.Idle(m.idle(), m.now)
}

// lists notes whether lists of all pods begin to fail, or succeed again.
func (r *memory) lists(m *Model) {
	if bad := m.known.Failure != nil; bad != r.ListBad {
		r.ListBad = bad
		if bad {
			r.ListFailed(*m.known.Failure)
		} else {
			r.ListCameBack(m.now)
		}
	}
}

// outages notes when the runtime goes away, and when it is back. It is back when a list or Status is answered,
// and neither of them failed last.
func (r *memory) outages(m *Model) {
	was := r.Current
	failures, answered := uint64(0), time.Time{}
	r.Current.All = 0
	for op := range call.PodSandboxStatus {
		sum := m.sums.Of(op)
		failures, r.Current.All = failures+sum.Errors, r.Current.All+sum.Count
		if sum.Op != call.Version {
			answered = latest(answered, sum.LastOK)
		}
	}
	if failures != r.Errors {
		r.Errors = failures
		r.Current.Failed = m.sums.FoundNobody()
	}
	switch {
	case r.Current.Failed > was.Failed:
		r.FailedAt = m.now
		r.WentAway(m.now, was)
	case answered.After(r.FailedAt) && m.known.Failure == nil && m.known.StatusErr == nil:
		r.IsThere()
	}
	r.Counted(r.Current)
}

// recovered notes that the inspection of a pod succeeded after one that had failed with an answer, or because
// no runtime was there. That may be chance. p may be nil.
func (m *Model) recovered(p *Pod, err error) {
	if err != nil || p == nil || p.Failure == nil {
		return
	}
	if kind := call.KindOf(p.Failure.Err); kind != call.ErrCanceled && (kind != call.ErrDeadline || p.Failure.Took() < answers.Late) {
		m.memory.Recovered(m.now)
	}
}

// idle reports whether all is well with our own relists: neither the last one nor the one under way is long.
func (m *Model) idle() bool {
	listed := m.core.ListedAt()
	return !m.kubelet.Paused() && m.healthy() && m.known.Failure == nil && !listed.IsZero() && m.now.Sub(listed) <= idleMost && m.relists.LastTook <= idleMost
}

const (
	// ranOutMost is how many calls that ran out are remembered: two that have nothing to do with each other are
	// enough.
	ranOutMost = 16
	// goneForSure is how often in a row a call must have found no runtime, if the runtime comes and goes, so
	// that the next answer is a comeback.
	goneForSure = 3
)

// silence is what must be known of calls to decide whether the runtime answers nothing.
type silence struct {
	Heard  [call.GetContainerEvents]time.Time // the last good answer, by operation
	RanOut []call.Flight                      // the latest calls that ran out, oldest first
}

// last returns when an operation, or one that comes after it in the order of operations, was last answered
// well.
func (s *silence) last(first call.Operation) (last time.Time) {
	for _, at := range s.Heard[first:] {
		last = latest(last, at)
	}
	return last
}

// heard takes in the end of a call, before anybody else does. In an examination all calls count as made at one
// moment, so there is no comeback.
func (m *Model) heard(a *answer) {
	r := &m.memory
	ran := a.Err != nil && a.Err.Kind == call.ErrDeadline
	good := a.Err == nil || a.Err.Kind == call.ErrNotFound
	late := m.isLate(a.Flight.Op, a.took())
	if id := a.Flight.ID; a.Flight.Op.AboutObject() && (late && (good || ran) || good && r.HasHung(id, a.At)) {
		r.Hung(id, a.At)
	}
	switch {
	case m.start.Once:
	case ran && late:
		r.RanOut = append(r.RanOut, a.Flight)
		r.RanOut = r.RanOut[max(0, len(r.RanOut)-ranOutMost):]
	case good:
		if a.Flight.Op != call.Version && (m.wasGone() || r.wasSilent(m, a, late) && !m.onDeadDisk()) {
			r.CameBack(past.Comeback{At: a.At, InRow: m.failedInRow()})
		}
		r.Heard[a.Flight.Op] = a.At
	}
}

// onDeadDisk reports whether the disk of the runtime's data answers nothing, by the last look. Then an answer
// that comes late needed no disk, and the other calls still wait for the disk.
func (m *Model) onDeadDisk() bool {
	if m.evidence == nil {
		return false
	}
	around := evidence.LookAround(m.evidence, false)
	return around.StoreSign() == evidence.DeviceDead
}

// isLate reports whether a call that took so long took longer than calls of its operation usually do.
func (m *Model) isLate(op call.Operation, took time.Duration) bool {
	return took >= answers.Late && took >= m.table().TwiceUsual(op)
}

// failedInRow returns how often lists, Status and Version have failed in a row.
func (m *Model) failedInRow() (inRow [3]int) {
	for i, f := range m.known.Failures() {
		if f != nil {
			inRow[i] = f.InRow
		}
	}
	return inRow
}

// wasGone reports whether a list, Status or Version found no runtime, or both a list and Status failed at once,
// and nothing was answered since. If a runtime comes and goes, one or two failures do not count.
func (m *Model) wasGone() bool {
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
			if i == 2 { // an error of Version alone does not count
				continue
			}
			failed++
		}
		inRow, since = max(inRow, f.InRow), latest(since, f.First)
	}
	r := &m.memory
	return (away || failed == 2) && !r.last(call.Status).After(since) && (inRow >= goneForSure || !r.ComesAndGoes(m.now))
}

// wasSilent reports whether an answer is the first one after a silence. That is so if two calls that have
// nothing to do with each other have waited, and nothing was answered since they began. It is also so if the
// answer itself was late, and no other answer came in the meantime. While no status is answered, the answer of
// a list does not end the silence. A Status that came at once does not end it either.
func (r *memory) wasSilent(m *Model, a *answer, late bool) bool {
	waited := slices.Clone(r.RanOut)
	for _, f := range m.calls.Flights() {
		if m.isLate(f.Op, m.now.Sub(f.Since)) {
			waited = append(waited, f)
		}
	}
	if late {
		waited = append(waited, a.Flight)
	} else if a.Flight.Op == call.Status {
		return false
	}
	first := call.PodSandboxStatus
	if slices.ContainsFunc(waited, func(f call.Flight) bool {
		return !f.Op.AboutObject() && f.Since.After(r.last(call.ListPodSandbox))
	}) {
		first = call.ListPodSandbox
	} else if !a.Flight.Op.AboutObject() {
		return false
	}
	waited = slices.DeleteFunc(waited, func(f call.Flight) bool {
		return f.Op < call.ListPodSandbox && first.AboutObject() || !f.Since.After(r.last(first))
	})
	unrelated := slices.ContainsFunc(waited, func(f call.Flight) bool {
		return f.Op >= call.ListPodSandbox && slices.ContainsFunc(waited, func(o call.Flight) bool { return o.Pod != f.Pod || o.Op < call.ListPodSandbox })
	})
	return unrelated || late && !r.last(call.Status).After(a.Flight.Since)
}
