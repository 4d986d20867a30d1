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

// RelistSlowChurn is a relist that is long for how many pods have changed.
const RelistSlowChurn ID = "relist-slow-churn"

var relistSlowChurnKind = &kind{
	id: RelistSlowChurn, find: relistSlowChurn,
	needs: unpaused, is: delays,
	warned:   Headline{Word: "SLOW"},
	severity: "warning", scenario: "`churn-storm`",
	when: "a relist takes more than 10 s though each call is fast: changed pods × cost of each",
}

const (
	// longRelist is how long a relist must take to be long: ten periods of the
	// kubelet, so that a container's end is seen ten times as late as it should,
	// and the last finite bucket of its own histogram of relists.
	longRelist = 10 * time.Second
	// churnPods is how many changed pods it takes to speak of many.
	churnPods = 20
	// churnWindow is how far back a change counts as being of the same storm, in
	// a snapshot that has no relists to go by.
	churnWindow = 2 * time.Minute
	// projectable is how many inspections must be over to tell from them how
	// long the others will take, and projectableAfter for how long they must have
	// gone on: the first ones say little while as much is being started.
	projectable      = 10
	projectableAfter = longRelist / 5
)

// A churn is a relist that is long because of how many pods it inspects.
type churn struct {
	took      time.Duration
	projected bool
	inspected int // pods
	of        int // pods that have to be inspected; the same unless projected
	list      time.Duration
	each      time.Duration // of one pod's inspection
	least     bool          // it takes that at least
	objects   int           // sandboxes and containers, if known
}

// relistSlowChurn finds relists that are long though each call is fast.
func relistSlowChurn(v *view) []Finding {
	if v.Scope.Whole() || v.generalHangs() || len(v.Statuses) > 0 {
		return nil
	}
	for _, look := range []func() (churn, bool){v.churnNow, v.churnBefore, v.churnSwept} {
		if c, ok := look(); ok && c.took > longRelist && c.of >= churnPods && c.took-c.list > c.list {
			return []Finding{v.churnFinding(c)}
		}
	}
	return nil
}

// churnNow projects the relist under way from how far it has come. The first
// relist inspects every pod: that is no churn.
func (v *view) churnNow() (churn, bool) {
	p := v.Phase
	if p.Step != engine.Inspecting || p.OnDemand || v.Relists.Count == 0 || p.Done < projectable {
		return churn{}, false
	}
	took := v.At.Sub(p.Began) - p.ListTook
	if took < projectableAfter {
		return churn{}, false
	}
	each := took / time.Duration(p.Done)
	c := churn{projected: true, inspected: p.Done, of: max(p.Total, p.Done), list: p.ListTook, each: each}
	left := time.Duration(c.of - p.Done)
	if c.took = p.ListTook + took + each*left; c.took > longRelist { // one that took long says nothing of the others
		c.each = min(each, cmp.Or(v.inspectionSince(p.Began), each))
		c.took = p.ListTook + took + c.each*left
	}
	return c, each < answers.Hung
}

// inspectionSince returns what half of the inspections took at most that ended since a
// moment; 0 if too few did.
func (v *view) inspectionSince(at time.Time) time.Duration {
	var took []time.Duration
	for _, p := range v.Pods {
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
func (v *view) churnBefore() (churn, bool) {
	h := v.Relists.History
	if len(h) == 0 || v.Relists.Count < 2 {
		return churn{}, false
	}
	last := h[len(h)-1]
	if last.Failed || last.Inspected == 0 || v.At.Sub(last.At) > last.Took+time.Minute {
		return churn{}, false
	}
	each := (last.Took - last.List) / time.Duration(last.Inspected)
	return churn{took: last.Took, inspected: last.Inspected, of: last.Inspected, list: last.List, each: each}, each < answers.Hung
}

// churnSwept reckons, from one look at a node, what the kubelet's relist costs
// there at least: the pods that changed lately times what the quickest status call took. A
// sweep has several calls out at once, and all of them take longer where the runtime
// answers one after the other; the kubelet has one.
func (v *view) churnSwept() (churn, bool) {
	w := v.Sweep
	if w == nil || v.Relists.Count > 1 || w.Ended.IsZero() || answeredIn(w) == 0 {
		return churn{}, false
	}
	cost := w.Serial / time.Duration(answeredIn(w))
	usual := cost
	if w.Quickest > 0 {
		cost = min(cost, w.Quickest)
	}
	c := churn{projected: true, least: true}
	for _, p := range v.Pods {
		if changedLately(p, v.At) {
			c.of++
			c.objects += len(seen(p).Sandboxes) + len(seen(p).Containers)
		}
	}
	if c.of == 0 {
		return churn{}, false
	}
	c.list = v.Sums(call.ListPodSandbox).P50 + v.Sums(call.ListContainers).P50
	c.took = c.list + cost*time.Duration(c.objects)
	c.each = cost * time.Duration(c.objects) / time.Duration(c.of)
	return c, usual < answers.Slow
}

// changedLately reports whether anything of a pod was made, begun or ended in
// the last churnWindow, by the runtime's clock.
func changedLately(p *engine.Pod, at time.Time) bool {
	sandbox := func(s pleg.Sandbox) bool { return within(s.CreatedAt, at) }
	container := func(c pleg.Container) bool { return within(c.CreatedAt, at) }
	status := func(c pleg.ContainerStatus) bool { return within(c.StartedAt, at) || within(c.FinishedAt, at) }
	return slices.ContainsFunc(seen(p).Sandboxes, sandbox) || slices.ContainsFunc(seen(p).Containers, container) ||
		p.Seen() != nil && p.Status != nil && slices.ContainsFunc(p.Status.Containers, status)
}

func within(t, at time.Time) bool {
	return !t.IsZero() && at.Sub(t).Abs() <= churnWindow
}

// bound says after a duration that it is the least.
func (c churn) bound() string {
	if c.least {
		return " at least"
	}
	return ""
}

// churnOf names whose pods most of those are that changed lately; what it may be where that is
// nobody's.
func (v *view) churnOf() string {
	var changed []pleg.PodRef
	for _, p := range v.Pods {
		if changedLately(p, v.At) {
			changed = append(changed, p.PodRef)
		}
	}
	who, n := mostOwned(slices.Values(changed))
	if 2*n <= len(changed) {
		return "the Job, CronJob or rollout"
	}
	return fmt.Sprintf("%s (%s of %s), the Job, CronJob or rollout", who, thousands(n), count(len(changed), "changed pod"))
}

func (v *view) churnFinding(c churn) Finding {
	f := Finding{
		ID: RelistSlowChurn, Severity: Warning,
		Summary: fmt.Sprintf("%s kept a relist busy for %s, though no call is slow", count(c.of, "changed pod"), span(c.took)),
		Evidence: []string{
			fmt.Sprintf("%s x %s%s, inspected one after the other = %s; the two lists took %s", count(c.of, "changed pod"), span(c.each), c.bound(), span(c.each*time.Duration(c.of)), span(c.list)),
		},
		Next: v.advise("churn", Values{"owner": one(v.churnOf())}),
	}
	if c.projected {
		how := "about"
		if c.least {
			how = "at least"
		}
		f.Summary = fmt.Sprintf("%s will keep a relist busy for %s %s, though no call is slow", count(c.of, "changed pod"), how, going(c.took))
	}
	if c.took > v.Threshold {
		f.Severity = Critical
		f.say(fmt.Sprintf("longer than the threshold of %s: PLEG becomes unhealthy with each such relist", span(v.Threshold)))
	}
	if c.projected && c.inspected > 0 {
		f.say(fmt.Sprintf("so far %d of %s in %s", c.inspected, count(c.of, "pod"), going(v.At.Sub(v.Phase.Began))))
	}
	sandboxes, containers := v.Sums(call.PodSandboxStatus), v.Sums(call.ContainerStatus)
	f.say(fmt.Sprintf("PodSandboxStatus p50 %s, p99 %s; ContainerStatus p50 %s, p99 %s", span(sandboxes.P50), span(sandboxes.P99), span(containers.P50), span(containers.P99)))
	if r := v.Relists; r.Count >= 2 {
		f.say(fmt.Sprintf("relists: p50 %s, p99 %s, max %s of %s", span(r.P50), span(r.P99), span(r.Max), thousands(r.Count)))
	}
	return f
}
