package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// RelistSlowChurn is a relist that is long because many pods have changed.
const RelistSlowChurn ID = "relist-slow-churn"

const (
	// longRelist is how long a relist must take to be long: ten periods of the kubelet. It is the last finite bucket of the
	// kubelet's histogram of relists.
	longRelist = 10 * time.Second
	// churnPods is how many pods must have changed to speak of many.
	churnPods = 20
)

// A relist is long though each call is fast: changed pods x cost of each.
var relistSlowChurn = Rule{
	ID: RelistSlowChurn, Needs: Unpaused, Warned: Slow,
	Find: func(f *Facts, report func(Match)) {
		if f.Scope.Whole() || f.itselfHangs() || len(f.Statuses) > 0 {
			return
		}
		for _, c := range []churn{f.churnNow(), f.churnBefore(), f.churnInCheck()} {
			if c.took > longRelist && c.pods >= churnPods && c.took-c.list > c.list && c.each() < answers.Hung {
				report(f.churning(c))
				return
			}
		}
	},
}

// A churn is a relist that inspects many pods.
type churn struct {
	variant    string // "" for a relist that is over
	took, list time.Duration
	pods       int // inspected ones
	left       int // pods that the relist has yet to inspect
}

// each is how long the inspection of one pod takes.
func (c *churn) each() time.Duration { return (c.took - c.list) / time.Duration(max(c.pods, 1)) }

// churnNow is about the relist under way. The first relist inspects every pod: that is no churn.
func (f *Facts) churnNow() (c churn) {
	if p := f.Phase; p.Step == engine.Inspecting && !p.OnDemand && f.Relists.Count > 0 {
		c = churn{variant: "now", took: f.at().Sub(p.Began), list: p.ListTook, pods: p.Done, left: max(p.Total-p.Done, 0)}
	}
	return c
}

// churnBefore is about the last relist, unless it was the first.
func (f *Facts) churnBefore() (c churn) {
	h := f.Relists.History
	if len(h) == 0 || f.Relists.Count < 2 {
		return c
	}
	if last := h[len(h)-1]; !last.Failed && f.at().Sub(last.At) <= last.Took+time.Minute {
		c = churn{took: last.Took, list: last.List, pods: last.Inspected}
	}
	return c
}

func (f *Facts) churning(c churn) Match {
	v := Values{
		"pods": many{c.pods, "changed pod"}, "took": c.took, "going": age(c.took), "each": c.each(), "product": c.took - c.list, "list": c.list,
		"sandbox50": f.Sums(call.PodSandboxStatus).P50, "container50": f.Sums(call.ContainerStatus).P50, "owner": f.churnOwner(),
	}
	if c.left > 0 {
		v["left"] = many{c.left, "pod"}
	}
	m := Match{Variant: c.variant, Severity: Warning, Values: v}
	if c.took > f.Threshold {
		m.Severity, v["threshold"] = Critical, f.Threshold
	}
	return m
}
