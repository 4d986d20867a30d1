package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// ClockStep is a clock of the node that somebody set.
const ClockStep ID = "clock-step"

const (
	// stepLeast is a step that is worth a word: time synchronisation slews below a second; twice that is no rounding either.
	stepLeast = 2 * time.Second
	// stepFor is how long it is reported: ages of what was made around the step are wrong for about as long.
	stepFor = 30 * time.Minute
	// aheadLeast is how far in the future a time of the runtime must be. Runtime and plegtop share a clock, except over a
	// forwarded socket.
	aheadLeast = 30 * time.Second
	// aheadMost is beyond any step: nonsense, and no time. A node without a clock of its own boots in 1970.
	aheadMost = 100 * 365 * 24 * time.Hour
	// aheadObjects is how many objects must be there: one is broken data.
	aheadObjects = 2
	namedAhead   = 5
)

// Wall clock and monotonic clock part, or several objects of the runtime are from the future.
var clockStep = Rule{
	ID: ClockStep,
	Find: func(f *Facts, report func(Match)) {
		c, ahead := f.Look.Clock, f.objectsAhead()
		m := Match{Severity: Warning}
		switch {
		case c.Steps > 0 && c.Step.Abs() >= stepLeast && c.StepAge <= stepFor:
			m.Values = Values{"way": "forward", "by": c.Step.Abs(), "age": age(c.StepAge), "steps": many{c.Steps, "step"}, "watched": age(c.Watched)}
			if c.Step < 0 {
				m.Values["way"] = "back"
			}
		case len(ahead) >= aheadObjects:
			m.Variant, m.Values = "ahead", Values{"objects": many{len(ahead), "object"}, "by": ahead[0].by}
		default:
			return
		}
		m.Lines = map[string][]line{}
		for i, o := range ahead {
			if i == namedAhead {
				m.Lines["ahead"] = append(m.Lines["ahead"], line{"and {more} more", Values{"more": many{len(ahead) - i, "object"}}})
				break
			}
			m.Lines["ahead"] = append(m.Lines["ahead"], lineOf("ahead", Values{"object": o.Path(), "id": short(o.ID), "by": o.by}))
		}
		report(m)
	},
}

// An aheadObject is a sandbox or container whose time is in the future.
type aheadObject struct {
	pleg.ObjectRef
	by time.Duration
}

// objectsAhead returns them, those that are furthest ahead first.
func (f *Facts) objectsAhead() (ahead []aheadObject) {
	limit := f.at().Add(aheadLeast)
	for p := range f.podsWith(func(p *podFacts) bool { return p.newest >= limit.Unix() }) {
		first := len(ahead)
		look := func(at time.Time, of pleg.ObjectRef) {
			known := slices.ContainsFunc(ahead[first:], func(o aheadObject) bool { return o.ID == of.ID })
			if at.After(limit) && at.Sub(f.at()) < aheadMost && !known {
				ahead = append(ahead, aheadObject{of, at.Sub(f.at())})
			}
		}
		for _, s := range seenOf(p).Sandboxes {
			look(s.CreatedAt, pleg.ObjectRef{ID: s.ID, Pod: p.PodRef, Sandbox: true})
		}
		for i := range seenOf(p).Containers {
			c := &seenOf(p).Containers[i]
			look(c.CreatedAt, evidence.ContainerOf(p.PodRef, c).ObjectRef)
		}
		if p.Status != nil {
			for _, c := range p.Status.Containers {
				look(c.StartedAt, pleg.ObjectRef{ID: c.ID, Pod: p.PodRef, Container: c.Name})
			}
		}
	}
	slices.SortStableFunc(ahead, func(a, b aheadObject) int { return cmp.Compare(b.by, a.by) })
	return ahead
}
