package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// RelistSlowChurn is a relist that takes long because many pods have changed.
const RelistSlowChurn ID = "relist-slow-churn"

const (
	// longRelist is how long a relist must take to be long: ten periods of the kubelet. It is also the last finite
	// bucket of the kubelet's histogram of relists.
	longRelist = 10 * time.Second
	// churnPods is how many pods must have changed to count as many.
	churnPods = 20
)

// A relist takes long although each call is fast: the number of changed pods times the cost of each.
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
