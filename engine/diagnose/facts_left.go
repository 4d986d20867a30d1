package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// leftLasting is how long before a look a container must have ended, so that what the look found counts as left
	// over: the runtime kills all of it, and waits for that. It is also how long lists must have shown a container
	// whose sandbox is not listed: the two lists are not made at the same moment.
	leftLasting = 10 * time.Second
	// unreadyLasting replaces leftLasting for a container whose sandbox has ended: the kubelet stops it, and gives it
	// its grace period of 30 s or more.
	unreadyLasting = time.Minute
)

// runsOn returns a match about the containers of a pod that run although the lists do not show that. If containers of
// this runtime have conmons, the match may also be about containers that no conmon watches.
func (f *Facts) runsOn(p *engine.Pod, conmons bool) (m Match, is bool) {
	found, variant := f.endedAlive(p), "left"
	if len(found) == 0 {
		found, variant = f.withoutSandbox(p), "no-sandbox"
	}
	if len(found) == 0 && conmons {
		found, variant = f.withoutConmon(p), "no-conmon"
	}
	if len(found) == 0 {
		return m, false
	}
	slices.SortFunc(found, func(a, b pleg.Container) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	o := evidence.ContainerOf(p.PodRef, &found[0])
	m = Match{Variant: variant, Severity: Warning, Subject: Subject{ObjectRef: o.ObjectRef}, Lines: map[string][]line{}}
	m.Values = Values{"object": o.Path(), "id": short(o.ID)}
	if n := len(found) - 1; n > 0 {
		m.Values["more"] = many{n, "more container"}
	}
	var processes []evidence.Process
	for _, c := range found {
		all := f.Look.Processes.Containers[c.ID]
		if i := slices.IndexFunc(all, evidence.Process.Lives); i >= 0 {
			processes = append(processes, all[i])
			m.Lines["processes"] = append(m.Lines["processes"], f.describe(cmp.Or(c.Name, "a container")+" has a process", all[i]))
		}
	}
	if shim, found := f.shimOf(o.SandboxID); found {
		m.Lines["processes"] = append(m.Lines["processes"], f.describe("its shim", shim))
		m.Values["inLog"] = shim.Sandbox
	}
	switch variant {
	case "left":
		m.Values["pid"] = pids(processes...)
		if len(processes) == 1 { // a command compares one number only
			m.Values["start"] = startOf(processes[0].Start)
		}
	case "no-sandbox":
		m.Values["is"] = "not listed"
		if seenOf(p).HasSandbox(o.SandboxID) {
			m.Values["is"], m.Values["sandbox"] = "not ready", short(o.SandboxID)
		}
	}
	return m, true
}

// endedAlive returns the containers of a pod that are listed as exited, while the last look found that their processes
// live.
func (f *Facts) endedAlive(p *engine.Pod) (found []pleg.Container) {
	for _, c := range seenOf(p).Containers {
		if c.State != pleg.Exited || !f.Look.Processes.Live(c.ID) {
			continue
		}
		if status := p.Status.Lookup().Container(c.ID); status != nil && !status.FinishedAt.IsZero() && f.endedFor(status.FinishedAt) >= leftLasting {
			found = append(found, c)
		}
	}
	return found
}

// endedFor returns for how long, at least, a container had ended before the look. The clock may have been set between
// the two.
func (f *Facts) endedFor(at time.Time) time.Duration {
	ended := min(f.Look.At.Sub(at), f.at().Sub(at))
	if c := f.Look.Clock; c.Steps > 0 {
		ended = min(ended, c.StepAge)
	}
	return ended
}

// withoutSandbox returns the containers of a pod that run in a sandbox that has ended, or that the runtime has lost.
// While an engine runs, the lists show for how long. In check the runtime must have confirmed after the lists that each
// container runs.
func (f *Facts) withoutSandbox(p *engine.Pod) (found []pleg.Container) {
	for _, c := range seenOf(p).Orphans() {
		if f.Look.Processes.Missing == "" && !f.Look.Processes.Live(c.ID) {
			continue // it is a ghost, or runs elsewhere
		}
		if status := p.Status.Lookup().Container(c.ID); f.once() && (status == nil || status.State != pleg.Running) {
			return nil // the pod is being taken down
		}
		found = append(found, c)
	}
	if len(found) == 0 {
		return nil
	}
	lasting := leftLasting
	if seenOf(p).HasSandbox(found[0].SandboxID) {
		lasting = unreadyLasting
	}
	if !f.once() && (p.Orphaned.IsZero() || f.at().Sub(answers.Later(p.Orphaned, f.Resumed)) < lasting) {
		return nil
	}
	if sandbox, made := found[0].SandboxID, found[0].CreatedAt; !seenOf(p).HasSandbox(sandbox) {
		_, elsewhere := f.listed(sandbox)                                                 // with another pod
		young := f.once() && (made.IsZero() || f.Health.ListedAt.Sub(made) < leftLasting) // it may be from between the two lists
		if elsewhere || young || !f.listsAreWhole() {
			return nil
		}
	}
	return found
}

// withoutConmon returns the containers of a pod of CRI-O that live and have no conmon, while other containers have one:
// nobody would see their end.
func (f *Facts) withoutConmon(p *engine.Pod) (found []pleg.Container) {
	for _, c := range seenOf(p).Containers {
		if c.State != pleg.Running || f.hasConmon(c.ID) || len(f.conmons) == 0 {
			continue
		}
		if process, is := f.worstOf(c.ID); is && process.Lives() && process.Age > unlistedFor {
			found = append(found, c)
		}
	}
	return found
}
