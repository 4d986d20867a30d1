package engine

import (
	"errors"
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
const idleMost = 20 * time.Second

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
	if bad := m.relists.failure != nil; bad != r.listBad {
		r.listBad = bad
		if !bad {
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
		if sum.Op != call.Version && sum.LastOK.After(answered) {
			answered = sum.LastOK
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
	case answered.After(r.failedAt) && m.relists.failure == nil && m.status.failure == nil:
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
	return !m.pause.on && m.kubelet.healthy && m.relists.failure == nil && !listed.IsZero() && m.now.Sub(listed) <= idleMost && m.relists.lastTook <= idleMost
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
