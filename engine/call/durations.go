package call

import "time"

// How long a call must be out to mean something. A runtime whose calls usually take seconds
// gets more time: see [Table.State].
const (
	// LateAfter is how long a call is out before the screen speaks of it and other calls are
	// probed. On a busy node the slowest of many thousand calls took an eighth of that.
	LateAfter = time.Second
	// HungAfter is how long a call is out before it counts as hanging: four thousand times
	// what a status call takes, and several times what it takes on a busy node.
	HungAfter = 2 * time.Second
	// HungListAfter is the same for a list. Its answer may be large, and a list that has
	// taken two seconds still comes back.
	HungListAfter = 3 * time.Second
	// ForetoldAfter is how long a call is out before we foretell its effect. On a busy machine a
	// call of one or two seconds has no effect.
	ForetoldAfter = 3 * time.Second
	// CriticalAfter is how long the status call of an object must hang to be critical: two relists,
	// and between them the time that a sweep gives each call. On a busy node no call is late before
	// that.
	CriticalAfter = 5 * time.Second
	// CriticalOnce is the same for a check, which must answer within 5 s. It is a little more than
	// twice ProbeTimeout.
	CriticalOnce = 4100 * time.Millisecond
	// SurelyHangs is how long a list of all containers is out before single pods are listed at the
	// same time. The list of a large node may take seconds, and a second list costs the runtime as
	// much again.
	SurelyHangs = 10 * time.Second
	// UsualMost bounds what counts as usual. A call that takes longer hangs, however often
	// it does so.
	UsualMost = 10 * time.Second
)

// How long an answer means something.
const (
	// FreshFor is how old an answer, good or bad, may be and still describe the present. While a
	// call hangs we probe every 5 s, and a round of probes may take 8 s.
	FreshFor = 20 * time.Second
	// Together is the longest time between answers that the same fault has held up.
	Together = 100 * time.Millisecond
	// StatusLasts is how long the kubelet trusts a runtime after a good Status (kubelet
	// maxWaitForContainerRuntime).
	StatusLasts = 30 * time.Second
)

// How long our calls may take, and how often they are made.
const (
	// ProbeTimeout is the timeout of a call of ours. After that time we can say that it hangs.
	ProbeTimeout = HungAfter
	// StatusPeriod is the time from the end of one Status call of the kubelet to the next (kubelet
	// updateRuntimeUp).
	StatusPeriod = 5 * time.Second
	// ProbePeriod is the time from the start of one round of probes to the start of the next. While
	// a call of the relist hangs, we ask no more often than the kubelet does.
	ProbePeriod = StatusPeriod
	// OnceFor is how long a check may take: people wait for it.
	OnceFor = 20 * time.Second
)
