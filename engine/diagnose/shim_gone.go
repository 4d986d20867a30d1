package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// exitLost is the exit code that containerd gives a container whose shim has
	// gone, and with it the real one.
	exitLost = 255
	// lostShown is how long a shim's death is spoken of: the kubelet makes the pod
	// anew within seconds.
	lostShown = 5 * time.Minute
	// lostMost is how many are told.
	lostMost = 10
)

// shimsGone tells of pods whose shim the runtime could not reach when it was started: it
// has ended the pod, and the shim stays. And of those whose shim was killed: the runtime
// has taken it in, and nothing is left to do but to know why the pod was made anew. After
// a start of the node all containers look so: then no shim is older than their end.
func (v *view) shimsGone() []Finding {
	if !v.seesShims() {
		return nil
	}
	var findings []Finding
	for p := range v.podsWith((*podFacts).hasLost) {
		if p.Status == nil || len(findings) == lostMost {
			continue
		}
		for _, sb := range seen(p).Sandboxes {
			lost := lostWith(p, sb, v.At)
			if len(lost) == 0 {
				continue
			}
			since := v.evidence.At.Sub(lost[0].FinishedAt)
			if shim, lives := v.shim(sb.ID); lives && shim.Sandbox == sb.ID && since >= leftLasting && shim.Age > since {
				findings = append(findings, v.shimUnreachable(p, sb, shim, lost))
				break
			}
			if v.noShim(sb.ID, lost[0].FinishedAt) && v.shimBefore(lost[0].FinishedAt) {
				findings = append(findings, v.shimGoneFinding(p, sb, lost))
				break
			}
		}
	}
	return findings
}

// lostWith returns the containers whose end the runtime learned from the death of
// the shim of a sandbox, the last to end first, unless that was long ago.
func lostWith(p *engine.Pod, sb pleg.Sandbox, at time.Time) (lost []pleg.ContainerStatus) {
	if sb.State != pleg.Exited || sb.ID == "" {
		return nil
	}
	find := p.Status.Lookup()
	for _, c := range seen(p).Containers {
		if c.SandboxID != sb.ID || c.State != pleg.Exited {
			continue
		}
		if status := find.Container(c.ID); status != nil && status.ExitCode == exitLost && at.Sub(status.FinishedAt) <= lostShown {
			lost = append(lost, *status)
		}
	}
	slices.SortFunc(lost, func(a, b pleg.ContainerStatus) int {
		return cmp.Or(b.FinishedAt.Compare(a.FinishedAt), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return lost
}

// seesShims reports whether the look found shims of this runtime, all there are.
func (v *view) seesShims() bool {
	return v.evidence.Processes.Whole() && len(v.evidence.Processes.Shims) > 0
}

// noShim reports whether a sandbox that was there before the look has no shim, while
// another of this runtime has one.
func (v *view) noShim(sandbox string, then time.Time) bool {
	if !v.seesShims() || sandbox == "" || then.IsZero() || !v.sameClock() {
		return false
	}
	if _, there := v.shim(sandbox); there || !then.Before(v.evidence.At.Add(-v.evidence.Took)) {
		return false
	}
	return slices.ContainsFunc(v.evidence.Processes.Shims, func(p evidence.Process) bool { return p.Own })
}

// shimBefore reports whether a shim of this runtime is older than a moment.
func (v *view) shimBefore(then time.Time) bool {
	return slices.ContainsFunc(v.evidence.Processes.Shims, func(p evidence.Process) bool {
		return p.Own && v.evidence.At.Add(-p.Age).Before(then)
	})
}

func (v *view) shimGoneFinding(p *engine.Pod, sb pleg.Sandbox, lost []pleg.ContainerStatus) Finding {
	f := Finding{
		ID: GhostRunning, Severity: Info,
		Summary:  fmt.Sprintf("%v has lost its shim: %s ended with exit code %d, %s ago", p.PodRef, count(len(lost), "container"), exitLost, going(v.At.Sub(lost[0].FinishedAt))),
		Subject:  Subject{ObjectRef: pleg.ObjectRef{ID: sb.ID, Pod: p.PodRef, Sandbox: true}},
		Evidence: []string{fmt.Sprintf("its shim is gone: none on the node is of sandbox %s, which is not ready", sb.ID)},
		Next: []Step{
			{Text: "whether it was killed for want of memory", Command: "dmesg -T | grep -i -e oom -e 'killed process' | tail"},
			{Text: "what the runtime says of it", Command: v.logs() + " | grep -F -e " + quote(sb.ID)},
		},
	}
	v.sayLost(&f, lost)
	f.say("that code is what the runtime gives where a shim was killed; a program may end with it, too")
	return f
}

func (v *view) sayLost(f *Finding, lost []pleg.ContainerStatus) {
	for _, c := range lost {
		f.say(fmt.Sprintf("%s (%s) ended with exit code %d at %s", cmp.Or(c.Name, "a container"), c.ID, c.ExitCode, v.clock(c.FinishedAt)))
	}
}

func (v *view) shimUnreachable(p *engine.Pod, sb pleg.Sandbox, shim evidence.Process, lost []pleg.ContainerStatus) Finding {
	f := Finding{
		ID: GhostRunning, Severity: Warning,
		Summary: fmt.Sprintf("the runtime could not reach the shim of %v, pid %d, and has ended its %s", p.PodRef, shim.PID, count(len(lost), "container")),
		Subject: Subject{ObjectRef: pleg.ObjectRef{ID: sb.ID, Pod: p.PodRef, Sandbox: true}},
		Next: []Step{
			{Text: "why it could not; mostly as it was started", Command: v.logs() + " | grep -F -e " + quote(sb.ID)},
			{Text: "ends the shim, which serves nobody any more", Command: fmt.Sprintf("kill -9 %d", shim.PID), Risky: true},
		},
	}
	f.say(describe("its shim lives", shim), fmt.Sprintf("sandbox %s is not ready", sb.ID))
	v.sayLost(&f, lost)
	return f
}
