package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// slowFactor is how many times as long as the others an object must take to
	// be the one that is slow, and not the runtime.
	slowFactor = 10
	// slowHolds is how long a sweep's slow object is spoken of, and lateHolds an
	// inspection's: that is over, and asked for anew it may come at once.
	slowHolds = time.Minute
	lateHolds = 20 * time.Second
)

// inspectSlow finds objects whose status came, but late, while those of others
// are fast. Nothing hangs there; it is how a hang begins.
func (in Input) inspectSlow(r *reading) []Finding {
	var findings []Finding
	for _, o := range r.slowInSweep() {
		findings = append(findings, in.slowFinding(r, o.Flight, o.Took))
	}
	if len(findings) > 0 {
		return findings
	}
	for _, p := range r.Pods {
		if f, slow := r.slowPod(p, &in.past().lates); slow && len(findings) < fullHung {
			found := in.slowFinding(r, f, p.InspectLast)
			found.Severity = Info
			findings = append(findings, found)
		}
	}
	return findings
}

func (r *reading) slowInSweep() []engine.Swept {
	w := r.Sweep
	if w == nil || w.Ended.IsZero() || r.At.Sub(w.Ended) > slowHolds {
		return nil
	}
	var slow []engine.Swept
	for _, o := range w.Slowest {
		if o.Err == nil && o.Took >= late && r.stands(o.Op, o.Took) && !r.inspectedSince(o.Flight, w.Ended) {
			slow = append(slow, o)
		}
	}
	return slow
}

// stands reports whether a call of an operation took much longer than half of
// its like.
func (r *reading) stands(op call.Operation, took time.Duration) bool {
	sums := r.sums(op)
	return sums.P50 > 0 && took >= slowFactor*sums.P50
}

// slowPod reports whether a pod's last inspection was late though it succeeded,
// and which call it was, as far as that can be told from the outside.
func (r *reading) slowPod(p *engine.Pod, lates *lateCalls) (engine.Flight, bool) {
	f := engine.Flight{Pod: p.PodRef}
	if p.StatusErr != nil || p.InspectLast < hung || r.At.Sub(p.InspectedAt) > lateHolds || p.Seen() == nil || r.hangsIn(p.PodRef) {
		return f, false
	}
	each := p.InspectLast / time.Duration(max(1, len(p.Seen().Containers)+len(p.Seen().Sandboxes)))
	if !r.stands(call.PodSandboxStatus, each) || !r.stands(call.ContainerStatus, each) {
		return f, false
	}
	if known, ok := lates.of(p); ok {
		return known, true
	}
	f.Op = call.PodSandboxStatus
	if r.sums(call.ContainerStatus).Max > r.sums(call.PodSandboxStatus).Max {
		f.Op = call.ContainerStatus
		if listed := p.Seen().Containers; len(listed) == 1 {
			f.Container, f.ID = listed[0].Name, listed[0].ID
		}
	} else if listed := p.Seen().Sandboxes; len(listed) == 1 {
		f.ID = listed[0].ID
	}
	return f, true
}

// hangsIn reports whether an object of a pod hangs now.
func (r *reading) hangsIn(pod pleg.PodRef) bool {
	return slices.ContainsFunc(r.objects, func(h hang) bool { return h.Pod == pod })
}

func (in Input) slowFinding(r *reading, f engine.Flight, took time.Duration) Finding {
	found := Finding{
		ID: InspectHung, Severity: Warning,
		Summary: fmt.Sprintf("%v of %s was answered after %s, half of the others within %s", f.Op, object(f), span(took), span(r.sums(f.Op).P50)),
		Subject: on(f.Op, f.Pod, f.Container, f.ID),
		Next:    in.objectSteps(r, f)[:1],
	}
	found.Evidence = append(lines(r.neighbours()), in.processes(r, f)...)
	return found
}
