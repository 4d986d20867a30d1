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
	// lostReason is the reason that containerd gives to a container if containerd finds no task for it when it starts.
	// (containerd 1.6 to 2.4, loadContainer)
	lostReason = "Unknown"
	// lostFor is how long the death of a shim is reported. The kubelet makes the pod anew within seconds.
	lostFor = 5 * time.Minute
	// lostMost is how many are reported.
	lostMost = 10
)

// lostShims reports pods whose shim the runtime could not reach when it started: the runtime has ended the pod, and the
// shim stays. It also reports pods whose shim was killed: then nothing is left to do but to find out why. After a boot
// all containers look like that; but then no shim is older than their end.
func (f *Facts) lostShims(report func(Match)) {
	n := 0
	for p := range f.podsWith((*podFacts).hasLost) {
		if m, is := f.lostPod(p); is && n < lostMost {
			n++
			report(m)
		}
	}
}

func (f *Facts) lostPod(p *engine.Pod) (m Match, is bool) {
	if p.Status == nil || !f.seesShims() {
		return m, false
	}
	for _, s := range seenOf(p).Sandboxes {
		lost := f.lostWith(p, s)
		if len(lost) == 0 {
			continue
		}
		m = Match{Severity: Info, Alone: true, Subject: Subject{ObjectRef: pleg.ObjectRef{ID: s.ID, Pod: p.PodRef, Sandbox: true}}, Lines: map[string][]line{}}
		v := Values{"pod": p.String(), "containers": many{len(lost), "container"}, "id": s.ID, "sandbox": pleg.ShortID(s.ID)}
		for _, c := range lost {
			m.Lines["lost"] = append(m.Lines["lost"], lineOf("lost", Values{"name": cmp.Or(c.Name, "a container"), "short": short(c.ID), "at": c.FinishedAt, "reason": c.Reason}))
		}
		end := lost[0].FinishedAt
		since := f.Look.At.Sub(end)
		older := func(p evidence.Process) bool { return p.Own && p.Age > since }
		shim, found := f.shimOf(s.ID)
		switch {
		case found && shim.Sandbox == s.ID && shim.Age > since && since >= leftLasting:
			m.Variant, m.Severity, m.Values = "unreachable", Warning, processValues(shim).with(v).with(Values{"number": pid(shim.PID)})
			m.Lines["shim"] = []line{f.describe("its shim lives", shim)}
			return m, true
		case f.noShim(s.ID, end) && slices.ContainsFunc(f.Look.Processes.Shims, older):
			m.Variant, m.Values = "shim-gone", v.with(Values{"age": age(f.at().Sub(end))})
			return m, true
		}
	}
	return m, false
}

// lostWith returns the containers whose end the runtime learned from the death of a sandbox's shim. The one that ended
// last comes first. Ends longer ago than lostFor are left out.
func (f *Facts) lostWith(p *engine.Pod, s pleg.Sandbox) (lost []pleg.ContainerStatus) {
	if s.ID == "" || s.State != pleg.Exited {
		return nil
	}
	find := p.Status.Lookup()
	for _, c := range seenOf(p).Containers {
		status := find.Container(c.ID)
		if c.SandboxID == s.ID && c.State == pleg.Exited && status != nil && status.ExitCode == exitLost && f.at().Sub(status.FinishedAt) <= lostFor {
			lost = append(lost, *status)
		}
	}
	slices.SortFunc(lost, func(a, b pleg.ContainerStatus) int {
		return cmp.Or(b.FinishedAt.Compare(a.FinishedAt), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return lost
}
