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
	// slowRelists is how many of the last relists show what lists take.
	slowRelists = 5
	// slowList is how long a list takes at least to be slow by itself: twenty times what the slowest of 250 pods took on a
	// real node.
	slowList = answers.Hung
	// slowListFactor is how many times as long as other calls a list must take to be slow by itself. On a real node it is
	// 5 to 25 times, with 250 pods.
	slowListFactor = 20
	// fastListFactor is how many times as fast as a usual list the last one must be to be fast.
	fastListFactor = 10
)

// slowOperations returns what half of the calls take now, for each operation that is slow. all says that no operation
// about containers is known to be fast.
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

// slowObjects returns the status call that is very slow, most of the time, though lists and Status are not.
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
// is none. A list near the limit of its size takes long because of that.
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

// typical returns what half of the calls of an operation take. check goes by all calls, a running engine by the last
// ones: half of all would show a change too late.
func (f *Facts) typical(op call.Operation) (took time.Duration, known bool) {
	sums, h := f.Sums(op), f.Relists.History
	switch {
	case sums.LastOK.IsZero(), sums.LastOK.Add(-sums.Last).Before(f.Memory.Back.At): // it waited with all others
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
	case op == call.Status && len(last) > 0: // one late answer is no slow runtime
		return slices.Min(last), true
	case op.AboutObject() && len(h) >= slowRelists && sums.LastOK.Before(h[len(h)-slowRelists].At):
		return 0, false // it is from before the relists that the lists are judged by
	}
	return cmp.Or(sums.Last, sums.P50), true
}

// usageValues says what the runtime's process takes, and what it may take; nothing of what nobody has seen.
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
