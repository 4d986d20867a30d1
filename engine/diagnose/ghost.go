package diagnose

import (
	"cmp"
	"fmt"
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

var ghostRunningKind = &kind{
	id: GhostRunning, find: ghostRunning,
	needs: lists, is: haunts, because: silences | stands, pod: "no process", state: "ghost",
	severity: "warning", scenario: "`ghost`",
	when: "the runtime says running, and looks find no process for 4 s, 30 s while other containers begin or end; a shim that the runtime could not reach when " +
		"it was started; info for 5 minutes after a shim was killed, or a container was lost at a restart of the runtime (exit code 255, reason Unknown), and where one is listed as unknown",
}

const (
	// ghostGrown is how long a container has to have run: a look at the processes
	// may be 5 s old. One whose shim is gone only has to be older than the look.
	ghostGrown = 10 * time.Second
	// ghostSameClock is how far the engine's clock may be from that of the look for
	// the two to be one clock.
	ghostSameClock = time.Minute
	// ghostGap is how much later than the lists a look may end in a single pass: what
	// ended between the two is no ghost. A look takes some tens of milliseconds;
	// where it was made twice it is later, and a container counts only if something
	// else shows that it had not just ended.
	ghostGap = time.Second
	// ghostLooks is for how long a container must have been missed by looks, which are
	// made every 5 s, while it was listed as running; ghostBusy is the same while others
	// begin or end: a runtime that is busy with them tells of an end some seconds late.
	ghostLooks = 4 * time.Second
	ghostBusy  = 30 * time.Second
	// A node is busy where containers of more than ghostFew pods have begun or ended
	// within ghostQuiet.
	ghostQuiet = 10 * time.Second
	ghostFew   = 3
	// ghostMost is how many get a finding of their own.
	ghostMost = 10
)

// ghostRunning finds containers that the runtime says run, and of which there is
// no process: nobody told the runtime of their end.
//
// It trusts a look only if that found the processes of at least as many other
// containers: a runtime elsewhere, or in a machine of its own, has none here. For the same
// reason something else of the container's pod must have been found.
func ghostRunning(v *view) []Finding {
	ghosts, found := v.ghosts()
	if len(ghosts) > found {
		ghosts = nil
	}
	if len(ghosts) > 0 {
		quiet := v.isQuiet()
		ghosts = slices.DeleteFunc(ghosts, func(g ghost) bool { return !v.missedLong(g, quiet) })
	}
	findings := oneEach(ghosts, ghostMost, v.ghostFinding, func(rest []ghost) Finding {
		return restOf(GhostRunning, count(len(rest), "container")+" more listed as running without a process", v.advise("container.ghosts", nil), rest,
			func(g ghost) string { return called(g.ObjectRef) + " (" + g.ID + ")" })
	})
	return append(findings, v.shimsGone()...)
}

// canMiss reports whether what the look at the processes misses is not there: it was
// whole, and made by the clock of the lists. One bounded look is made but once.
func (v *view) canMiss() bool {
	return v.evidence.Processes.Whole() && v.Failure == nil && !v.Health.ListedAt.IsZero() && (!v.Policy.Bounds().Past || v.sameClock())
}

// missedLong reports whether a container was listed as running for so long after it was
// first missed that the runtime has not merely been slow to tell of its end. Of one
// bounded look only a quiet node tells, or a shim that tells of no end.
func (v *view) missedLong(g ghost, quiet bool) bool {
	if !v.Policy.Bounds().Past {
		shim, found := v.shim(g.ID, g.SandboxID)
		return quiet || g.shimGone || found && waits.Idle(&shim)
	}
	long := ghostBusy
	if quiet || g.shimGone {
		long = ghostLooks
	}
	since, missed := v.Memory.Missed[g.ID]
	return missed && v.Health.ListedAt.Sub(since) >= long
}

// isQuiet reports whether hardly a container of the node has begun or ended a moment ago.
func (v *view) isQuiet() bool {
	recent, pods := v.At.Add(-ghostQuiet).Unix(), 0
	for i := range v.pods {
		if f := &v.pods[i]; f.newest > recent || f.died > recent {
			pods++
		}
	}
	return pods <= ghostFew
}

// settled reports whether a container that the looks miss had not just ended when
// the last of them was made: the looks are about as old as the lists, or the
// runtime said after them that it runs, or what is left of it was dead by then, or
// its shim stands still, which tells of no end at all.
func (v *view) settled(p *engine.Pod, g ghost) bool {
	look := v.evidence
	gap := look.At.Sub(v.Health.ListedAt)
	if v.Policy.Bounds().Past || gap <= ghostGap || !v.sameClock() {
		return true
	}
	if status := p.Status.Lookup().Container(g.ID); status != nil && status.State == pleg.Running && p.InspectedAt.After(look.At) {
		return true
	}
	dead := slices.ContainsFunc(g.zombies, func(z evidence.Process) bool { return z.For >= gap-ghostGap })
	shim, found := v.shim(g.SandboxID)
	return dead || found && waits.Idle(&shim)
}

// A ghost is a container, what is left of it, and when it was started.
type ghost struct {
	evidence.Object
	started  time.Time
	zombies  []evidence.Process
	shimGone bool
}

func (g ghost) subject() Subject { return Subject{ObjectRef: g.ObjectRef} }

// ghosts returns the containers of which the look found no process, in the order
// of the pods, and how many running containers have one.
func (v *view) ghosts() (ghosts []ghost, found int) {
	if !v.canMiss() {
		return nil, 0
	}
	processes := &v.evidence.Processes
	if v.Policy.Bounds().Past && len(v.Memory.Missed) == 0 {
		return nil, 0 // as on nearly every node
	}
	missed := make(map[string]bool) // by id: a list may have one thousands of times
	for _, p := range v.Pods {
		seen := seen(p)
		if handler, known := handlerOf(p); known && knowledge.RunsElsewhere(handler, "") {
			continue // its handler proves nothing about processes
		}
		var find pleg.Lookup // these are made for the first that has no process: few have
		var here, sure, looked bool
		for _, c := range seen.Containers {
			if c.State != pleg.Running {
				continue
			}
			left := processes.Containers[c.ID]
			if processes.Live(c.ID) {
				found++
				continue
			}
			if missed[c.ID] {
				continue
			}
			missed[c.ID] = true
			if !looked {
				find, looked = p.Status.Lookup(), true
				here, sure = vouched(processes, seen)
			}
			g := ghost{Object: evidence.ContainerOf(p.PodRef, &c), started: c.CreatedAt, zombies: left}
			if status := find.Container(c.ID); status != nil {
				if status.State != pleg.Running {
					continue // has ended since it was listed
				}
				g.started = cmp.Or(status.StartedAt, c.CreatedAt)
			}
			g.shimGone = v.noShim(g.SandboxID, g.started)
			grown := g.shimGone || v.At.Sub(g.started) > ghostGrown
			ended := g.shimGone && slices.ContainsFunc(seen.Sandboxes, func(sb pleg.Sandbox) bool { return sb.ID == c.SandboxID && sb.State == pleg.Exited })
			if grown && (here || !sure && v.hasConmon(c.ID) || ended || v.conmonGone(p, c)) && v.settled(p, g) {
				ghosts = append(ghosts, g)
			}
		}
	}
	return ghosts, found
}

// vouched reports whether a pod has processes on this machine that are not those of a
// sandboxed runtime: its pause process, or a container's. It is sure where the pause process
// tells. Else a container of CRI-O's may have a process that stays beside just it; a shim
// of containerd's may be that of a virtual machine.
func vouched(processes *evidence.Processes, pod *pleg.Pod) (here, sure bool) {
	for _, sb := range pod.Sandboxes {
		if inside := processes.Containers[sb.ID]; len(inside) > 0 {
			elsewhere := slices.ContainsFunc(inside, func(p evidence.Process) bool { return knowledge.RunsElsewhere("", p.Command) })
			return !elsewhere, true
		}
	}
	return slices.ContainsFunc(pod.Containers, func(o pleg.Container) bool { return len(processes.Containers[o.ID]) > 0 }), false
}

// conmonGone reports whether CRI-O's monitor of a container is missing, while another pod
// that runs in the same way has its own: one in a machine of its own never had any.
func (v *view) conmonGone(p *engine.Pod, c pleg.Container) bool {
	if !v.isCRIO() || !v.seesShims() || v.hasConmon(c.ID) {
		return false
	}
	handler, known := handlerOf(p)
	return known && slices.ContainsFunc(v.Pods, func(o *engine.Pod) bool {
		other, known := handlerOf(o)
		return known && other == handler && slices.ContainsFunc(seen(o).Containers, func(c pleg.Container) bool {
			return v.hasConmon(c.ID)
		})
	})
}

// handlerOf returns in which way a pod runs, as of its last inspection.
func handlerOf(p *engine.Pod) (string, bool) {
	if p.Status == nil || len(p.Status.Sandboxes) == 0 {
		return "", false
	}
	return p.Status.Sandboxes[0].Handler, true
}

// hasConmon reports whether a container has a monitor of its own, as each of CRI-O's has.
func (v *view) hasConmon(id string) bool {
	if v.conmons == nil {
		v.conmons = make(map[string]bool)
		for _, p := range v.evidence.Processes.Shims {
			if p.Container != "" {
				v.conmons[p.Container] = true
			}
		}
	}
	return v.conmons[id]
}

// missing says what the looks do not find, and since when.
func (v *view) missing(g ghost) string {
	text := fmt.Sprintf("no process on the node has the id of %s in its cgroup: %s", called(g.ObjectRef), pleg.ShortID(g.ID))
	if since, missed := v.Memory.Missed[g.ID]; missed {
		text += ", since " + v.clock(since)
	}
	return text
}

func (v *view) ghostFinding(g ghost) Finding {
	monitored := cmp.Or(g.SandboxID, g.ID) // a shim's arguments name the sandbox, a conmon's the container
	if v.isCRIO() {
		monitored = g.ID
	}
	holders := v.evidence.Processes.Roots[g.ID]
	f := Finding{
		ID: GhostRunning, Severity: Warning,
		Summary:  fmt.Sprintf("%s is listed as running, and has no process", called(g.ObjectRef)),
		Subject:  g.subject(),
		Evidence: []string{v.missing(g)},
		Next:     v.advise("container.ghost", Values{"id": short(g.ID), "shortId": one(pleg.ShortID(g.ID)), "monitored": one(monitored), "held": v.namesOfHolders(holders)}),
	}
	p, deleting := v.deleting(g.ID)
	if deleting {
		f.Summary += fmt.Sprintf(": %s of it %s", waits.HelperName(&p), v.ran(v.byNow(p)))
		f.say("the runtime waits for that to tell of its end")
	}
	if !g.started.IsZero() {
		f.say(fmt.Sprintf("started %s ago, listed as running %s ago", going(v.At.Sub(g.started)), going(max(v.Health.ListAge(v.At), 0))))
	}
	if g.shimGone {
		f.say("its shim is gone: none on the node is of sandbox " + pleg.ShortID(g.SandboxID))
	}
	for _, p := range g.zombies {
		f.say(v.describe("what is left of it", p))
	}
	if p, found := v.shim(g.ID, g.SandboxID); found {
		f.say(v.describe("its "+waits.MonitorWord(&p), p))
	} else if v.isCRIO() {
		f.say("its conmon is gone, too")
	}
	for _, h := range holders[:min(len(holders), holdersTold)] {
		f.say(fmt.Sprintf("%s keeps its root file system busy: %s", v.nameOf(h), holdWords[h.By]))
		values := v.processValues(evidence.Process{PID: h.PID, Command: h.Command, Start: h.Start})
		values["holder"] = one(v.nameOf(h))
		f.Next = append(f.Next, v.advise("container.root-held", values)...)
	}
	if n := len(holders) - holdersTold; n > 0 {
		f.say("and " + count(n, "process") + " more")
	}
	if deleting {
		return f.withChain(v, waits.ObjectKey(g.ObjectRef))
	}
	return f
}

// holdersTold is how many of those are named that keep a root file system busy.
const holdersTold = 5

// holdWords say what shows that a process keeps a root file system busy.
var holdWords = map[evidence.Hold]string{
	evidence.ByFolder: "its working folder is there",
	evidence.ByRoot:   "its root is there",
	evidence.ByFile:   "it has a file open there",
	evidence.ByMounts: "its mount namespace still has it mounted",
}

func (v *view) namesOfHolders(holders []evidence.Holder) (names []string) {
	for _, h := range holders[:min(len(holders), holdersTold)] {
		names = append(names, v.nameOf(h))
	}
	return names
}
