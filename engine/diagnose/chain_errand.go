package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// chainFrom returns the chain of an errand that has not ended: down from the status or
// from the call that waits for it, as far as the runtime's metrics or its dump tell which
// that is.
func (v *view) chainFrom(p evidence.Process) []Link {
	id := cmp.Or(p.Container, p.Sandbox)
	for i := range v.objects {
		if h := &v.objects[i]; h.ID == id && id != "" {
			return v.chainTo(h)
		}
	}
	c := chain{view: v}
	f := c.flightOf(id)
	if f.Pod.Name == "" && p.Pod != "" {
		f.Pod.Namespace, f.Pod.Name = p.Namespace, p.Pod
	}
	waits := c.callOf(p)
	c.links = append(c.links, waits...)
	if id != "" {
		c.add(LinkContainer, id, objectOf(f), "the only such call, and the only such errand")
	}
	shim, hasShim := c.shim(id, c.sandbox(f))
	if hasShim && shim.PID == p.Parent {
		put(&c.cuts, LinkShim, endShim(shim))
		c.add(LinkShim, pid(shim), shimName(shim), fmt.Sprintf("it waits for its child, pid %d (%s)", p.PID, p.Command))
	}
	c.errand(p, c.errandProof(p, shim, p.Container))
	return c.done()
}

// callOf returns the call of the CRI that waits for an errand, and the goroutine that
// answers it, if there is one such call and one such errand.
func (v *view) callOf(p evidence.Process) (links []Link) {
	alike := func(q evidence.Process) bool { return q.Verb == p.Verb && q.Own && q.Age >= errandYoung }
	if v.evidence.Deep == nil || len(slices.DeleteFunc(slices.Clone(v.evidence.Processes.Errands), func(q evidence.Process) bool { return !alike(q) })) != 1 {
		return nil
	}
	for method, verbs := range verbOf {
		if !slices.Contains(verbs, p.Verb) {
			continue
		}
		g := v.answering(method)
		flying := slices.ContainsFunc(v.evidence.Deep.Calls.InFlight, func(f evidence.InFlight) bool { return f.Method == method && f.Count == 1 })
		switch {
		case g == nil && !flying:
			continue
		case links != nil: // it may be either's
			return nil
		}
		links = []Link{{Kind: LinkCall, Name: method}}
		if g != nil {
			links = append(links, Link{Kind: LinkGoroutine, ID: strconv.Itoa(g.First), Name: fmt.Sprintf("goroutine %d", g.First), Proof: "the only one that answers it, in the runtime's own dump"})
		}
	}
	return links
}

// answering returns the goroutine that answers a method of the CRI and waits for a shim
// or a program; nil if there is none, or several.
func (v *view) answering(method string) (only *evidence.Group) {
	for i, all := 0, v.evidence.Deep.Stacks.Groups; i < len(all); i++ {
		g := &all[i]
		if !slices.ContainsFunc(g.Frames, func(f string) bool { return strings.HasSuffix(f, "."+method) }) {
			continue
		}
		if only != nil || g.Count != 1 {
			return nil
		}
		only = g
	}
	return only
}

// errandsLong returns the errands of the runtime and its shims that have run for long.
func (v *view) errandsLong() (all []evidence.Process) {
	for _, p := range v.evidence.Processes.Errands {
		if p.Own && v.errandLate(p) {
			all = append(all, p)
		}
	}
	return all
}
