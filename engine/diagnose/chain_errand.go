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
	proof := c.callOf(p, id)
	if id != "" {
		c.add(LinkContainer, id, objectOf(f), proof)
	}
	shim, hasShim := c.shim(id, c.sandbox(f))
	if hasShim && shim.PID == p.Parent {
		put(&c.cuts, LinkShim, endShim(shim))
		c.add(LinkShim, pid(shim), shimName(shim), fmt.Sprintf("it waits for its child, pid %d (%s)", p.PID, p.Command))
	}
	c.errand(p, c.errandProof(p, shim, p.Container))
	return c.done()
}

// callOf adds the call of the CRI that waits for an errand, and the goroutines that
// answer it and that ask the shim for the errand, and returns by what that is so: the
// goroutine is at work on the same container, or there is one such call and one such
// errand.
func (c *chain) callOf(p evidence.Process, id string) string {
	deep := c.deep()
	answers := func(g evidence.Goroutine) bool { return slices.Contains(verbOf[g.Call], p.Verb) }
	asks := func(g evidence.Goroutine) bool {
		return strings.EqualFold(g.Doing, "ttrpc Task."+p.Verb) || strings.EqualFold(g.Doing, p.Verb)
	}
	on := func(id string, such func(evidence.Goroutine) bool) (found []evidence.Goroutine) {
		for _, g := range deep.Stacks.Open {
			if g.Container == id && such(g) {
				found = append(found, g)
			}
		}
		return found
	}
	if own := on(id, answers); id != "" && len(own) > 0 {
		c.answer(own[0])
		return "the goroutine is at work on it, by its stack"
	}
	alike := 0
	for _, q := range c.evidence.Processes.Errands {
		if q.Own && q.Verb == p.Verb && q.Age >= errandYoung && c.outermost(q).PID == q.PID {
			alike++
		}
	}
	flying := slices.DeleteFunc(slices.Clone(deep.Calls.InFlight), func(f evidence.InFlight) bool { return !slices.Contains(verbOf[f.Method], p.Verb) })
	open, asking := on("", answers), on("", asks)
	switch {
	case alike != 1 || len(open) > 1 || len(asking) > 1 || len(flying) > 1:
		return ""
	case len(open) == 1:
		c.answer(open[0])
	case len(flying) == 1 && flying[0].Count == 1:
		c.add(LinkCall, "", flying[0].Method, "")
	case len(asking) == 0:
		return ""
	}
	if len(asking) == 1 && !answers(asking[0]) { // for a container's end is waited in another one
		c.add(LinkGoroutine, strconv.Itoa(asking[0].Number), goroutineName(asking[0]), "the only one that asks a shim for that, in the runtime's own dump")
	}
	return "the only such call, and the only such errand"
}

// answer adds a call of the CRI and the goroutine that answers it.
func (c *chain) answer(g evidence.Goroutine) {
	c.add(LinkCall, "", g.Call, "")
	c.add(LinkGoroutine, strconv.Itoa(g.Number), goroutineName(g), "it answers the call, in the runtime's own dump")
}

// joinErrands has an errand that has not ended explained by what hangs, if it is in the
// chain of that: it is one trouble, told from the call that waits down. What is only listed
// wrongly is explained by the errand.
func joinErrands(findings []Finding) []Finding {
	for i := range findings {
		f := &findings[i]
		if f.ID != ErrandStuck || f.Cause != "" {
			continue
		}
		for j := range findings {
			switch c := &findings[j]; {
			case c.ID == ErrandStuck || !shareErrand(c.Chain, f.Chain):
			case c.ID == GhostRunning: // which holds up nothing
				c.Cause = cmp.Or(c.Cause, ErrandStuck)
			case c.Severity >= f.Severity && f.Cause == "":
				f.Cause = cmp.Or(c.Cause, c.ID)
			}
		}
	}
	return findings
}

// shareErrand reports whether two chains have an errand in common.
func shareErrand(a, b []Link) bool {
	return slices.ContainsFunc(a, func(l Link) bool {
		return l.Kind == LinkErrand && slices.ContainsFunc(b, func(o Link) bool { return o.Kind == LinkErrand && o.ID == l.ID })
	})
}

// openOf returns the goroutine that answers the status call about an object: one that is
// at work on it, or the only one where one such call hangs; nil if none is known.
func (v *view) openOf(h *hang) *evidence.Goroutine {
	var found []*evidence.Goroutine
	for i, all := 0, v.deep().Stacks.Open; i < len(all); i++ {
		if g := &all[i]; g.Call == h.Op.String() {
			if g.Container == h.ID && h.ID != "" {
				return g
			}
			found = append(found, g)
		}
	}
	if len(found) != 1 || found[0].Container != "" || len(v.hanging(func(o *hang) bool { return o.Op == h.Op })) != 1 {
		return nil
	}
	return found[0]
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
