package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// GhostRunning is a container that runs only by the runtime's word.
const GhostRunning ID = "ghost-running"

const (
	// ghostGrown is how long a container must have run: a look may be 5 s old.
	ghostGrown = 10 * time.Second
	// ghostGap is how much later than the lists the look of check may end: what ended between the two is no ghost.
	ghostGap = time.Second
	// ghostLooks is for how long looks, one in 5 s, must have missed a container that was listed as running. ghostBusy is the
	// same while others begin or end: a busy runtime reports an end some seconds late.
	ghostLooks = 4 * time.Second
	ghostBusy  = 30 * time.Second
	// A node is busy if containers of more than ghostFew pods have begun or ended within ghostQuiet.
	ghostQuiet = 10 * time.Second
	ghostFew   = 3
)

// The runtime says that a container runs, and there is no process of it: nobody reported its end to the runtime. A look is
// trusted only if it found the processes of at least as many other containers: a runtime elsewhere, or in a virtual
// machine, has none here. The pod must have something else here for the same reason.
var ghostRunning = Rule{
	ID: GhostRunning, Needs: Lists, Most: 10,
	Find: func(f *Facts, report func(Match)) {
		if ghosts, found := f.ghosts(); len(ghosts) > 0 && len(ghosts) <= found {
			quiet := f.isQuiet()
			for _, g := range ghosts {
				if f.missedLong(g, quiet) {
					report(f.ghostMatch(g))
				}
			}
		}
		f.lostShims(report)
	},
}

// A ghost is a container, what is left of it, and when it was started.
type ghost struct {
	evidence.Object
	started  time.Time
	zombies  []evidence.Process
	shimGone bool
}

// canMiss reports whether what the look does not find is not there.
func (f *Facts) canMiss() bool {
	return f.Look.Processes.Whole() && f.Failure == nil && !f.Health.ListedAt.IsZero() && (f.once() || f.sameClock())
}

// ghosts returns the containers of which the look found no process, in the order of the pods, and how many running
// containers have one.
func (f *Facts) ghosts() (ghosts []ghost, found int) {
	if !f.canMiss() || !f.once() && len(f.Memory.Missed) == 0 { // as on nearly every node
		return nil, 0
	}
	missed := make(map[string]bool) // by id: a list may have one thousands of times
	for _, p := range f.Pods {
		if handler, known := handlerOf(p); known && knowledge.RunsElsewhere(handler, "") {
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

// ghostOf returns a container without a process as a ghost, if it has run for long enough, had not just ended when the
// look was made, and something else shows that its pod is here.
func (f *Facts) ghostOf(p *engine.Pod, c pleg.Container) (g ghost, is bool) {
	g = ghost{Object: evidence.ContainerOf(p.PodRef, &c), started: c.CreatedAt, zombies: f.Look.Processes.Containers[c.ID]}
	if status := p.Status.Lookup().Container(c.ID); status != nil {
		if status.State != pleg.Running {
			return g, false // it has ended since it was listed
		}
		g.started = cmp.Or(status.StartedAt, c.CreatedAt)
	}
	g.shimGone = f.noShim(g.SandboxID, g.started)
	pod := seenOf(p)
	ended := g.shimGone && slices.ContainsFunc(pod.Sandboxes, func(s pleg.Sandbox) bool { return s.ID == c.SandboxID && s.State == pleg.Exited })
	grown := g.shimGone || f.at().Sub(g.started) > ghostGrown
	here, sure := isHere(&f.Look.Processes, pod)
	return g, grown && (here || !sure && f.hasConmon(c.ID) || ended || f.conmonGone(p, c)) && f.settled(p, g)
}

// isHere reports whether a pod has processes on this machine that are not those of a sandboxed runtime. It is sure if the
// pause process shows that. Else a container of CRI-O may still have its conmon; a shim of containerd may be that of a
// virtual machine.
func isHere(processes *evidence.Processes, pod *pleg.Pod) (here, sure bool) {
	for _, s := range pod.Sandboxes {
		if inside := processes.Containers[s.ID]; len(inside) > 0 {
			return !slices.ContainsFunc(inside, func(p evidence.Process) bool { return knowledge.RunsElsewhere("", p.Command) }), true
		}
	}
	return slices.ContainsFunc(pod.Containers, func(o pleg.Container) bool { return len(processes.Containers[o.ID]) > 0 }), false
}

// handlerOf returns in which way a pod runs, as of its last inspection.
func handlerOf(p *engine.Pod) (string, bool) {
	if p.Status == nil || len(p.Status.Sandboxes) == 0 {
		return "", false
	}
	return p.Status.Sandboxes[0].Handler, true
}

// hasConmon reports whether a container has a monitor of its own, as each container of CRI-O has.
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

// conmonGone reports whether CRI-O's monitor of a container is missing, while another pod that runs in the same way has
// one: a pod in a virtual machine never had any.
func (f *Facts) conmonGone(p *engine.Pod, c pleg.Container) bool {
	if !f.isCRIO() || !f.seesShims() || f.hasConmon(c.ID) {
		return false
	}
	handler, known := handlerOf(p)
	return known && slices.ContainsFunc(f.Pods, func(o *engine.Pod) bool {
		other, known := handlerOf(o)
		return known && other == handler && slices.ContainsFunc(seenOf(o).Containers, func(c pleg.Container) bool { return f.hasConmon(c.ID) })
	})
}

// seesShims reports whether the look found shims of this runtime, all there are.
func (f *Facts) seesShims() bool { return f.Look.Processes.Whole() && len(f.Look.Processes.Shims) > 0 }

// noShim reports whether a sandbox that was there before the look has no shim, while another of this runtime has one.
func (f *Facts) noShim(sandbox string, then time.Time) bool {
	if !f.seesShims() || sandbox == "" || then.IsZero() || !f.sameClock() {
		return false
	}
	if _, there := f.shimOf(sandbox); there || !then.Before(f.Look.At.Add(-f.Look.Took)) {
		return false
	}
	return slices.ContainsFunc(f.Look.Processes.Shims, func(p evidence.Process) bool { return p.Own })
}

// settled reports whether a container without a process had not just ended when the look was made: the look is about as old
// as the lists, or the runtime said after the look that it runs, or what is left of it was dead by then, or its shim stands
// still, which reports no end at all.
func (f *Facts) settled(p *engine.Pod, g ghost) bool {
	gap := f.Look.At.Sub(f.Health.ListedAt)
	if !f.once() || gap <= ghostGap || !f.sameClock() {
		return true
	}
	if status := p.Status.Lookup().Container(g.ID); status != nil && status.State == pleg.Running && p.InspectedAt.After(f.Look.At) {
		return true
	}
	dead := slices.ContainsFunc(g.zombies, func(z evidence.Process) bool { return z.For >= gap-ghostGap })
	shim, found := f.shimOf(g.SandboxID)
	return dead || found && f.doing(&shim, evidence.AsMonitor).DoesNothing()
}

// missedLong reports whether a container was listed as running for so long after looks first missed it that the runtime has
// not merely been slow to report its end. For check only a quiet node shows that, or a shim that reports no end.
func (f *Facts) missedLong(g ghost, quiet bool) bool {
	if f.once() {
		shim, found := f.shimOf(g.ID, g.SandboxID)
		return quiet || g.shimGone || found && f.doing(&shim, evidence.AsMonitor).DoesNothing()
	}
	long := ghostBusy
	if quiet || g.shimGone {
		long = ghostLooks
	}
	since, missed := f.Memory.Missed[g.ID]
	return missed && f.Health.ListedAt.Sub(since) >= long
}

// isQuiet reports whether hardly a container of the node has begun or ended a moment ago.
func (f *Facts) isQuiet() bool {
	recent, pods := f.at().Add(-ghostQuiet).Unix(), 0
	for i := range f.pods {
		if p := &f.pods[i]; p.newest > recent || p.died > recent {
			pods++
		}
	}
	return pods <= ghostFew
}

// heldBy says what shows that a process keeps a root file system busy.
var heldBy = map[evidence.Hold]string{
	evidence.ByFolder: "its working folder is there", evidence.ByRoot: "its root is there",
	evidence.ByFile: "it has a file open there", evidence.ByMounts: "its mount namespace still has it mounted",
}

func (f *Facts) ghostMatch(g ghost) Match {
	m := Match{Severity: Warning, Subject: Subject{ObjectRef: g.ObjectRef}}
	m.Say = func(m *Match) { m.Values = Values{"object": called(g.ObjectRef), "whole": g.ID} }
	m.Draw = func(m *Match) { f.drawGhost(m, g) }
	if _, deleting := f.deleting(g.ID); deleting {
		m.Chain, m.Nodes = true, []string{waits.ObjectKey(g.ObjectRef)}
	}
	return m
}

// drawGhost says what is left of a ghost, and what keeps it.
func (f *Facts) drawGhost(m *Match, g ghost) {
	m.Values = m.Values.with(Values{"id": short(g.ID), "shortId": pleg.ShortID(g.ID), "monitored": cmp.Or(g.SandboxID, g.ID), "since": f.Memory.Missed[g.ID]})
	if f.isCRIO() { // a conmon's arguments name the container, a shim's the sandbox
		m.Values["monitored"] = g.ID
	}
	if p, deleting := f.deleting(g.ID); deleting {
		m.Values["delete"] = f.helperRan(f.byNow(p))
	}
	if !g.started.IsZero() {
		m.Values["started"], m.Values["listed"] = age(f.at().Sub(g.started)), age(max(f.Health.ListAge(f.at()), 0))
	}
	if g.shimGone {
		m.Values["noShim"] = pleg.ShortID(g.SandboxID)
	}
	var left []line
	for _, p := range g.zombies {
		left = append(left, f.describe("what is left of it", p))
	}
	if p, found := f.shimOf(g.ID, g.SandboxID); found {
		left = append(left, f.describe("its "+waits.MonitorWord(&p), p))
	} else if f.isCRIO() {
		m.Values["noConmon"] = "yes"
	}
	m.Lines = map[string][]line{"left": left}
	f.drawHolders(m, f.Look.Processes.Roots[g.ID])
}

// drawHolders says which processes keep the root file system of a container busy.
func (f *Facts) drawHolders(m *Match, holders []evidence.Holder) {
	m.Steps = map[string][]Step{}
	var names []string
	for _, h := range holders[:min(len(holders), namedServers)] {
		name := f.holderName(h)
		names = append(names, name)
		m.Lines["holders"] = append(m.Lines["holders"], lineOf("root-held", Values{"process": name, "how": heldBy[h.By]}))
		v := processValues(evidence.Process{PID: h.PID, Command: h.Command, Start: h.Start}).with(Values{"holder": name})
		m.Steps["+holders"] = append(m.Steps["+holders"], f.advise("container.root-held", v)...)
	}
	m.Values["held"] = names
	if left := len(holders) - len(names); left > 0 {
		m.Values["more"] = many{left, "process"}
	}
}
