package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// RelistSlowChurn is a relist that is long because many pods have changed.
const RelistSlowChurn ID = "relist-slow-churn"

const (
	// longRelist is how long a relist must take to be long: ten periods of the kubelet. It is the last finite bucket of the
	// kubelet's histogram of relists.
	longRelist = 10 * time.Second
	// churnPods is how many pods must have changed to speak of many.
	churnPods = 20
	// churnWindow is how far back a change counts, if there are no relists to go by.
	churnWindow = 2 * time.Minute
	// projectable is how many inspections must be over to say how long the others will take, and projectableAfter for how
	// long they must have gone on: the first ones say little while much is being started.
	projectable      = 10
	projectableAfter = longRelist / 5
)

// A relist is long though each call is fast: changed pods x cost of each.
var relistSlowChurn = Rule{
	ID: RelistSlowChurn, Needs: Unpaused, Warned: Slow,
	Find: func(f *Facts, report func(Match)) {
		if f.Scope.Whole() || f.itselfHangs() || len(f.Statuses) > 0 {
			return
		}
		for _, relist := range []func() (churn, bool){f.churnNow, f.churnBefore, f.churnInCheck} {
			if c, known := relist(); known && c.took > longRelist && c.of >= churnPods && c.took-c.list > c.list {
				report(f.churning(c))
				return
			}
		}
	},
}

// A churn is a relist that is long because of how many pods it inspects.
type churn struct {
	variant   string // "" for one that is over
	took      time.Duration
	inspected int // pods
	of        int // pods that must be inspected
	list      time.Duration
	each      time.Duration // of one pod's inspection
}

// churnNow projects the relist under way. The first relist inspects every pod: that is no churn.
func (f *Facts) churnNow() (c churn, known bool) {
	p := f.Phase
	took := f.at().Sub(p.Began) - p.ListTook
	if p.Step != engine.Inspecting || p.OnDemand || f.Relists.Count == 0 || p.Done < projectable || took < projectableAfter {
		return c, false
	}
	each := took / time.Duration(p.Done)
	c = churn{variant: "now", inspected: p.Done, of: max(p.Total, p.Done), list: p.ListTook, each: each}
	left := time.Duration(c.of - p.Done)
	if c.took = p.ListTook + took + each*left; c.took > longRelist { // one that took long says nothing of the others
		c.each = min(each, cmp.Or(f.inspectionSince(p.Began), each))
		c.took = p.ListTook + took + c.each*left
	}
	return c, each < answers.Hung
}

// inspectionSince returns what half of the inspections took at most that ended since a moment; 0 if too few did.
func (f *Facts) inspectionSince(at time.Time) time.Duration {
	var took []time.Duration
	for _, p := range f.Pods {
		if p.InspectedAt.After(at) {
			took = append(took, p.InspectLast)
		}
	}
	if len(took) < projectable {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// churnBefore judges the last relist, unless it was the first.
func (f *Facts) churnBefore() (c churn, known bool) {
	h := f.Relists.History
	if len(h) == 0 || f.Relists.Count < 2 {
		return c, false
	}
	last := h[len(h)-1]
	if last.Failed || last.Inspected == 0 || f.at().Sub(last.At) > last.Took+time.Minute {
		return c, false
	}
	each := (last.Took - last.List) / time.Duration(last.Inspected)
	return churn{took: last.Took, inspected: last.Inspected, of: last.Inspected, list: last.List, each: each}, each < answers.Hung
}

// churnInCheck estimates what the kubelet's relist costs at least: the pods that changed lately x what the quickest
// status call took. check has several calls out at once, the kubelet has one.
func (f *Facts) churnInCheck() (c churn, known bool) {
	w := f.Sweep
	if w == nil || f.Relists.Count > 1 || w.Ended.IsZero() || answeredIn(w) == 0 {
		return c, false
	}
	mean := w.Serial / time.Duration(answeredIn(w))
	cost := min(mean, cmp.Or(w.Quickest, mean))
	objects := 0
	for _, p := range f.Pods {
		if changedLately(p, f.at()) {
			c.of++
			objects += len(seenOf(p).Sandboxes) + len(seenOf(p).Containers)
		}
	}
	if c.of == 0 {
		return c, false
	}
	all := cost * time.Duration(objects)
	c.variant, c.list = "in-check", f.Sums(call.ListPodSandbox).P50+f.Sums(call.ListContainers).P50
	c.took, c.each = c.list+all, all/time.Duration(c.of)
	return c, mean < answers.Slow
}

// changedLately reports whether anything of a pod was made, begun or ended lately, by the runtime's clock.
func changedLately(p *engine.Pod, at time.Time) bool {
	within := func(t time.Time) bool { return !t.IsZero() && at.Sub(t).Abs() <= churnWindow }
	return slices.ContainsFunc(seenOf(p).Sandboxes, func(s pleg.Sandbox) bool { return within(s.CreatedAt) }) ||
		slices.ContainsFunc(seenOf(p).Containers, func(c pleg.Container) bool { return within(c.CreatedAt) }) ||
		p.Seen() != nil && p.Status != nil && slices.ContainsFunc(p.Status.Containers, func(c pleg.ContainerStatus) bool {
			return within(c.StartedAt) || within(c.FinishedAt)
		})
}

func (f *Facts) churning(c churn) Match {
	sandboxes, containers, relists := f.Sums(call.PodSandboxStatus), f.Sums(call.ContainerStatus), f.Relists
	m := Match{Variant: c.variant, Severity: Warning, Values: Values{
		"pods": many{c.of, "changed pod"}, "took": c.took, "going": age(c.took), "each": c.each, "product": c.each * time.Duration(c.of), "list": c.list,
		"sandbox50": sandboxes.P50, "sandbox99": sandboxes.P99, "container50": containers.P50, "container99": containers.P99, "owner": f.churnOwner(),
	}}
	if c.took > f.Threshold {
		m.Severity, m.Values["threshold"] = Critical, f.Threshold
	}
	if c.variant == "now" {
		m.Values["inspected"], m.Values["all"], m.Values["sofar"] = c.inspected, many{c.of, "pod"}, age(f.at().Sub(f.Phase.Began))
	}
	if relists.Count >= 2 {
		m.Values["relists"] = fmt.Sprintf("p50 %s, p99 %s, max %s of %s", span(relists.P50), span(relists.P99), span(relists.Max), thousands(relists.Count))
	}
	return m
}

// churnOwner names whose pods most of those are that changed lately, or what it may be if that is nobody's.
func (f *Facts) churnOwner() string {
	var changed []pleg.PodRef
	for _, p := range f.Pods {
		if changedLately(p, f.at()) {
			changed = append(changed, p.PodRef)
		}
	}
	who, n := mostOwned(slices.Values(changed))
	if 2*n <= len(changed) {
		return "the Job, CronJob or rollout"
	}
	return fmt.Sprintf("%s (%s of %s), the Job, CronJob or rollout", who, thousands(n), count(len(changed), "changed pod"))
}
