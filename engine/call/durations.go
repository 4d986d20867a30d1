package call

import "time"

// How long a call is out until it means something. A runtime whose calls usually take
// seconds gets more: see [Table.State].
const (
	// LateAfter is how long a call is out before the screen speaks of it and other calls
	// are probed. On a busy node the slowest of many thousand calls took an eighth of it.
	LateAfter = time.Second
	// HungAfter is how long a call is out before it counts as hanging: four thousand times
	// what a status call takes, and several times what it takes on a busy node.
	HungAfter = 2 * time.Second
	// HungListAfter is the same for a list of all pods. Its answer is large, and one that
	// has taken two seconds still comes back.
	HungListAfter = 3 * time.Second
	// ForetoldAfter is how long a call is out before we foretell what it will lead to. On a
	// busy machine a call of one or two seconds leads to nothing.
	ForetoldAfter = 3 * time.Second
	// CriticalAfter is how long the status of an object hangs to be critical: two relists,
	// and between them the time that a sweep gives each call. On a busy node no call is
	// late before that.
	CriticalAfter = 5 * time.Second
	// CriticalOnce is the same for a check, which must answer within 5 s: twice what a
	// call of ours gets, and a little more.
	CriticalOnce = 4100 * time.Millisecond
	// SurelyHangs is how long a list of all containers is out before single pods are
	// listed beside it. The list of a large node may take seconds, and a second list costs
	// the runtime as much again.
	SurelyHangs = 10 * time.Second
	// UsualMost bounds what counts as usual. A call that takes longer hangs, however often
	// it does so.
	UsualMost = 10 * time.Second
)

// How long an answer means something.
const (
	// FreshFor is how far back an answer, good or bad, still says how things are. While a
	// call hangs we probe every 5 s, and a round of probes may take 8 s.
	FreshFor = 20 * time.Second
	// Together is within which time answers arrive that were held up by the same thing.
	Together = 100 * time.Millisecond
	// StatusLasts is for how long the kubelet trusts a runtime after a good Status
	// (kubelet maxWaitForContainerRuntime).
	StatusLasts = 30 * time.Second
)

// How long our calls may take, and how often they are made.
const (
	// ProbeTimeout is what a call of ours gets: as long as it takes to say that it hangs.
	ProbeTimeout = HungAfter
	// StatusPeriod is from the end of one Status of the kubelet's to the next
	// (kubelet updateRuntimeUp).
	StatusPeriod = 5 * time.Second
	// ProbePeriod is from the start of a round of probes to that of the next. A call of
	// the relist that goes on hanging is no reason to ask more often than the kubelet does.
	ProbePeriod = StatusPeriod
	// OnceFor is how long a check may take: people wait for it.
	OnceFor = 20 * time.Second
)
