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

// shimsGone tells of pods whose shim was killed: the runtime has taken it in, and
// nothing is left to do but to know why the pod was made anew. After a start of the
// node all containers look so: then no shim is older than their end.
func shimsGone(in Input) []Finding {
	if !in.seesShims() {
		return nil
	}
	var findings []Finding
	for _, p := range in.Snapshot.Pods {
		if p.Status == nil || p.Seen() == nil || len(findings) == lostMost {
			continue
		}
		for _, sb := range p.Seen().Sandboxes {
			lost := lostWith(p, sb, in.Snapshot.At)
			if len(lost) > 0 && in.noShim(sb.ID, lost[0].FinishedAt) && in.shimBefore(lost[0].FinishedAt) {
				findings = append(findings, in.shimGoneFinding(p, sb, lost))
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
	for _, c := range p.Seen().Containers {
		if c.SandboxID != sb.ID || c.State != pleg.Exited {
			continue
		}
		if status, inspected := statusOf(p, c.ID); inspected && status.ExitCode == exitLost && at.Sub(status.FinishedAt) <= lostShown {
			lost = append(lost, status)
		}
	}
	slices.SortFunc(lost, func(a, b pleg.ContainerStatus) int {
		return cmp.Or(b.FinishedAt.Compare(a.FinishedAt), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return lost
}

// seesShims reports whether the look found shims of this runtime, all there are.
func (in Input) seesShims() bool {
	e := in.Evidence
	return e != nil && e.Processes.Missing == "" && e.Processes.Partial == "" && len(e.Processes.Shims) > 0
}

// noShim reports whether a sandbox that was there before the look has no shim, while
// another of this runtime has one.
func (in Input) noShim(sandbox string, then time.Time) bool {
	if !in.seesShims() || sandbox == "" || then.IsZero() || in.Snapshot.At.Sub(in.Evidence.At).Abs() >= ghostSameClock {
		return false
	}
	if _, there := in.shim(sandbox); there || !then.Before(in.Evidence.At.Add(-in.Evidence.Took)) {
		return false
	}
	return slices.ContainsFunc(in.Evidence.Processes.Shims, in.owns)
}

// shimBefore reports whether a shim of this runtime is older than a moment.
func (in Input) shimBefore(then time.Time) bool {
	return slices.ContainsFunc(in.Evidence.Processes.Shims, func(p evidence.Process) bool {
		return in.owns(p) && in.Evidence.At.Add(-p.Age).Before(then)
	})
}

func (in Input) shimGoneFinding(p *engine.Pod, sb pleg.Sandbox, lost []pleg.ContainerStatus) Finding {
	f := Finding{
		ID: GhostRunning, Severity: Info,
		Summary:  fmt.Sprintf("%v has lost its shim: %s ended with exit code %d, %s ago", p.PodRef, count(len(lost), "container"), exitLost, going(in.Snapshot.At.Sub(lost[0].FinishedAt))),
		Subject:  Subject{Pod: p.PodRef, ContainerID: sb.ID},
		Evidence: []string{fmt.Sprintf("its shim is gone: none on the node is of sandbox %s, which is not ready", sb.ID)},
		Next: []Step{
			{Text: "whether it was killed for want of memory", Command: "dmesg -T | grep -i -e oom -e 'killed process' | tail"},
			{Text: "what the runtime says of it", Command: in.logs() + " | grep -F -e " + quote(sb.ID)},
		},
	}
	for _, c := range lost {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s (%s) ended with exit code %d at %s", cmp.Or(c.Name, "a container"), c.ID, c.ExitCode, clock(c.FinishedAt)))
	}
	f.Evidence = append(f.Evidence, "that code is what the runtime gives where a shim was killed; a program may end with it, too")
	return f
}

// ended reports whether a sandbox of a pod is listed as not ready.
func ended(pod *pleg.Pod, sandbox string) bool {
	for _, sb := range pod.Sandboxes {
		if sb.ID == sandbox {
			return sb.State == pleg.Exited
		}
	}
	return false
}
