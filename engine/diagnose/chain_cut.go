package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// cutOrder is where a chain is cut, the safest first: an errand that ends makes one call
// fail; a process and a shim are of one pod; a file system may have other users; the
// runtime is everybody's.
var cutOrder = []string{LinkErrand, LinkProcess, LinkShim, LinkMount}

// done marks where it is the safest to act, and returns the links.
func (c *chain) done() []Link {
	for _, kind := range cutOrder {
		step, known := c.cuts[kind]
		i := slices.IndexFunc(c.links, func(l Link) bool { return l.Kind == kind })
		if known && i >= 0 {
			c.links[i].Cut = &step
			return c.links
		}
	}
	last := len(c.links) - 1
	if last >= 0 && (c.links[last].Kind == LinkGoroutine || c.links[last].Kind == LinkLock || c.has(LinkGoroutine)) {
		if steps := c.runtimeSteps(); len(steps) > 0 {
			step := steps[len(steps)-1]
			c.links[last].Cut = &step
		}
	}
	return c.links
}

// uncut returns a chain without the place to cut it.
func uncut(links []Link) []Link {
	for i := range links {
		links[i].Cut = nil
	}
	return links
}

// endErrand returns what ends an errand, or lets one go on that is held.
func endErrand(p evidence.Process) Step {
	if step, held := letGoOn(p, p.Container); held {
		return step
	}
	step := Step{Text: "ends it: the call of the runtime that waits for it fails, and what that holds is free", Command: fmt.Sprintf("kill %d", p.PID), Risky: true}
	if p.State == evidence.Uninterrupted {
		step = Step{Text: "ends it if its wait in the kernel is one that can be killed; the call of the runtime fails then", Command: fmt.Sprintf("kill -9 %d", p.PID), Risky: true}
	}
	return step
}

// letGoOn returns what lets a process of a container go on that is held from outside.
func letGoOn(p evidence.Process, container string) (step Step, held bool) {
	step = Step{Text: "lets it go on", Risky: true}
	switch {
	case p.State == evidence.Stopped:
		step.Command = fmt.Sprintf("kill -CONT %d", p.PID)
	case p.State != evidence.Frozen:
		return Step{}, false
	case p.Freezer == "":
		step.Command = "ctr -n k8s.io tasks resume " + quote(container)
	case strings.HasSuffix(p.Freezer, "/cgroup.freeze"):
		step.Command = "echo 0 > " + quote(p.Freezer)
	default:
		step.Command = "echo THAWED > " + quote(p.Freezer)
	}
	return step, true
}

// endShim returns what ends a shim, or lets one go on that is held. A conmon's end ends
// nothing.
func endShim(p evidence.Process) Step {
	if step, held := letGoOn(p, p.Container); held {
		return step
	}
	text := "ends only this pod; the kubelet makes it anew"
	if strings.HasPrefix(p.Command, "conmon") {
		text = "ends only what looks after this container"
	}
	return Step{Text: text, Command: fmt.Sprintf("kill -9 %d", p.PID), Risky: true}
}

// withChain returns a finding with its chain, and with the place to cut it before all
// else that is risky.
func (f Finding) withChain(links []Link) Finding {
	f.Chain = links
	i := slices.IndexFunc(links, func(l Link) bool { return l.Cut != nil })
	if i < 0 {
		return f
	}
	cut := *links[i].Cut
	risky := slices.IndexFunc(f.Next, func(s Step) bool { return s.Risky })
	switch {
	case cut.Command != "" && slices.ContainsFunc(f.Next, func(s Step) bool { return s.Command == cut.Command }):
	case risky < 0:
		f.Next = append(f.Next, cut)
	default:
		f.Next = slices.Insert(slices.Clone(f.Next), risky, cut)
	}
	return f
}
