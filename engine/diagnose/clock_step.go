package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// ClockStep is a clock of the node that somebody set.
const ClockStep ID = "clock-step"

var clockStepKind = &kind{
	id: ClockStep, find: clockStep,
	severity: "warning", scenario: "`tour` with the fault of that name",
	when: "wall and monotonic time part by 2 s or more, or several objects of the runtime come from the future",
}

const (
	// stepLeast is a step worth telling: time synchronisation slews what is less
	// than a second and steps only more; twice that is no rounding either.
	stepLeast = 2 * time.Second
	// stepShown is how long it stays: the kubelet's figures and the ages of what
	// was made around the step are wrong for about as long.
	stepShown = 30 * time.Minute
	// aheadLeast is how far in the future a runtime's timestamp has to lie. Runtime
	// and we share a clock, except over a forwarded socket.
	aheadLeast = 30 * time.Second
	// aheadMost is beyond what any step leads to: nonsense, not a time. A node
	// that boots without a clock of its own begins in 1970.
	aheadMost = 100 * 365 * 24 * time.Hour
	// aheadObjects is how many objects have to lie there: one is broken data.
	aheadObjects = 2
	// aheadTold is how many of them are told.
	aheadTold = 5
)

// clockStep tells that somebody set the clock of the node.
func clockStep(v *view) []Finding {
	f := Finding{ID: ClockStep, Severity: Warning}
	ahead := v.objectsAhead()
	seen := v.evidence.Clock.Steps > 0 && v.evidence.Clock.Step.Abs() >= stepLeast && v.evidence.Clock.StepAge <= stepShown
	switch {
	case seen:
		c := v.evidence.Clock
		way := "forward"
		if c.Step < 0 {
			way = "back"
		}
		f.Summary = fmt.Sprintf("the time of the node jumped %s by %s, %s ago", way, span(c.Step.Abs()), going(c.StepAge))
		f.Evidence = []string{fmt.Sprintf("%s in %s of comparing wall clock and monotonic clock", count(c.Steps, "step"), going(c.Watched))}
	case len(ahead) >= aheadObjects:
		f.Summary = fmt.Sprintf("time seems to have gone back: %s are up to %s in the future", count(len(ahead), "object"), span(ahead[0].by))
	default:
		return nil
	}
	sayFirst(&f, ahead, aheadTold, "object", func(o aheadObject) string {
		return fmt.Sprintf("%s (%s): %s ahead", o.ObjectRef.Path(), pleg.ShortID(o.ID), span(o.by))
	})
	f.Next = v.advise("clock.stepped", nil)
	f.say("ages, back-offs and which container is the newest are wrong until what was made around the step is created again; a death in the future counts for no crash loop")
	return []Finding{f}
}

// An aheadObject is a sandbox or container whose time lies in the future.
type aheadObject struct {
	pleg.ObjectRef
	by time.Duration
}

// objectsAhead returns those that are furthest ahead first. It goes by creation, which the lists tell,
// and by start, which takes an inspection.
func (v *view) objectsAhead() []aheadObject {
	var ahead []aheadObject
	limit := v.At.Add(aheadLeast)
	for p := range v.podsWith(func(f *podFacts) bool { return f.newest >= limit.Unix() }) {
		first := len(ahead)
		look := func(at time.Time, of pleg.ObjectRef) {
			if !at.After(limit) || at.Sub(v.At) >= aheadMost {
				return
			}
			if !slices.ContainsFunc(ahead[first:], func(o aheadObject) bool { return o.ID == of.ID }) {
				ahead = append(ahead, aheadObject{of, at.Sub(v.At)})
			}
		}
		for i := range seen(p).Sandboxes {
			sb := &seen(p).Sandboxes[i]
			look(sb.CreatedAt, pleg.ObjectRef{ID: sb.ID, Pod: p.PodRef, Sandbox: true})
		}
		for i := range seen(p).Containers {
			c := &seen(p).Containers[i]
			look(c.CreatedAt, evidence.ContainerOf(p.PodRef, c).ObjectRef)
		}
		if p.Status != nil {
			for i := range p.Status.Containers {
				c := &p.Status.Containers[i]
				look(c.StartedAt, pleg.ObjectRef{ID: c.ID, Pod: p.PodRef, Container: c.Name})
			}
		}
	}
	slices.SortStableFunc(ahead, func(a, b aheadObject) int { return cmp.Compare(b.by, a.by) })
	return ahead
}
