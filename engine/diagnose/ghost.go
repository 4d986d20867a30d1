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
	// may be 5 s old.
	ghostGrown = 10 * time.Second
	// ghostSameClock is how far the engine's clock may be from that of the look for
	// the two to be one clock.
	ghostSameClock = time.Minute
	// ghostGap is how much later than the lists a look may end in a single pass: what
	// ended between the two is no ghost. A look takes some tens of milliseconds
	// unless it finds what it has to look at twice.
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
func ghostRunning(in Input) []Finding {
	findings := bereaved(in)
	looks := in.looks()
	if looks == nil {
		return findings
	}
	ghosts, found := ghostsAmong(in, looks)
	if len(ghosts) > found {
		return findings
	}
	for _, g := range ghosts[:min(len(ghosts), ghostMost)] {
		findings = append(findings, g.finding(in))
	}
	if rest := ghosts[min(len(ghosts), ghostMost):]; len(rest) > 0 {
		f := Finding{ID: GhostRunning, Severity: Warning, Summary: fmt.Sprintf("listed as running without a process: %s more", count(len(rest), "container"))}
		f.Next = []Step{{Text: "all that the runtime takes for running", Command: in.crictl("ps")}}
		for _, g := range rest[:min(len(rest), ghostMost)] {
			f.Evidence = append(f.Evidence, g.String()+" ("+g.id+")")
		}
		findings = append(findings, f)
	}
	return findings
}

// looks returns the looks at the processes by which ghosts are told, the newest
// first; none if what they miss may be there all the same. Live, one of them must
// be older than the lists: a container that ended after the lists is no ghost. A
// single pass has only one list and one look, made at the same time.
func (in Input) looks() []*evidence.Report {
	s, newest := in.Snapshot, in.Evidence
	if newest == nil || newest.Processes.Missing != "" || newest.Processes.Partial != "" || s.Failure != nil || s.Health.ListedAt.IsZero() {
		return nil
	}
	sameClock := s.At.Sub(newest.At).Abs() < ghostSameClock
	gap := newest.At.Sub(s.Health.ListedAt)
	if !sameClock || gap < 0 || in.History == nil && gap <= ghostGap {
		return []*evidence.Report{newest}
	}
	if in.History == nil {
		return nil
	}
	if before := in.History.looks.before(newest); before != nil && s.Health.ListedAt.After(before.At) {
		return []*evidence.Report{newest, before}
	}
	return nil
}

// A ghost is a container, what is left of it, and when it was started.
type ghost struct {
	listed
	started time.Time
	zombies []evidence.Process
}

// ghostsAmong returns the ghosts, of which no look found a process, in the order
// of the pods, and how many running containers have one.
func ghostsAmong(in Input, looks []*evidence.Report) (ghosts []ghost, found int) {
	processes := &in.Evidence.Processes
	for _, p := range in.Snapshot.Pods {
		seen := p.Seen()
		if seen == nil {
			continue
		}
		for _, c := range seen.Containers {
			if c.State != pleg.Running {
				continue
			}
			zombies, alive := dead(looks, c.ID)
			if alive {
				found++
				continue
			}
			status, inspected := statusOf(p, c.ID)
			if inspected && status.State != pleg.Running {
				continue // has ended since it was listed
			}
			g := ghost{listed: listedContainer(p, c), started: cmp.Or(status.StartedAt, c.CreatedAt), zombies: zombies}
			if in.Snapshot.At.Sub(g.started) > ghostGrown && vouched(processes, seen, c) {
				ghosts = append(ghosts, g)
			}
		}
	}
	return ghosts, found
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

// statusOf returns a container's status as of its last inspection.
func statusOf(p *engine.Pod, id string) (status pleg.ContainerStatus, inspected bool) {
	if p.Status != nil {
		for _, c := range p.Status.Containers {
			if c.ID == id {
				return c, true
			}
		}
	}
	return status, false
}

// vouched reports whether a container's pod has processes on this machine that
// are not those of a sandboxed runtime: its pause process, another container's,
// or, with CRI-O, one that stays beside just this container. A shim of
// containerd's may be that of a virtual machine.
func vouched(processes *evidence.Processes, pod *pleg.Pod, c pleg.Container) bool {
	for _, sb := range pod.Sandboxes {
		for _, p := range processes.Containers[sb.ID] {
			if p.Command == "exe" || strings.HasPrefix(p.Command, "runsc") { // gVisor: all containers live in it
				return false
			}
			return true
		}
	}
	return slices.ContainsFunc(processes.Shims, func(p evidence.Process) bool {
		return p.Container == c.ID
	}) || slices.ContainsFunc(pod.Containers, func(o pleg.Container) bool {
		return len(processes.Containers[o.ID]) > 0
	})
}

func (g ghost) finding(in Input) Finding {
	f := Finding{
		ID:       GhostRunning,
		Severity: Warning,
		Summary:  fmt.Sprintf("listed as running without a process: %s", g.listed),
		Subject:  Subject{Pod: g.pod, Container: g.container, ContainerID: g.id},
		Evidence: []string{"no process on the node has " + g.id + " in its cgroup"},
		Next: []Step{
			{Text: "what the runtime says, its pid among it", Command: in.crictl("inspect", g.id)},
			{Text: "whether its shim is there", Command: "ps -eo pid,state,etime,args"},
			{Text: "makes the runtime notice; the kubelet starts it anew", Command: in.crictl("stop", g.id), Risky: true},
		},
	}
	if !g.started.IsZero() {
		f.Evidence = append(f.Evidence, fmt.Sprintf("started %s ago, listed as running %s ago", span(in.Snapshot.At.Sub(g.started)), span(max(in.Snapshot.Health.ListAge(in.Snapshot.At), 0))))
	}
	for _, p := range g.zombies {
		f.Evidence = append(f.Evidence, describe("what is left of it", p))
	}
	if p, found := in.shim(g.sandboxID); found {
		f.Evidence = append(f.Evidence, describe("its shim", p))
		if shimStuck(p) {
			f.Cause = ProcessStuck // it would have told the runtime
		}
	}
	return f
}
