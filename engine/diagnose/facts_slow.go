package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// slowRelists is how many of the last relists are used to see how long lists take.
	slowRelists = 5
	// A list that takes at least slowList is slow by itself. That is twenty times what the slowest list of 250 pods
	// took on a real node.
	slowList = answers.Hung
	// slowListFactor is how many times as long as other calls a list must take to be slow by itself. On a real node
	// with 250 pods it takes 5 to 25 times as long.
	slowListFactor = 20
	// If the last list was fastListFactor times as fast as a usual one, lists are fast again.
	fastListFactor = 10
)

// slowOperations returns, for each operation that is slow, the time within which half of its calls are answered now.
// all is true if no operation except Version and Status is known to be fast.
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

// slowObjects returns the status call that is very slow most of the time. It does not look at lists and Status.
func (f *Facts) slowObjects() (op call.Operation, slow bool) {
	for _, op := range slices.Backward(answers.StatusCalls) {
		took, known := f.typical(op)
		if sums := f.Sums(op); known && took >= f.SlowFrom() && sums.Count >= answers.SlowSample && sums.P50 >= answers.SlowObjects {
			return op, true
		}
	}
	return op, false
}

// slowList returns the list that takes seconds each time while other calls are fast, and how long it takes; 0 if there
// is none. A list near its size limit is left out, because it takes long for that reason.
func (f *Facts) slowList() (op call.Operation, took time.Duration) {
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
	h := f.Relists.History
	for _, l := range h[max(0, len(h)-2):] { // both of the last two relists must be slow
		if l.Failed {
			return op, 0
		}
		took = min(took, l.List)
	}
	fast := true
	for _, other := range []call.Operation{call.Status, call.PodSandboxStatus, call.ContainerStatus} {
		each, known := f.typical(other)
		fast = fast && (!known || each*slowListFactor <= took)
	}
	if took < slowList || !fast {
		return op, 0
	}
	return op, took
}

// typical returns the time within which half of the calls of an operation are answered. check uses all calls. A running
// engine uses the last ones, because half of all calls would show a change too late.
func (f *Facts) typical(op call.Operation) (took time.Duration, known bool) {
	sums, h := f.Sums(op), f.Relists.History
	switch {
	case sums.LastOK.IsZero(), sums.LastOK.Add(-sums.Last).Before(f.Memory.Back.At): // this call waited together with all others
		return 0, false
	case f.once():
		return sums.P50, true
	case op.IsList():
		// The relists show what both lists take. A list that was fast by itself is fast.
		usual := f.UsualList / 2
		if len(h) < slowRelists || sums.Last > 0 && sums.Last*fastListFactor < usual {
			return cmp.Or(sums.Last, sums.P50), true
		}
		return usual, true
	}
	if took, ok := f.ProbeTime(op, answers.Later(f.at().Add(-answers.FreshFor), f.Memory.Back.At.Add(answers.Together))); ok {
		return took, true
	}
	last := f.Memory.Status
	switch {
	case op == call.Version, f.at().Sub(sums.LastOK) > answers.SlowFor, sums.LastErrAt.After(sums.LastOK):
		return 0, false
	case op == call.Status && len(last) > 0: // one late answer does not make a slow runtime
		return slices.Min(last), true
	case op.AboutObject() && len(h) >= slowRelists && sums.LastOK.Before(h[len(h)-slowRelists].At):
		return 0, false // it is from before the relists by which lists are judged
	}
	return cmp.Or(sums.Last, sums.P50), true
}

// usageValues returns what the runtime's process uses, and how much it may use. It leaves out values that nobody has
// seen.
func (f *Facts) usageValues() Values {
	v := Values{}
	for _, u := range f.Look.Usage {
		if u.Name != f.program() {
			continue
		}
		v["program"] = u.Name
		if u.CPU >= 0 {
			v["usage"] = fmt.Sprintf("%s takes %.1f cores and %s", u.Name, u.CPU, size(u.Memory))
		}
		if u.Quota > 0 {
			v["quota"] = fmt.Sprintf("%.2g", u.Quota)
		}
	}
	return v
}
