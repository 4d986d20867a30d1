package diagnose

import (
	"cmp"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// GhostRunning is a container that runs only by the runtime's word.
const GhostRunning ID = "ghost-running"

// The runtime says that a container runs, and the container has no process: nobody reported its end to the runtime. A
// look is trusted only if it found the processes of at least as many other containers: a runtime on another machine, or
// in a virtual machine, has none here. For the same reason, something else of the pod must be here.
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

func (f *Facts) ghostMatch(g ghost) Match {
	m := Match{Severity: Warning, Subject: Subject{ObjectRef: g.ObjectRef}, Of: &g}
	if _, deleting := f.deleting(g.ID); deleting {
		m.Chain, m.Nodes = true, []string{waits.ObjectKey(g.ObjectRef)}
	}
	return m
}

func (g *ghost) say(_ *Facts, m *Match) {
	m.Values = Values{"object": called(g.ObjectRef), "whole": g.ID}
}

// draw adds what is left of a ghost, and which processes keep its root file system busy.
func (g *ghost) draw(f *Facts, m *Match) {
	v := Values{"id": short(g.ID), "shortId": pleg.ShortID(g.ID), "monitored": cmp.Or(g.SandboxID, g.ID), "since": f.Memory.Missed[g.ID]}
	if f.isCRIO() { // a conmon's arguments name the container; a shim's name the sandbox
		v["monitored"] = g.ID
	}
	if p, deleting := f.deleting(g.ID); deleting {
		v["delete"] = f.helperRan(f.byNow(p))
	}
	m.Lines, m.Steps = map[string][]line{}, map[string][]Step{}
	for _, p := range f.Look.Processes.Containers[g.ID] {
		m.Lines["left"] = append(m.Lines["left"], f.describe("what is left of it", p))
	}
	if p, found := f.shimOf(g.ID, g.SandboxID); found {
		m.Lines["left"] = append(m.Lines["left"], f.describe("its "+waits.MonitorWord(&p), p))
	} else if f.isCRIO() || g.shimGone {
		v["shimGone"] = true
	}
	holders := f.Look.Processes.Roots[g.ID]
	var names []string
	for _, h := range holders[:min(len(holders), namedServers)] {
		name := f.holderName(h)
		names = append(names, name)
		m.Lines["holders"] = append(m.Lines["holders"], lineOf("root-held", Values{"process": name, "how": heldBy[h.By]}))
		of := processValues(evidence.Process{PID: h.PID, Command: h.Command, Start: h.Start}).with(Values{"holder": name})
		m.Steps["+holders"] = append(m.Steps["+holders"], f.advise("container.root-held", of)...)
	}
	v["held"] = names
	m.Values = m.Values.with(v)
}

// heldBy has, for each kind of hold, the words for what shows that a process keeps a root file system busy.
var heldBy = map[evidence.Hold]string{
	evidence.ByFolder: "its working folder is there", evidence.ByRoot: "its root is there",
	evidence.ByFile: "it has a file open there", evidence.ByMounts: "its mount namespace still has it mounted",
}
