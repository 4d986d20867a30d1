package diagnose

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// slowListLeast is how long a list takes at least to be called slow by itself: ten
// times what the slowest of 250 pods took on a real node, and a whole period of the
// relist.
const slowListLeast = time.Second

// slowListFactor is how many times as long as an object's status, and as Status, a
// list must take to be called slow by itself. On a real node it is five to
// twenty-five times, with 250 pods.
const slowListFactor = 20

// listHung finds a list that does not come back, and one that takes seconds,
// while other calls are answered.
func listHung(in Input) []Finding {
	r := read(in.Snapshot)
	r.pace = &in.past().pace
	if _, silent := r.silent(); silent {
		return nil
	}
	op, took, slow := r.slowList()
	if h, hangs := r.list(); hangs && !r.doubtful(h) && !(slow && h.out && h.inRow == 0 && h.took < 2*took) {
		return []Finding{in.listFinding(&r, h)}
	}
	if slow {
		return []Finding{in.slowListFinding(&r, op, took)}
	}
	return nil
}

func (in Input) listFinding(r *reading, h hang) Finding {
	f := Finding{
		ID: ListHung, Severity: severity(h),
		Summary: fmt.Sprintf("%v %s", h.Op, r.unanswered(h)),
		Subject: on(h.Op, h.Pod, "", ""),
		Next:    in.runtimeSteps(in.listSteps(h.Op)...),
	}
	answers := r.meanwhile(h)
	if answers != "" {
		f.Summary += ", while other calls are answered"
	}
	f.Evidence = lines(hangs(r, h), r.untilUnhealthy(), answers, r.others(h.Op), r.searching(), r.known(), in.pressure(), in.daemon())
	f.Evidence = append(f.Evidence, in.waiting()...)
	return f
}

func (in Input) listSteps(op call.Operation) []Step {
	verb := "ps -a"
	if op == call.ListPodSandbox {
		verb = "pods"
	}
	steps := []Step{
		{Text: "does it hang for crictl, too", Command: in.crictl(verb)},
		{Text: "what the runtime says meanwhile", Command: in.logs()},
	}
	if name := strings.ToLower(in.Snapshot.Version.RuntimeName); name == "containerd" {
		steps = append(steps, Step{Text: "has it write its goroutine stacks to a file, to see who holds the lock", Command: "pkill -USR1 -x containerd", Risky: true})
	}
	return steps
}

// untilUnhealthy says when the kubelet will call PLEG unhealthy unless a list
// succeeds; empty before the first good one.
func (r *reading) untilUnhealthy() string {
	if left := r.Threshold - r.Health.ListAge(r.At); r.Health.Healthy && left > 0 && !r.Health.ListedAt.IsZero() {
		return fmt.Sprintf("unhealthy in %s if no list returns", span(left.Round(time.Second)))
	}
	return ""
}

// searching says how far the sweep has come that looks for what holds the lock.
func (r *reading) searching() string {
	w := r.Sweep
	switch {
	case w == nil || r.At.Sub(w.Began) > sweepHolds:
		return ""
	case w.Refused != "":
		return "no sweep: " + w.Refused
	case w.Ended.IsZero():
		return fmt.Sprintf("a sweep looks for the object that holds the lock: %s of %s asked for", thousands(uint64(max(0, w.Done))), count(w.Total, "object"))
	}
	return r.neighbours()
}

func (r *reading) known() string {
	switch {
	case r.Partial != "":
		return "seen of what runs: " + r.Partial
	case r.Pods == nil:
		return ""
	}
	return fmt.Sprintf("the last good list had %s and %s", thousands(uint64(max(0, r.Counts.Sandboxes)))+" sandboxes", count(r.Counts.Containers, "container"))
}

// slowList returns the list that takes seconds each time while other calls are
// fast, and how long it took last.
func (r *reading) slowList() (op call.Operation, took time.Duration, slow bool) {
	for _, list := range []call.Operation{call.ListPodSandbox, call.ListContainers} {
		sums := r.sums(list)
		each := sums.P90
		if !onePass(r.Snapshot) {
			each = cmp.Or(sums.Last, sums.P90)
		}
		if each > took && !sums.LastOK.IsZero() {
			op, took = list, each
		}
	}
	if recent, some := r.recentLists(); some {
		took = min(recent, took)
	}
	if took < slowListLeast {
		return op, 0, false
	}
	for _, other := range []call.Operation{call.Status, call.PodSandboxStatus, call.ContainerStatus} {
		if each, known := r.typical(other); known && each*slowListFactor > took {
			return op, 0, false
		}
	}
	return op, took, true
}

// recentLists returns the shorter of the times that the lists of the last two
// relists took, and false if there were fewer.
func (r *reading) recentLists() (time.Duration, bool) {
	h := r.Relists.History
	if len(h) < 2 {
		return 0, false
	}
	a, b := h[len(h)-2], h[len(h)-1]
	if a.Failed || b.Failed {
		return 0, true
	}
	return min(a.List, b.List), true
}

// fast says what other calls take, as far as that is known; empty if it is not.
func (r *reading) fast() string {
	var each []string
	for _, op := range []call.Operation{call.Status, call.PodSandboxStatus, call.ContainerStatus} {
		if took, known := r.typical(op); known {
			each = append(each, fmt.Sprintf("%v within %s", op, span(took)))
		}
	}
	if len(each) == 0 {
		return ""
	}
	return "half of the calls: " + strings.Join(each, ", ")
}

func (in Input) slowListFinding(r *reading, op call.Operation, took time.Duration) Finding {
	return Finding{
		ID: ListHung, Severity: Warning,
		Summary: fmt.Sprintf("%v takes %s, while other calls are fast", op, span(took)),
		Subject: Subject{Operation: op.String()},
		Evidence: lines(
			r.fast(), r.known(), fmt.Sprintf("its last answer had %s", size(r.sums(op).LastResponseBytes)), in.pressure(),
		),
		Next: in.listSteps(op)[:2],
	}
}
