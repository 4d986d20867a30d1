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
	// reasonLost is the reason that it gives beside it to a container of which it finds no
	// task when it is started. (containerd 1.6 to 2.4: loadContainer.)
	reasonLost = "Unknown"
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
// And of containers that the runtime lost alone, or whose state it does not know.
func (v *view) shimsGone() (findings []Finding) {
	for p := range v.podsWith((*podFacts).hasLost) {
		if len(findings) == lostMost {
			break
		}
		if f, is := v.lost(p); is {
			findings = append(findings, f)
		}
	}
	return findings
}

func (v *view) lost(p *engine.Pod) (Finding, bool) {
	find := p.Status.Lookup()
	for _, c := range seen(p).Containers {
		if status := find.Container(c.ID); c.State == pleg.Unknown && (status == nil || status.State == pleg.Unknown) {
			return v.unknownFinding(p, c), true
		}
	}
	if p.Status == nil || !v.seesShims() {
		return Finding{}, false
	}
	for _, sb := range seen(p).Sandboxes {
		lost := v.lostWith(p, sb)
		if len(lost) == 0 {
			continue
		}
		end := lost[0].FinishedAt
		since := v.evidence.At.Sub(end)
		shim, lives := v.shim(sb.ID)
		switch lives = lives && shim.Sandbox == sb.ID && shim.Age > since; {
		case lives && sb.State != pleg.Exited:
			return v.restartLost(p, shim, lost), true
		case lives && since >= leftLasting:
			return v.shimUnreachable(p, sb, shim, lost), true
		case sb.State == pleg.Exited && v.noShim(sb.ID, end) && v.shimBefore(end):
			return v.shimGoneFinding(p, sb, lost), true
		}
	}
	return Finding{}, false
}

// lostWith returns the containers whose end the runtime learned from the death of
// the shim of a sandbox, the last to end first, unless that was long ago; of a sandbox that
// is ready those that the runtime found no more when it was started.
func (v *view) lostWith(p *engine.Pod, sb pleg.Sandbox) (lost []pleg.ContainerStatus) {
	if sb.ID == "" {
		return nil
	}
	find := p.Status.Lookup()
	for _, c := range seen(p).Containers {
		if c.SandboxID != sb.ID || c.State != pleg.Exited {
			continue
		}
		status := find.Container(c.ID)
		if status == nil || status.ExitCode != exitLost || v.At.Sub(status.FinishedAt) > lostShown {
			continue
		}
		if sb.State == pleg.Exited || sb.State == pleg.Running && status.Reason == reasonLost && !v.evidence.Processes.Live(c.ID) { // else it was left running
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
		Evidence: []string{fmt.Sprintf("its shim is gone: none on the node is of sandbox %s, which is not ready", pleg.ShortID(sb.ID))},
		Next:     v.advise("sandbox.lost-shim", Values{"id": one(sb.ID)}),
	}
	v.sayLost(&f, lost)
	if lost[0].Reason == reasonLost {
		f.Summary = fmt.Sprintf("%v was lost when the runtime was started %s ago: it found no shim, and ended its %s", p.PodRef, going(v.At.Sub(lost[0].FinishedAt)), count(len(lost), "container"))
		return f
	}
	f.say("that code is what the runtime gives where a shim was killed; a program may end with it, too")
	return f
}

// restartLost is about containers that the runtime did not find when it was started, in
// a sandbox that it did find.
func (v *view) restartLost(p *engine.Pod, shim evidence.Process, lost []pleg.ContainerStatus) Finding {
	last := pleg.ObjectRef{ID: lost[0].ID, Pod: p.PodRef, Container: lost[0].Name}
	f := Finding{
		ID: GhostRunning, Severity: Info,
		Summary: fmt.Sprintf("%v was lost when the runtime was started %s ago: it found no task of it, as where its bundle is gone", last, going(v.At.Sub(lost[0].FinishedAt))),
		Subject: Subject{ObjectRef: last},
		Next:    v.advise("container.lost", Values{"id": one(last.ID)}),
	}
	v.sayLost(&f, lost)
	f.say(v.describe("the shim of its sandbox lives", shim))
	return f
}

// unknownFinding is about a container of which the runtime says nothing better than that
// its state is unknown.
func (v *view) unknownFinding(p *engine.Pod, c pleg.Container) Finding {
	o := evidence.ContainerOf(p.PodRef, &c)
	f := Finding{
		ID: GhostRunning, Severity: Info,
		Summary: "the runtime does not know the state of " + o.String(),
		Subject: Subject{ObjectRef: o.ObjectRef},
		Next:    v.advise("container.unknown", Values{"id": short(c.ID)}),
	}
	f.say(c.ID+" is listed as unknown", "the kubelet tries to kill such a container before it starts it again")
	if worst, found := v.worst(c.ID); found {
		f.say(v.describe("it has a process", worst))
	}
	return f
}

func (v *view) sayLost(f *Finding, lost []pleg.ContainerStatus) {
	for _, c := range lost {
		if c.Reason == reasonLost {
			f.say(fmt.Sprintf("%s (%s) has exit code %d and the reason %s since %s: the runtime, when it was started, found no task of it; when and how it ended is not known",
				cmp.Or(c.Name, "a container"), c.ID, c.ExitCode, reasonLost, v.clock(c.FinishedAt)))
			continue
		}
		f.say(fmt.Sprintf("%s (%s) ended with exit code %d at %s", cmp.Or(c.Name, "a container"), pleg.ShortID(c.ID), c.ExitCode, v.clock(c.FinishedAt)))
	}
}

func (v *view) shimUnreachable(p *engine.Pod, sb pleg.Sandbox, shim evidence.Process, lost []pleg.ContainerStatus) Finding {
	f := Finding{
		ID: GhostRunning, Severity: Warning,
		Summary: fmt.Sprintf("the runtime could not reach the shim of %v, pid %d, and has ended its %s", p.PodRef, shim.PID, count(len(lost), "container")),
		Subject: Subject{ObjectRef: pleg.ObjectRef{ID: sb.ID, Pod: p.PodRef, Sandbox: true}},
	}
	values := v.processValues(shim)
	values["id"] = one(sb.ID)
	f.Next = v.advise("shim.unreachable", values)
	f.say(v.describe("its shim lives", shim), fmt.Sprintf("sandbox %s is not ready", pleg.ShortID(sb.ID)))
	v.sayLost(&f, lost)
	return f
}
