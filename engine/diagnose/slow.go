package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// slowCall is what half of the calls must take at least for a runtime to be
	// slow: fifty times what they take on a real node, and enough to make the
	// first relist of 110 pods last for half a minute.
	slowCall = 100 * time.Millisecond
	// slowObjects is the same where only status calls are slow.
	slowObjects = 500 * time.Millisecond
	// slowSample is how many status calls must have been made to speak of half
	// of them, and slowRelists how many relists of late are looked at.
	slowSample  = 3
	slowRelists = 5
)

// runtimeSlow finds a runtime that answers every kind of call, and each late.
func runtimeSlow(in Input) []Finding {
	r := read(in.Snapshot)
	if r.anyHangs() {
		return nil
	}
	slow, all := r.slowOperations()
	refused := r.Sweep != nil && r.Sweep.Refused != "" && r.At.Sub(r.Sweep.Began) < lately
	switch {
	case all && len(slow) >= 3, refused && len(slow) > 0:
		return []Finding{in.slowRuntime(&r, fmt.Sprintf("the runtime is slow: half of its calls take %s or more, whatever they ask", span(fastest(slow))), "")}
	case r.objectsSlow():
		op := call.ContainerStatus
		return []Finding{in.slowRuntime(&r, fmt.Sprintf("the runtime is slow on every object: half of its ContainerStatus calls take %s or more", span(r.sums(op).P50)), op.String())}
	}
	return nil
}

// anyHangs reports whether calls that are about the whole runtime hang for sure.
func (r *reading) anyHangs() bool {
	for op := range r.general {
		if r.hangs(call.Operation(op)) && r.general[op].sure() {
			return true
		}
	}
	return false
}

// slowOperations returns what half of the calls take at present, for each
// operation that is known to be slow, and whether none is known to be fast that
// is about containers. Version and Status need not touch what makes those slow.
func (r *reading) slowOperations() (slow []time.Duration, all bool) {
	all = true
	for _, op := range []call.Operation{call.Version, call.Status, call.ListPodSandbox, call.ListContainers, call.PodSandboxStatus, call.ContainerStatus} {
		took, known := r.typical(op)
		switch {
		case known && took >= slowCall:
			slow = append(slow, took)
		case known && op != call.Version && op != call.Status:
			all = false
		}
	}
	return slow, all
}

// typical returns what half of the calls of an operation take. Lists are judged
// by the last relists, since half of all would tell of a change too late.
func (r *reading) typical(op call.Operation) (time.Duration, bool) {
	sums := r.sums(op)
	if op == call.ListPodSandbox || op == call.ListContainers {
		if h := r.Relists.History; len(h) >= slowRelists {
			return quickestLists(h[len(h)-slowRelists:]) / 2, true
		}
	}
	if sums.LastOK.IsZero() {
		return 0, false
	}
	if took, ok := r.probeTime(op); ok {
		return took, true
	}
	if op == call.Status && sums.Count > 10 {
		return sums.P90, true // one call every 5 s: half of them would lag by half of the run
	}
	return sums.P50, op != call.Version || onePass(r.Snapshot)
}

func quickestLists(relists []engine.Relist) time.Duration {
	quickest := relists[0].List
	for _, l := range relists {
		quickest = min(quickest, l.List)
	}
	return quickest
}

// probeTime returns how long the last probe of an operation took, if that was
// lately.
func (r *reading) probeTime(op call.Operation) (time.Duration, bool) {
	for i := range r.Probes {
		if p := &r.Probes[i]; p.Op == op && p.Err == nil && !p.At.IsZero() && r.At.Sub(p.At) < lately {
			return p.Took, true
		}
	}
	return 0, false
}

func fastest(took []time.Duration) time.Duration {
	least := took[0]
	for _, t := range took {
		least = min(least, t)
	}
	return least
}

// objectsSlow reports whether most status calls are very slow though lists and
// Status are not.
func (r *reading) objectsSlow() bool {
	for _, op := range []call.Operation{call.PodSandboxStatus, call.ContainerStatus} {
		if sums := r.sums(op); sums.Count < slowSample || sums.P50 < slowObjects || sums.LastOK.IsZero() {
			return false
		}
	}
	return true
}

func (in Input) slowRuntime(r *reading, summary, operation string) Finding {
	f := Finding{
		ID: RuntimeSlow, Severity: Warning, Summary: summary, Subject: Subject{Operation: operation},
		Next: []Step{
			{Text: "what the runtime says", Command: in.logs()},
			{Text: "who takes the cpu", Command: "top -b -n 1 | head -n 20"},
			{Text: "is a disk saturated", Command: "iostat -x 1 3"},
			{Text: "is the runtime throttled by its own cgroup", Command: "systemctl show " + in.unit() + " -p CPUQuotaPerSecUSec -p MemoryHigh -p MemoryMax"},
		},
	}
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Count > 0 && c.Op != call.GetContainerEvents {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%v: p50 %s, p99 %s, max %s of %s", c.Op, span(c.P50), span(c.P99), span(c.Max), count(c.Count, "call")))
		}
	}
	if r.Sweep != nil && r.Sweep.Refused != "" {
		f.Evidence = append(f.Evidence, "no sweep: "+r.Sweep.Refused)
	}
	f.Evidence = append(f.Evidence, lines(r.fullRelist(), in.pressure(), in.usage())...)
	return f
}

// fullRelist says what a relist costs in which every pod has changed.
func (r *reading) fullRelist() string {
	each := max(r.sums(call.PodSandboxStatus).P50, r.sums(call.ContainerStatus).P50)
	objects := r.Counts.Sandboxes + r.Counts.Containers
	if each == 0 || objects == 0 {
		return ""
	}
	return fmt.Sprintf("a relist that inspects every pod takes about %s: %s x %s, one after the other; the threshold is %s",
		span(each*time.Duration(objects)), count(objects, "object"), span(each), span(r.Threshold))
}

// usage says what the runtime's own processes take.
func (in Input) usage() string {
	if in.Evidence == nil || len(in.Evidence.Usage) == 0 {
		return ""
	}
	for _, u := range in.Evidence.Usage {
		if u.Name == in.unit() && u.CPU >= 0 {
			return fmt.Sprintf("%s takes %.1f cores and %s", u.Name, u.CPU, size(u.Memory))
		}
	}
	return ""
}
