package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// lostReason is the reason that containerd gives to a container of which it finds no task when it starts. (containerd 1.6
	// to 2.4, loadContainer)
	lostReason = "Unknown"
	// lostFor is how long the death of a shim is reported: the kubelet makes the pod anew within seconds.
	lostFor = 5 * time.Minute
	// lostMost is how many are reported.
	lostMost = 10
)

// lostShims reports pods whose shim the runtime could not reach when it started: it has ended the pod, and the shim stays.
// It also reports pods whose shim was killed, containers that the runtime lost alone, and containers whose state it does not
// know: nothing is left to do but to know why. After a boot all containers look so: then no shim is older than their end.
func (f *Facts) lostShims(report func(Match)) {
	n := 0
	for p := range f.podsWith((*podFacts).hasLost) {
		if m, is := f.lostPod(p); is && n < lostMost {
			n++
			m.Alone = true
			report(m)
		}
	}
}

func (f *Facts) lostPod(p *engine.Pod) (m Match, is bool) {
	find := p.Status.Lookup()
	for _, c := range seenOf(p).Containers {
		if status := find.Container(c.ID); c.State == pleg.Unknown && (status == nil || status.State == pleg.Unknown) {
			return f.unknownState(evidence.ContainerOf(p.PodRef, &c)), true
		}
	}
	if p.Status == nil || !f.seesShims() {
		return m, false
	}
	for _, s := range seenOf(p).Sandboxes {
		lost := f.lostWith(p, s)
		if len(lost) == 0 {
			continue
		}
		end := lost[0].FinishedAt
		since := f.Look.At.Sub(end)
		shim, lives := f.shimOf(s.ID)
		switch lives = lives && shim.Sandbox == s.ID && shim.Age > since; {
		case lives && s.State != pleg.Exited:
			last := pleg.ObjectRef{ID: lost[0].ID, Pod: p.PodRef, Container: lost[0].Name}
			return f.lostMatch("restart-lost", Info, last, lost, shim), true
		case lives && since >= leftLasting:
			return f.lostMatch("unreachable", Warning, pleg.ObjectRef{ID: s.ID, Pod: p.PodRef, Sandbox: true}, lost, shim), true
		case s.State == pleg.Exited && f.noShim(s.ID, end) && f.shimBefore(end):
			variant := "shim-gone"
			if lost[0].Reason == lostReason {
				variant = "shim-gone-at-start"
			}
			return f.lostMatch(variant, Info, pleg.ObjectRef{ID: s.ID, Pod: p.PodRef, Sandbox: true}, lost, shim), true
		}
	}
	return m, false
}

// lostWith returns the containers whose end the runtime learned from the death of the shim of a sandbox, the last to end
// first, unless that was long ago; of a sandbox that is ready those that the runtime did not find when it started.
func (f *Facts) lostWith(p *engine.Pod, s pleg.Sandbox) (lost []pleg.ContainerStatus) {
	if s.ID == "" {
		return nil
	}
	find := p.Status.Lookup()
	for _, c := range seenOf(p).Containers {
		if c.SandboxID != s.ID || c.State != pleg.Exited {
			continue
		}
		status := find.Container(c.ID)
		if status == nil || status.ExitCode != exitLost || f.at().Sub(status.FinishedAt) > lostFor {
			continue
		}
		if s.State == pleg.Exited || s.State == pleg.Running && status.Reason == lostReason && !f.Look.Processes.Live(c.ID) { // else it was left running
			lost = append(lost, *status)
		}
	}
	slices.SortFunc(lost, func(a, b pleg.ContainerStatus) int {
		return cmp.Or(b.FinishedAt.Compare(a.FinishedAt), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return lost
}

// shimBefore reports whether a shim of this runtime is older than a moment.
func (f *Facts) shimBefore(then time.Time) bool {
	return slices.ContainsFunc(f.Look.Processes.Shims, func(p evidence.Process) bool { return p.Own && f.Look.At.Add(-p.Age).Before(then) })
}

func (f *Facts) lostMatch(variant string, severity Severity, o pleg.ObjectRef, lost []pleg.ContainerStatus, shim evidence.Process) Match {
	m := Match{
		Variant: variant, Severity: severity, Subject: Subject{ObjectRef: o},
		Values: processValues(shim).with(Values{
			"object": o.String(), "pod": o.Pod.String(), "number": pid(shim.PID), "containers": many{len(lost), "container"}, "age": age(f.at().Sub(lost[0].FinishedAt)),
			"id": o.ID, "sandbox": pleg.ShortID(o.ID),
		}),
		Lines: map[string][]line{"shim": {f.describe("its shim lives", shim)}},
	}
	if variant == "restart-lost" {
		m.Lines["shim"] = []line{f.describe("the shim of its sandbox lives", shim)}
	}
	for _, c := range lost {
		v := Values{"name": cmp.Or(c.Name, "a container"), "id": c.ID, "short": short(c.ID), "at": c.FinishedAt}
		if c.Reason == lostReason {
			m.Lines["lost"] = append(m.Lines["lost"], lineOf("lost-at-start", v))
		} else {
			m.Lines["lost"] = append(m.Lines["lost"], lineOf("lost-with-shim", v))
		}
	}
	return m
}

// unknownState is about a container of which the runtime says only that its state is unknown.
func (f *Facts) unknownState(o evidence.Object) Match {
	m := Match{
		Variant: "unknown", Severity: Info, Subject: Subject{ObjectRef: o.ObjectRef}, Values: Values{"object": o.String(), "id": short(o.ID), "whole": o.ID}, Lines: map[string][]line{},
	}
	if p, found := f.worstOf(o.ID); found {
		m.Lines["process"] = []line{f.describe("it has a process", p)}
	}
	return m
}
