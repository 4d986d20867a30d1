package diagnose

import (
	"cmp"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// slowListLeast is how long a list takes at least to be called slow by itself: twenty
// times what the slowest of 250 pods took on a real node, and more than one takes
// where too many programs share the processors.
const slowListLeast = answers.Hung

// slowListFactor is how many times as long as an object's status, and as Status, a
// list must take to be called slow by itself. On a real node it is five to
// twenty-five times, with 250 pods.
const slowListFactor = 20

// besideLists are the calls that a list is compared with.
var besideLists = []call.Operation{call.Status, call.PodSandboxStatus, call.ContainerStatus}

// slowList returns the list that takes seconds each time while other calls are
// fast, and how long it took last. One that is near the limit of its size takes long for
// that, and [ListTooBig] says so.
func (v *view) slowList() (op call.Operation, took time.Duration, slow bool) {
	for _, list := range []call.Operation{call.ListPodSandbox, call.ListContainers} {
		sums := v.Sums(list)
		each := sums.P90
		if v.Policy.Bounds().Past {
			each = cmp.Or(sums.Last, sums.P90)
		}
		if each > took && !sums.LastOK.IsZero() && float64(sums.LastResponseBytes) <= nearLimit*listLimit {
			op, took = list, each
		}
	}
	if h := v.Relists.History; len(h) >= 2 { // both of the last two relists have to be slow
		for _, l := range h[len(h)-2:] {
			if l.Failed {
				return op, 0, false
			}
			took = min(took, l.List)
		}
	}
	if took < slowListLeast {
		return op, 0, false
	}
	for _, other := range besideLists {
		if each, known := v.typical(other); known && each*slowListFactor > took {
			return op, 0, false
		}
	}
	return op, took, true
}

// fast says what other calls take, as far as that is known; empty if it is not.
func (v *view) fast() string {
	var each []string
	for _, op := range besideLists {
		if took, known := v.typical(op); known {
			each = append(each, fmt.Sprintf("%v within %s", op, span(took)))
		}
	}
	if len(each) == 0 {
		return ""
	}
	return "half of the calls: " + join(each)
}

func (v *view) slowListFinding(op call.Operation, took time.Duration) Finding {
	f := Finding{
		ID: RuntimeSlow, Severity: Warning,
		Summary: fmt.Sprintf("%v takes %s, while other calls are fast", op, span(took)),
		Subject: Subject{Operation: op.String()}, Group: anyList,
		Next: v.runtimeSteps(v.listSteps(op)...),
	}
	f.say(v.fast(), v.seenOf(), fmt.Sprintf("its last answer had %s", size(v.Sums(op).LastResponseBytes)), v.pressure())
	return f
}
