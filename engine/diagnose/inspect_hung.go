package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// fullHung is how many hanging objects get a finding each: more than a
	// handful no person reads one by one, and they have a common reason.
	fullHung = 5
	// namedHung is how many of the others are named in the finding that sums
	// them up.
	namedHung = 50
	// allHung is how many objects must be hanging, and none answered, for it to
	// be the operation that hangs and not the objects.
	allHung = 8
)

// inspectHung finds the sandboxes and containers whose status does not come
// back, and those where it takes very long.
func inspectHung(in Input) []Finding {
	r := read(in.Snapshot)
	if _, silent := r.silent(); silent || r.slowsDown() {
		return nil
	}
	if ops := r.wholeOperations(); len(ops) > 0 {
		return []Finding{in.operationHung(&r, ops)}
	}
	if r.noStatus() {
		return []Finding{in.noStatusFinding(&r)}
	}
	var findings []Finding
	objects := slices.DeleteFunc(r.gathered(), func(o hungObject) bool { return r.doubtful(o.hang) })
	full := len(objects)
	if full > fullHung+1 { // a rest of one is worth its own finding
		full = fullHung
	}
	for _, o := range objects[:full] {
		findings = append(findings, in.objectHung(&r, o))
	}
	if rest := objects[full:]; len(rest) > 0 {
		findings[0].Evidence = append(findings[0].Evidence, fmt.Sprintf("%s hang in all", count(len(r.objects), "status call")))
		findings = append(findings, restHung(&r, rest))
	}
	return append(findings, in.inspectSlow(&r)...)
}

// wholeOperations returns the operations of which nothing was answered, though
// many objects were asked for and each of them hangs.
func (r *reading) wholeOperations() (ops []call.Operation) {
	for _, op := range []call.Operation{call.PodSandboxStatus, call.ContainerStatus} {
		n := 0
		var first hang
		for _, h := range r.objects {
			if h.Op == op {
				n, first = n+1, older(h, first)
			}
		}
		if n >= allHung && !r.answered(op, r.began(first)) {
			ops = append(ops, op)
		}
	}
	return ops
}

func older(h, first hang) hang {
	if first.Since.IsZero() {
		return h
	}
	return longest(h, first)
}

func (in Input) operationHung(r *reading, ops []call.Operation) Finding {
	f := Finding{
		ID: InspectHung, Severity: Critical,
		Next: in.runtimeSteps(Step{Text: "what the runtime does; thousands of blocked goroutines mean a lock", Command: in.logs()}),
	}
	var of []hang
	for _, h := range r.objects {
		if slices.Contains(ops, h.Op) {
			of = append(of, h)
		}
	}
	f.Summary = fmt.Sprintf("no status call was answered, for none of the %s that were asked for", count(len(of), "object"))
	if len(ops) == 1 {
		f.Subject.Operation = ops[0].String()
		f.Summary = fmt.Sprintf("%v has no answer for any of the %s that it was asked for", ops[0], count(len(of), "object"))
	}
	f.Evidence = lines(r.meanwhile(of[0]), r.countdown(of[0]))
	for _, h := range of[:min(len(of), fullHung)] {
		f.Evidence = append(f.Evidence, hangs(r, h))
	}
	return f
}

func (in Input) objectHung(r *reading, o hungObject) Finding {
	h := o.hang
	f := Finding{
		ID: InspectHung, Severity: severity(h),
		Summary: o.summary(r),
		Subject: on(h.Op, h.Pod, h.Container, h.ID),
		Next:    in.objectSteps(r, h.Flight),
	}
	f.Evidence = lines(hangs(r, h), o.also(), r.countdown(h), r.deadline(h), r.meanwhile(h), r.neighbours())
	f.Evidence = append(f.Evidence, in.processes(r, h.Flight)...)
	return f
}

// neighbours says how many objects a sweep found to be fine.
func (r *reading) neighbours() string {
	w := r.Sweep
	if w == nil || w.Done == 0 || r.At.Sub(w.Began) > sweepHolds {
		return ""
	}
	return fmt.Sprintf("%s of %s asked for were answered, each within %s", thousands(uint64(max(0, w.Done-len(w.Hung)-len(w.Failed)))), count(w.Done, "object"), span(w.Timeout))
}

// countdown says when the kubelet will call PLEG unhealthy because of a call
// that holds up its relist; empty for a call that holds up nothing.
func (r *reading) countdown(h hang) string {
	if !h.out || h.By != engine.ByRelist {
		return fmt.Sprintf("a relist that asks for it waits up to %s for the answer, and sees nothing else meanwhile", span(r.Timeout))
	}
	if left := r.Threshold - r.Health.ListAge(r.At); r.Health.Healthy && left > 0 {
		return fmt.Sprintf("unhealthy in %s if this call does not return", span(left.Round(time.Second)))
	}
	return ""
}

// deadline says what becomes of a call of a relist before PLEG is unhealthy.
func (r *reading) deadline(h hang) string {
	left := r.Timeout - h.took
	if !h.out || h.By != engine.ByRelist || left <= 0 || left >= r.Threshold-r.Health.ListAge(r.At) {
		return ""
	}
	return fmt.Sprintf("its deadline ends it in %s; the relist then goes on, and the next one asks again", span(left.Round(time.Second)))
}

// processes says what the node knows of the processes behind an object.
func (in Input) processes(r *reading, f engine.Flight) []string {
	var found []string
	if p, ok := in.worst(f.ID); ok {
		found = append(found, describe("its process", p))
	}
	if p, ok := in.shim(r.sandbox(f)); ok {
		found = append(found, describe("its shim", p))
	}
	return found
}

// sandbox returns the id of the sandbox that an object is or lies in.
func (r *reading) sandbox(f engine.Flight) string {
	if f.Op == call.PodSandboxStatus {
		return f.ID
	}
	for _, p := range r.Pods {
		if p.PodRef != f.Pod || p.Seen() == nil {
			continue
		}
		for _, c := range p.Seen().Containers {
			if c.ID == f.ID {
				return c.SandboxID
			}
		}
	}
	return ""
}

// objectSteps returns what to do about one object, the runtime's restart last.
func (in Input) objectSteps(r *reading, f engine.Flight) []Step {
	verb := "inspect"
	if f.Op == call.PodSandboxStatus {
		verb = "inspectp"
	}
	steps := []Step{{Text: "does it hang for crictl, too", Command: in.crictl(verb, operand(f.ID)...)}}
	if p, ok := in.worst(f.ID); ok {
		steps = append(steps, Step{Text: "what its process waits for in the kernel", Command: fmt.Sprintf("cat /proc/%d/stack", p.PID)})
	} else if f.ID != "" {
		steps = append(steps, Step{Text: "its processes; then look for state D in ps -o pid,stat,wchan:32,args", Command: "grep -ls -e " + quote(f.ID) + " /proc/[0-9]*/cgroup"})
	}
	steps = append(steps, Step{Text: "is the server of one of its mounts gone", Command: "findmnt -t nfs,nfs4,cifs,fuse"})
	sandbox := r.sandbox(f)
	if p, ok := in.shim(sandbox); ok {
		steps = append(steps, Step{Text: "ends only this pod; the kubelet makes it anew", Command: fmt.Sprintf("kill -9 %d", p.PID), Risky: true})
	} else if sandbox != "" {
		steps = append(steps, Step{Text: "kills the shim of only this pod; the kubelet makes it anew", Command: "pkill -9 -f -- " + quote("-id "+sandbox), Risky: true})
	}
	return in.runtimeSteps(steps...)
}

func restHung(r *reading, rest []hungObject) Finding {
	f := Finding{
		ID: InspectHung, Severity: Warning,
		Summary: more(len(rest), "object") + " gave no answer",
		Next:    []Step{{Text: "look at those above first: many that hang at once mostly have one reason, such as a file server that is gone"}},
	}
	for i, o := range rest {
		f.Severity = max(f.Severity, severity(o.hang))
		if i < namedHung {
			f.Evidence = append(f.Evidence, hangs(r, o.hang))
		}
	}
	if more := len(rest) - namedHung; more > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("and %s", count(more, "other")))
	}
	return f
}
