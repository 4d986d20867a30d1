package diagnose

import (
	"cmp"
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
	r.pace = &in.past().pace
	if r.slowsDown() {
		return []Finding{in.slowRuntime(&r, fmt.Sprintf("half of the status calls take %s or more, the slowest %s: longer and longer", span(r.halfSlow()), span(r.Sweep.Slowest[0].Took)), "")}
	}
	if r.anyHangs() {
		return nil
	}
	slow, all := r.slowOperations()
	refused := r.Sweep != nil && r.Sweep.Refused != "" && r.At.Sub(r.Sweep.Began) < lately
	switch {
	case all && len(slow) >= 3, refused && all && len(slow) > 0:
		return []Finding{in.slowRuntime(&r, fmt.Sprintf("half of all calls take %s or more, whatever they ask", span(fastest(slow))), "")}
	case refused && len(slow) > 0:
		return []Finding{in.slowVitals(&r)}
	case r.objectsSlow():
		op := call.ContainerStatus
		return []Finding{in.slowRuntime(&r, fmt.Sprintf("half of all ContainerStatus calls take %s or more, whichever container they ask for", span(r.sums(op).P50)), op.String())}
	}
	if half := r.halfSlow(); onePass(r.Snapshot) && half > 0 {
		return []Finding{in.slowRuntime(&r, fmt.Sprintf("half of the status calls take %s or more", span(half)), "")}
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

// typical returns what half of the calls of an operation take, and false if that
// is not known. In one pass that is what it took in all; while an engine runs, it
// is what is recent, since half of all would tell of a change too late.
func (r *reading) typical(op call.Operation) (time.Duration, bool) {
	sums := r.sums(op)
	switch {
	case sums.LastOK.IsZero():
		return 0, false
	case onePass(r.Snapshot):
		return sums.P50, true
	case op == call.ListPodSandbox || op == call.ListContainers:
		return r.typicalList(sums)
	}
	if took, ok := r.probeTime(op); ok {
		return took, true
	}
	if op == call.Version || r.At.Sub(sums.LastOK) > paceHolds || sums.LastErrAt.After(sums.LastOK) {
		return 0, false
	}
	if op == call.Status && r.pace != nil {
		if took, ok := r.pace.usual(); ok {
			return took, true
		}
	}
	if h := r.Relists.History; aboutObject(op) && len(h) >= slowRelists && sums.LastOK.Before(h[len(h)-slowRelists].At) {
		return 0, false // from before the relists that the lists are judged by
	}
	return cmp.Or(sums.Last, sums.P50), true
}

// typicalList goes by the last relists, of which it knows what both lists took. A
// list that was fast by itself is.
func (r *reading) typicalList(sums engine.Calls) (time.Duration, bool) {
	h := r.Relists.History
	if len(h) < slowRelists {
		return cmp.Or(sums.Last, sums.P50), true
	}
	var took []time.Duration
	for _, l := range h[max(0, len(h)-2*slowRelists):] {
		took = append(took, l.List)
	}
	usual := middle(took) / 2
	if sums.Last > 0 && sums.Last*slowFactor < usual {
		return sums.Last, true
	}
	return usual, true
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
		took, known := r.typical(op)
		if sums := r.sums(op); !known || took < slowCall || sums.Count < slowSample || sums.P50 < slowObjects {
			return false
		}
	}
	return true
}

// slowVitals is about a runtime that answers Status or Version late, and lists soon.
func (in Input) slowVitals(r *reading) Finding {
	op := call.Status
	if version := r.sums(call.Version); version.P50 > r.sums(op).P50 {
		op = call.Version
	}
	return in.slowRuntime(r, fmt.Sprintf("%v takes %s, while the lists are fast", op, span(r.sums(op).P50)), op.String())
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
