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

const (
	// slowRelists is how many of the last relists show what lists take.
	slowRelists = 5
	// slowList is how long a list takes at least to be slow by itself: twenty times what the slowest of 250 pods took on a
	// real node.
	slowList = answers.Hung
	// slowListFactor is how many times as long as other calls a list must take to be slow by itself. On a real node it is
	// 5 to 25 times, with 250 pods.
	slowListFactor = 20
	// slowFactor is how many times as long as the others one object must take to be what is slow.
	slowFactor = 10
	// slowFor is how long a slow object of a check of all is reported: it is over, and may be quick by now.
	slowFor = time.Minute
)

// A runtime answers every kind of call, and each late; or only the lists are late, or only the status of one object.
var runtimeSlow = Rule{
	ID: RuntimeSlow, Needs: Unpaused, Whole: true, Warned: Slow,
	Find: func(f *Facts, report func(Match)) {
		if f.Scope == answers.AllSlow {
			report(f.slowRuntime("slower", "", Values{"took": f.HalfSlow(answers.Slow), "slowest": f.Sweep.Slowest[0].Took}))
			return
		}
		if f.Scope.Whole() || f.itselfHangs() {
			return
		}
		slow, all := f.slowOperations()
		refused := f.Sweep != nil && f.Sweep.Refused != "" && f.at().Sub(f.Sweep.Began) < f.Snapshot.Policy.Bounds().FreshFor
		if all && len(slow) >= 3 || refused && all && len(slow) > 0 {
			report(f.slowRuntime("", "", Values{"took": slices.Min(slow)}))
			return
		}
		if refused && len(slow) > 0 {
			late := f.Sums(call.Status)
			if version := f.Sums(call.Version); version.P50 > late.P50 {
				late = version
			}
			report(f.slowRuntime("operation", late.Op.String(), Values{"operation": late.Op, "took": late.P50}))
			return
		}
		if f.objectsSlow() {
			report(f.slowRuntime("objects", call.ContainerStatus.String(), Values{"took": f.Sums(call.ContainerStatus).P50}))
			return
		}
		if op, took, slow := f.slowList(); slow {
			report(f.slowListMatch(op, took))
			return
		}
		if half := f.HalfSlow(f.SlowFrom()); f.once() && half > 0 {
			report(f.slowRuntime("half", "", Values{"took": half}))
			return
		}
		f.slowObjects(report)
	},
}

// slowOperations returns what half of the calls take now, for each operation that is slow. all says that no operation
// about containers is known to be fast: Version and Status need not touch what makes the others slow.
func (f *Facts) slowOperations() (slow []time.Duration, all bool) {
	all = true
	for op := range call.GetContainerEvents {
		took, known := f.typical(op)
		switch {
		case known && took >= f.SlowFrom():
			slow = append(slow, took)
		case known && op != call.Version && op != call.Status:
			all = false
		}
	}
	return slow, all
}

// typical returns what half of the calls of an operation take. check goes by all calls, a running engine by the last
// ones: half of all would show a change too late.
func (f *Facts) typical(op call.Operation) (took time.Duration, known bool) {
	sums := f.Sums(op)
	switch {
	case sums.LastOK.IsZero(), sums.LastOK.Add(-sums.Last).Before(f.Memory.Back.At): // it waited with all others
		return 0, false
	case f.once():
		return sums.P50, true
	case op.IsList():
		return f.typicalList(sums), true
	}
	if took, ok := f.ProbeTime(op, answers.Later(f.at().Add(-answers.FreshFor), f.Memory.Back.At.Add(answers.Together))); ok {
		return took, true
	}
	if op == call.Version || f.at().Sub(sums.LastOK) > answers.SlowFor || sums.LastErrAt.After(sums.LastOK) {
		return 0, false
	}
	if last := f.Memory.Status; len(last) > 0 && op == call.Status {
		var room [8]time.Duration // enough for all: nothing is allocated
		sorted := append(room[:0], last...)
		slices.Sort(sorted)
		return sorted[(len(last)-1)/2], true // of two the shorter
	}
	if h := f.Relists.History; op.AboutObject() && len(h) >= slowRelists && sums.LastOK.Before(h[len(h)-slowRelists].At) {
		return 0, false // it is from before the relists that the lists are judged by
	}
	return cmp.Or(sums.Last, sums.P50), true
}

// typicalList goes by the last relists, of which it is known what both lists took. A list that was fast by itself is
// fast.
func (f *Facts) typicalList(sums answers.Calls) time.Duration {
	usual := f.UsualList / 2
	if len(f.Relists.History) < slowRelists {
		return cmp.Or(sums.Last, sums.P50)
	}
	if sums.Last > 0 && sums.Last*slowFactor < usual {
		return sums.Last
	}
	return usual
}

// objectsSlow reports whether most status calls are very slow though lists and Status are not.
func (f *Facts) objectsSlow() bool {
	for _, op := range answers.StatusCalls {
		took, known := f.typical(op)
		if sums := f.Sums(op); !known || took < f.SlowFrom() || sums.Count < answers.SlowSample || sums.P50 < answers.SlowObjects {
			return false
		}
	}
	return true
}

// slowRuntime is about calls that are slow whatever they ask for.
func (f *Facts) slowRuntime(variant, operation string, v Values) Match {
	m := Match{
		Variant: variant, Severity: Warning, Subject: Subject{Operation: operation}, Values: v, Lines: map[string][]line{"full": f.fullRelist()},
		Steps: map[string][]Step{"+restart": f.thenRestart(f.advise("runtime.slow", nil)...)},
	}
	for _, u := range f.Look.Usage {
		if u.Name == f.program() && u.CPU >= 0 {
			v["usage"] = fmt.Sprintf("%s takes %.1f cores and %s", u.Name, u.CPU, size(u.Memory))
			break
		}
	}
	for i := range f.Calls {
		if c := &f.Calls[i]; c.Count > 0 && c.Op != call.GetContainerEvents {
			m.Lines["figures"] = append(m.Lines["figures"], lineOf("figures", Values{"operation": c.Op, "p50": c.P50, "p99": c.P99, "max": c.Max, "calls": many{int(c.Count), "call"}}))
		}
	}
	if f.Sweep != nil {
		v["refused"] = f.Sweep.Refused
	}
	return m
}

// fullRelist says what a relist costs in which every pod has changed.
func (f *Facts) fullRelist() []line {
	each := max(f.Sums(call.PodSandboxStatus).P50, f.Sums(call.ContainerStatus).P50)
	objects := f.Counts.Sandboxes + f.Counts.Containers
	if each == 0 || objects == 0 {
		return nil
	}
	all := each * time.Duration(objects)
	makes := "stays healthy below"
	if all >= f.Threshold {
		makes = "becomes unhealthy at"
	}
	return []line{lineOf("full-relist", Values{"all": all, "objects": many{objects, "object"}, "each": each, "makes": makes, "threshold": f.Threshold})}
}

// otherCalls are the calls that a list is compared with.
var otherCalls = []call.Operation{call.Status, call.PodSandboxStatus, call.ContainerStatus}

// slowList returns the list that takes seconds each time while other calls are fast, and how long it took last. A list
// near the limit of its size takes long because of that.
func (f *Facts) slowList() (op call.Operation, took time.Duration, slow bool) {
	for _, list := range []call.Operation{call.ListPodSandbox, call.ListContainers} {
		sums := f.Sums(list)
		each := sums.P90
		if !f.once() {
			each = cmp.Or(sums.Last, sums.P90)
		}
		if each > took && !sums.LastOK.IsZero() && float64(sums.LastResponseBytes) <= nearLimit*listLimit {
			op, took = list, each
		}
	}
	if h := f.Relists.History; len(h) >= 2 { // both of the last two relists must be slow
		for _, l := range h[len(h)-2:] {
			if l.Failed {
				return op, 0, false
			}
			took = min(took, l.List)
		}
	}
	if took < slowList {
		return op, 0, false
	}
	for _, other := range otherCalls {
		if each, known := f.typical(other); known && each*slowListFactor > took {
			return op, 0, false
		}
	}
	return op, took, true
}

func (f *Facts) slowListMatch(op call.Operation, took time.Duration) Match {
	var fast []string
	for _, other := range otherCalls {
		if each, known := f.typical(other); known {
			fast = append(fast, fmt.Sprintf("%v within %s", other, span(each)))
		}
	}
	return Match{
		Variant: "list", Severity: Warning, Subject: Subject{Operation: op.String()}, Group: groupLists,
		Values: Values{"operation": op, "took": took, "fast": fast, "bytes": bytes(f.Sums(op).LastResponseBytes)},
		Lines:  map[string][]line{"seen": f.seenOf()},
		Steps:  map[string][]Step{"+restart": f.thenRestart(f.advise("list.hangs", Values{"ofSandboxes": op == call.ListPodSandbox})...)},
	}
}

// slowObjects reports objects whose status came late in the last check of all, while those of others were fast. It is
// how a hang begins.
func (f *Facts) slowObjects(report func(Match)) {
	w := f.Sweep
	if w == nil || w.Ended.IsZero() || f.at().Sub(w.Ended) > slowFor {
		return
	}
	for _, o := range w.Slowest {
		half := f.Sums(o.Op).P50
		if o.Err != nil || o.Took < answers.Late || half == 0 || o.Took < slowFactor*half || stalled(o, w.Slowest) || f.HeardSince(o.Flight, w.Ended) {
			continue
		}
		report(Match{
			Variant: "object", Severity: Warning, Subject: asking(o.Flight), Group: o.Object().String() + " " + o.Op.String(),
			Values: Values{"operation": o.Op, "object": o.Object().String(), "took": o.Took, "half": half, "id": short(o.ID), "ofSandbox": o.Op == call.PodSandboxStatus},
			Lines:  map[string][]line{"neighbours": f.neighbours(), "processes": f.processLines(o.Flight)},
		})
	}
}

// stalled reports whether an object of another pod was answered late at the same moment: what held up both has nothing
// to do with either.
func stalled(o answers.Outcome, slowest []answers.Outcome) bool {
	return slices.ContainsFunc(slowest, func(other answers.Outcome) bool {
		return other.Pod.UID != o.Pod.UID && other.Took >= answers.Late/2 && other.At.Sub(o.At).Abs() <= answers.Together
	})
}
