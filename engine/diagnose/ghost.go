package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

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
	ghosts, found := v.ghostsAmong(v.looks())
	if len(ghosts) > found {
		ghosts = nil
	}
	findings := oneEach(ghosts, ghostMost, v.ghostFinding, func(rest []ghost) Finding {
		all := Step{Text: "all that the runtime takes for running", Command: v.crictl("ps")}
		return restOf(GhostRunning, count(len(rest), "container")+" more listed as running without a process", all, rest,
			func(g ghost) (Subject, string) { return g.subject(), g.String() + " (" + g.id + ")" })
	})
	findings = append(findings, v.orphanedContainers(findings)...)
	return append(findings, v.shimsGone()...)
}

// looks returns the looks at the processes by which ghosts are told, the newest
// first; none if what they miss may be there all the same. Live, one of them must
// be older than the lists, by one clock: what ended after the lists is no ghost. One
// bounded look has only one list and one look, made at the same time.
func (v *view) looks() []*evidence.Report {
	newest := v.evidence
	if newest == nil || newest.Processes.Missing != "" || newest.Processes.Partial != "" || v.Failure != nil || v.Health.ListedAt.IsZero() {
		return nil
	}
	sameClock := v.At.Sub(newest.At).Abs() < ghostSameClock
	if v.Policy.Once || sameClock && newest.At.Before(v.Health.ListedAt) {
		return []*evidence.Report{newest}
	}
	if before := v.past.lookedBefore; sameClock && newest == v.past.looked && before != nil && v.Health.ListedAt.After(before.At) {
		return []*evidence.Report{newest, before}
	}
	return nil
}

// settled reports whether a container that the looks miss had not just ended when
// the last of them was made: the looks are about as old as the lists, or the
// runtime said after them that it runs, or what is left of it was dead by then, or
// its shim stands still, which tells of no end at all.
func (v *view) settled(p *engine.Pod, g ghost) bool {
	look := v.evidence
	gap := look.At.Sub(v.Health.ListedAt)
	if !v.Policy.Once || gap <= ghostGap || v.At.Sub(look.At).Abs() >= ghostSameClock {
		return true
	}
	if status := p.Status.Lookup().Container(g.id); status != nil && status.State == pleg.Running && p.InspectedAt.After(look.At) {
		return true
	}
	dead := slices.ContainsFunc(g.zombies, func(z evidence.Process) bool { return z.For >= gap-ghostGap })
	shim, found := v.shim(g.sandboxID)
	return dead || found && shimStuck(shim)
}

// A ghost is a container, what is left of it, and when it was started.
type ghost struct {
	listed
	started  time.Time
	zombies  []evidence.Process
	shimGone bool
}

// ghostsAmong returns the ghosts, of which no look found a process, in the order
// of the pods, and how many running containers have one.
func (v *view) ghostsAmong(looks []*evidence.Report) (ghosts []ghost, found int) {
	if looks == nil {
		return nil, 0
	}
	processes := &v.evidence.Processes
	housed, any := v.past.housedIn(looks[0], v.Pods)
	if housed != nil && !any {
		return nil, 0 // of a runtime elsewhere
	}
	for i, p := range v.Pods {
		if housed != nil && housed[i].whole {
			found += housed[i].alive
			continue
		}
		seen := seen(p)
		var find pleg.Lookup // made for the first that has no process: few have
		looked := false
		for _, c := range seen.Containers {
			if c.State != pleg.Running {
				continue
			}
			zombies, alive := dead(looks, c.ID)
			if alive {
				found++
				continue
			}
			if !looked {
				find, looked = p.Status.Lookup(), true
			}
			g := ghost{listed: listedContainer(p, c), started: c.CreatedAt, zombies: zombies}
			if status := find.Container(c.ID); status != nil {
				if status.State != pleg.Running {
					continue // has ended since it was listed
				}
				g.started = cmp.Or(status.StartedAt, c.CreatedAt)
			}
			g.shimGone = v.noShim(g.sandboxID, g.started)
			grown := g.shimGone || v.At.Sub(g.started) > ghostGrown
			again := slices.ContainsFunc(ghosts, func(o ghost) bool { return o.id == g.id }) // listed twice
			if grown && !again && (vouched(processes, seen, c) || g.shimGone && ended(seen, c.SandboxID)) && v.settled(p, g) {
				ghosts = append(ghosts, g)
			}
		}
	}
	return ghosts, found
}

// housed says how many running containers of a pod have a process, as of a look, and
// whether all have.
type housed struct {
	alive int
	whole bool
}

// house brings what is known of that up to the last pods and the last look.
func (h *History) house(look *evidence.Report) {
	if look != h.looked {
		h.housed = engine.PerPod[housed]{}
	}
	if look == nil {
		return
	}
	looks := []*evidence.Report{look}
	h.housed.Update(h.pods.Pods, func(p *engine.Pod, _ *housed) housed {
		of := housed{whole: true}
		for i := range seen(p).Containers {
			if c := &seen(p).Containers[i]; c.State == pleg.Running {
				if _, alive := dead(looks, c.ID); alive {
					of.alive++
				} else {
					of.whole = false
				}
			}
		}
		return of
	})
}

// housedIn returns what is known of these pods as of that look, nil if nothing is, and
// whether any container has a process.
func (h *History) housedIn(look *evidence.Report, pods []*engine.Pod) (of []housed, any bool) {
	if h.looked != look || !same(h.housed.Pods, pods) {
		return nil, false
	}
	return h.housed.Values, slices.ContainsFunc(h.housed.Values, func(of housed) bool { return of.alive > 0 })
}

// dead returns the zombies that the newest look found in a container, and whether
// any look found another process.
func dead(looks []*evidence.Report, id string) (zombies []evidence.Process, alive bool) {
	for _, look := range looks {
		for _, p := range look.Processes.Containers[id] {
			if p.State != evidence.Zombie {
				return nil, true
			}
		}
	}
	return looks[0].Processes.Containers[id], false
}

// vouched reports whether a container's pod has processes on this machine that
// are not those of a sandboxed runtime: its pause process, another container's,
// or, with CRI-O, one that stays beside just this container. A shim of
// containerd's may be that of a virtual machine.
func vouched(processes *evidence.Processes, pod *pleg.Pod, c pleg.Container) bool {
	for _, sb := range pod.Sandboxes {
		if inside := processes.Containers[sb.ID]; len(inside) > 0 {
			// In a sandbox of gVisor's all containers live in one process.
			return inside[0].Command != "exe" && !strings.HasPrefix(inside[0].Command, "runsc")
		}
	}
	return slices.ContainsFunc(processes.Shims, func(p evidence.Process) bool {
		return p.Container == c.ID
	}) || slices.ContainsFunc(pod.Containers, func(o pleg.Container) bool {
		return len(processes.Containers[o.ID]) > 0
	})
}

func (v *view) ghostFinding(g ghost) Finding {
	f := Finding{
		ID: GhostRunning, Severity: Warning,
		Summary:  fmt.Sprintf("%s is listed as running, and has no process", g.listed),
		Subject:  g.subject(),
		Evidence: []string{"no process on the node has " + g.id + " in its cgroup"},
		Next: []Step{
			{Text: "what the runtime says, its pid among it", Command: v.crictl("inspect", g.id)},
			{Text: "whether its shim is there", Command: "ps -eo pid,state,etime,args"},
			{Text: "makes the runtime notice; the kubelet starts it anew", Command: v.crictl("stop", g.id), Risky: true},
		},
	}
	if !g.started.IsZero() {
		f.say(fmt.Sprintf("started %s ago, listed as running %s ago", going(v.At.Sub(g.started)), going(max(v.Health.ListAge(v.At), 0))))
	}
	if g.shimGone {
		f.say("its shim is gone: none on the node is of sandbox " + g.sandboxID)
	}
	for _, p := range g.zombies {
		f.say(describe("what is left of it", p))
	}
	if p, found := v.shim(g.sandboxID); found {
		f.say(describe("its shim", p))
	}
	return f
}
