package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// orphanedLasting is how long containers may run in a sandbox that is not ready:
// a pod that is taken down looks so for a moment.
const orphanedLasting = time.Minute

// orphanedContainers finds containers that go on in a sandbox that has ended. Only
// a history knows for how long. A pod of which told speaks is left out.
func (v *view) orphanedContainers(told []Finding) (findings []Finding) {
	if len(v.past.orphaned) == 0 {
		return nil
	}
	for p := range v.podsWith((*podFacts).isOrphaned) {
		since, is := v.past.orphaned[p.UID]
		since = later(since, v.Resumed)
		sandbox, left := orphanedIn(p)
		switch {
		case !is, v.At.Sub(since) < orphanedLasting, len(left) == 0, len(findings) == ghostMost:
			continue
		case slices.ContainsFunc(told, func(f Finding) bool { return f.Subject.Pod == p.PodRef }):
			continue
		}
		f := Finding{
			ID: GhostRunning, Severity: Warning,
			Summary:  fmt.Sprintf("%s has run without its sandbox for %s", objectName(p.PodRef, left[0].Name), going(v.At.Sub(since))),
			Subject:  Subject{Pod: p.PodRef, Container: left[0].Name, ContainerID: left[0].ID},
			Evidence: []string{fmt.Sprintf("sandbox %s is not ready since %s at the latest", sandbox, clock(since))},
			Next:     []Step{{Text: "what became of the sandbox", Command: v.crictl("inspectp", sandbox)}},
		}
		for _, c := range left {
			f.say(fmt.Sprintf("%s (%s) is listed as running in it", cmp.Or(c.Name, "a container"), c.ID))
		}
		findings = append(findings, f)
	}
	return findings
}

// orphanedIn returns the containers of a pod that run in a sandbox that has
// ended, and the first such sandbox.
func orphanedIn(p *engine.Pod) (sandbox string, left []pleg.Container) {
	for _, sb := range seen(p).Sandboxes {
		if sb.State != pleg.Exited {
			continue
		}
		for _, c := range seen(p).Containers {
			if c.State == pleg.Running && c.SandboxID == sb.ID {
				sandbox, left = cmp.Or(sandbox, sb.ID), append(left, c)
			}
		}
	}
	return sandbox, left
}

// addOrphaned notes since when pods have containers that run without their sandbox.
// It remembers no pod that the snapshot does not have.
func (h *History) addOrphaned(u engine.Update) {
	var now map[pleg.UID]time.Time
	for i, p := range u.Snapshot.Pods {
		if h.pods.Values[i].orphaned {
			if now == nil {
				now = make(map[pleg.UID]time.Time)
			}
			now[p.UID] = cmp.Or(h.orphaned[p.UID], u.Snapshot.At)
		}
	}
	h.orphaned = now
}
