package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// RuntimeSlow is a runtime whose every call takes long, or whose lists do, or one object's status.
const RuntimeSlow ID = "runtime-slow"

var runtimeSlowKind = &kind{
	id: RuntimeSlow, find: runtimeSlow,
	needs: unpaused, because: limits | stands, whole: true, replaces: RelistSlowChurn,
	warned: Headline{Word: "SLOW"},
	words:  []nodeWord{(*view).callsInFlight, (*view).kernelSaid, (*view).runtimeUnits, (*view).deprecated}, kernel: ofDisk, killed: runtimeKilled,
	severity: "warning", scenario: "`slow`",
	when: "half of all calls take 150 ms or more, 500 ms where tasks wait for the CPU half of the time, by those of the last minute while the screen runs; a list takes two " +
		"seconds or more each time, and other calls a twentieth of it; or one object that alone was answered after more than a second",
}

// slowRelists is how many relists of late are looked at.
const slowRelists = 5

// runtimeSlow finds a runtime that answers every kind of call, and each late.
func runtimeSlow(v *view) []Finding {
	tell := func(operation, format string, figures ...any) []Finding {
		return []Finding{v.slowRuntime(operation, fmt.Sprintf(format, figures...))}
	}
	if v.Scope == answers.AllSlow {
		return tell("", "half of the status calls take %s or more, the slowest %s: longer and longer", span(v.HalfSlow(answers.Slow)), span(v.Sweep.Slowest[0].Took))
	}
	if v.Scope.Whole() || v.generalHangs() {
		return nil
	}
	times, all := v.slowOperations()
	refused := v.Sweep != nil && v.Sweep.Refused != "" && v.At.Sub(v.Sweep.Began) < v.Policy.Bounds().FreshFor
	switch {
	case all && len(times) >= 3, refused && all && len(times) > 0:
		return tell("", "half of all calls take %s or more, whatever they ask", span(slices.Min(times)))
	case refused && len(times) > 0:
		late := v.Sums(call.Status)
		if version := v.Sums(call.Version); version.P50 > late.P50 {
			late = version
		}
		return tell(late.Op.String(), "%v takes %s, while the lists are fast", late.Op, span(late.P50))
	case v.objectsSlow():
		return tell(call.ContainerStatus.String(), "half of all ContainerStatus calls take %s or more, whichever container they ask for", span(v.Sums(call.ContainerStatus).P50))
	}
	if op, took, slow := v.slowList(); slow {
		return []Finding{v.slowListFinding(op, took)}
	}
	if half := v.HalfSlow(v.SlowFrom()); v.Policy.Bounds().OneMoment && half > 0 {
		return tell("", "half of the status calls take %s or more", span(half))
	}
	return v.slowInSweep()
}

// generalHangs reports whether calls that are about the whole runtime hang for
// sure.
func (v *view) generalHangs() bool {
	return slices.ContainsFunc(v.General[:], func(h answers.Hang) bool { return h.Sure })
}

// slowOperations returns what half of the calls take at present, for each
// operation that is known to be slow, and whether none is known to be fast that
// is about containers. Version and Status need not touch what makes those slow.
func (v *view) slowOperations() (slow []time.Duration, all bool) {
	all = true
	for _, op := range []call.Operation{call.Version, call.Status, call.ListPodSandbox, call.ListContainers, call.PodSandboxStatus, call.ContainerStatus} {
		took, known := v.typical(op)
		switch {
		case known && took >= v.SlowFrom():
			slow = append(slow, took)
		case known && op != call.Version && op != call.Status:
			all = false
		}
	}
	return slow, all
}

// typical returns what half of the calls of an operation take, and false if that
// is not known. In one bounded look that is what it took in all; while an engine runs, it
// is what is recent, since half of all would tell of a change too late.
func (v *view) typical(op call.Operation) (time.Duration, bool) {
	sums := v.Sums(op)
	switch {
	case sums.LastOK.IsZero(), sums.LastOK.Add(-sums.Last).Before(v.Memory.Back.At): // it waited with all others
		return 0, false
	case v.Policy.Bounds().OneMoment:
		return sums.P50, true
	case op == call.ListPodSandbox || op == call.ListContainers:
		return v.typicalList(sums)
	}
	if took, ok := v.ProbeTime(op, answers.Later(v.At.Add(-answers.FreshFor), v.Memory.Back.At.Add(answers.Together))); ok {
		return took, true
	}
	if op == call.Version || v.At.Sub(sums.LastOK) > answers.SlowFor || sums.LastErrAt.After(sums.LastOK) {
		return 0, false
	}
	if took := v.Memory.Status; len(took) > 0 && op == call.Status {
		var room [8]time.Duration // enough for all: an update allocates nothing for it
		sorted := append(room[:0], took...)
		slices.Sort(sorted)
		return sorted[(len(took)-1)/2], true // of two the lesser
	}
	if h := v.Relists.History; op.AboutObject() && len(h) >= slowRelists && sums.LastOK.Before(h[len(h)-slowRelists].At) {
		return 0, false // from before the relists that the lists are judged by
	}
	return cmp.Or(sums.Last, sums.P50), true
}

// typicalList goes by the last relists, of which it knows what both lists took. A
// list that was fast by itself is.
func (v *view) typicalList(sums answers.Calls) (time.Duration, bool) {
	h := v.Relists.History
	if len(h) < slowRelists {
		return cmp.Or(sums.Last, sums.P50), true
	}
	usual := v.UsualList / 2
	if sums.Last > 0 && sums.Last*slowFactor < usual {
		return sums.Last, true
	}
	return usual, true
}

// objectsSlow reports whether most status calls are very slow though lists and
// Status are not.
func (v *view) objectsSlow() bool {
	for _, op := range answers.StatusCalls {
		took, known := v.typical(op)
		if sums := v.Sums(op); !known || took < v.SlowFrom() || sums.Count < answers.SlowSample || sums.P50 < answers.SlowObjects {
			return false
		}
	}
	return true
}

func (v *view) slowRuntime(operation, summary string) Finding {
	f := Finding{
		ID: RuntimeSlow, Severity: Warning, Summary: summary, Subject: Subject{Operation: operation},
		Next: v.runtimeSteps(v.advise("runtime.slow", nil)...),
	}
	f.say(v.fullRelist(), v.pressure(), v.usage())
	for i := range v.Calls {
		if c := &v.Calls[i]; c.Count > 0 && c.Op != call.GetContainerEvents {
			f.say(fmt.Sprintf("%v: p50 %s, p99 %s, max %s of %s", c.Op, span(c.P50), span(c.P99), span(c.Max), count(c.Count, "call")))
		}
	}
	if v.Sweep != nil && v.Sweep.Refused != "" {
		f.say("no check of all: " + v.Sweep.Refused)
	}
	return f
}

// fullRelist says what a relist costs in which every pod has changed.
func (v *view) fullRelist() string {
	each := max(v.Sums(call.PodSandboxStatus).P50, v.Sums(call.ContainerStatus).P50)
	objects := v.Counts.Sandboxes + v.Counts.Containers
	if each == 0 || objects == 0 {
		return ""
	}
	all := each * time.Duration(objects)
	makes := "PLEG stays healthy below "
	if all >= v.Threshold {
		makes = "PLEG becomes unhealthy at "
	}
	return fmt.Sprintf("a relist that inspects every pod takes about %s: %s x %s, one after the other; %s%s",
		span(all), count(objects, "object"), span(each), makes, span(v.Threshold))
}

// usage says what the runtime's own processes take.
func (v *view) usage() string {
	for _, u := range v.evidence.Usage {
		if u.Name == v.program() && u.CPU >= 0 {
			return fmt.Sprintf("%s takes %.1f cores and %s", u.Name, u.CPU, size(u.Memory))
		}
	}
	return ""
}
