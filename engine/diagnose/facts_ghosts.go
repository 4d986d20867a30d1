package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// ghostGrown is how long a container must have run to be a ghost: a look may be 5 s old.
	ghostGrown = 10 * time.Second
	// ghostGap is how much later than the lists the look of check may end. With a larger gap, a container that ended
	// between the two would seem a ghost.
	ghostGap = time.Second
	// ghostLooks is for how long the looks, one every 5 s, must have missed a container that was listed as running.
	// ghostBusy replaces it while other containers begin or end: a busy runtime reports an end some seconds late.
	ghostLooks = 4 * time.Second
	ghostBusy  = 30 * time.Second
	// A node is busy if containers of more than ghostFew pods have begun or ended within ghostQuiet.
	ghostQuiet = 10 * time.Second
	ghostFew   = 3
)

// A ghost is a container that runs only according to the runtime.
type ghost struct {
	evidence.Object
	started  time.Time
	shimGone bool
	silent   bool // its shim is gone or does nothing: nobody reports its end
}

// ghosts returns the running containers for which the look found no process, in the order of the pods, and how many
// running containers have one.
func (f *Facts) ghosts() (ghosts []ghost, found int) {
	canMiss := f.Look.Processes.Whole() && f.Failure == nil && !f.Health.ListedAt.IsZero() && (f.once() || f.sameClock())
	if !canMiss || !f.once() && len(f.Memory.Missed) == 0 { // as on nearly every node
		return nil, 0
	}
	missed := make(map[string]bool) // by id: a broken list may have one id thousands of times
	for _, p := range f.Pods {
		if p.Status != nil && len(p.Status.Sandboxes) > 0 && knowledge.RunsElsewhere(p.Status.Sandboxes[0].Handler, "") {
			continue
		}
		for _, c := range seenOf(p).Containers {
			switch {
			case c.State != pleg.Running:
			case f.Look.Processes.Live(c.ID):
				found++
			case !missed[c.ID]:
				missed[c.ID] = true
				if g, is := f.ghostOf(p, c); is {
					ghosts = append(ghosts, g)
				}
			}
		}
	}
	return ghosts, found
}

// ghostOf returns a container without a process as a ghost. is reports whether it is one: it has run for long enough,
// had not just ended when the look was made, and something else shows that its pod runs on this machine.
func (f *Facts) ghostOf(p *engine.Pod, c pleg.Container) (g ghost, is bool) {
	g = ghost{Object: evidence.ContainerOf(p.PodRef, &c), started: c.CreatedAt}
	late := f.once() && f.sameClock() && f.Look.At.Sub(f.Health.ListedAt) > ghostGap
	if status := p.Status.Lookup().Container(c.ID); status != nil {
		if status.State != pleg.Running {
			return g, false // it has ended since it was listed
		}
		g.started, late = cmp.Or(status.StartedAt, c.CreatedAt), late && !p.InspectedAt.After(f.Look.At)
	}
	g.shimGone = f.noShim(g.SandboxID, g.started)
	shim, found := f.shimOf(g.ID, g.SandboxID)
	g.silent = g.shimGone || found && f.doing(&shim, evidence.AsMonitor).DoesNothing()
	return g, (!late || g.silent) && (g.shimGone || f.at().Sub(g.started) > ghostGrown) && f.isHere(p, g)
}

// isHere reports whether the containers of a pod have processes on this machine, and not in a sandbox or a virtual
// machine of their own. The pause process shows that, or else another container. A pod whose shim is gone had processes
// here. Each container of CRI-O that runs here has, or had, a conmon.
func (f *Facts) isHere(p *engine.Pod, g ghost) bool {
	ended := false
	for _, s := range seenOf(p).Sandboxes {
		if inside := f.Look.Processes.Containers[s.ID]; len(inside) > 0 {
			return !slices.ContainsFunc(inside, func(p evidence.Process) bool { return knowledge.RunsElsewhere("", p.Command) })
		}
		ended = ended || s.ID == g.SandboxID && s.State == pleg.Exited
	}
	return g.shimGone && ended || p.Status != nil && f.isCRIO() && f.seesShims() ||
		slices.ContainsFunc(seenOf(p).Containers, func(o pleg.Container) bool { return len(f.Look.Processes.Containers[o.ID]) > 0 })
}

// hasConmon reports whether a container has its own conmon. Each container of CRI-O has one.
func (f *Facts) hasConmon(id string) bool {
	if f.conmons == nil {
		f.conmons = make(map[string]bool)
		for _, p := range f.Look.Processes.Shims {
			if p.Container != "" {
				f.conmons[p.Container] = true
			}
		}
	}
	return f.conmons[id]
}

// seesShims reports whether the look could see all shims, and found one at least.
func (f *Facts) seesShims() bool { return f.Look.Processes.Whole() && len(f.Look.Processes.Shims) > 0 }

// noShim reports whether a sandbox that was there before the look has no shim, while another sandbox of this runtime
// has one.
func (f *Facts) noShim(sandbox string, then time.Time) bool {
	if !f.seesShims() || sandbox == "" || then.IsZero() || !f.sameClock() {
		return false
	}
	if _, there := f.shimOf(sandbox); there || !then.Before(f.Look.At.Add(-f.Look.Took)) {
		return false
	}
	return slices.ContainsFunc(f.Look.Processes.Shims, func(p evidence.Process) bool { return p.Own })
}

// missedLong reports whether a container was still listed as running so long after looks first missed it that the
// runtime cannot just be slow to report its end. In check only a quiet node shows that, or a shim that reports no end.
func (f *Facts) missedLong(g ghost, quiet bool) bool {
	if f.once() {
		return quiet || g.silent
	}
	long := ghostBusy
	if quiet || g.silent {
		long = ghostLooks
	}
	since, missed := f.Memory.Missed[g.ID]
	return missed && f.Health.ListedAt.Sub(since) >= long
}

// isQuiet reports whether containers of few pods only have begun or ended within ghostQuiet.
func (f *Facts) isQuiet() bool {
	recent, pods := f.at().Add(-ghostQuiet).Unix(), 0
	for i := range f.pods {
		if p := &f.pods[i]; p.newest > recent || p.died > recent {
			pods++
		}
	}
	return pods <= ghostFew
}
