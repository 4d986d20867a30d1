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

// churnWindow is how recent a pod's change must be to count.
const churnWindow = 2 * time.Minute

// churnInCheck returns an estimate of the least that the kubelet's relist costs: the number of objects in the pods that
// changed lately, times the time of the quickest status call. check has several calls out at once, the kubelet has one.
// It returns the zero churn if there is nothing to estimate from.
func (f *Facts) churnInCheck() (c churn) {
	w := f.Sweep
	if w == nil || f.Relists.Count > 1 || w.Ended.IsZero() || answeredIn(w) == 0 {
		return c
	}
	mean := w.Serial / time.Duration(answeredIn(w))
	if mean >= answers.Slow {
		return c // the calls are slow, and not many
	}
	objects := 0
	for _, p := range f.changedPods() {
		c.pods++
		objects += len(seenOf(p).Sandboxes) + len(seenOf(p).Containers)
	}
	c.variant, c.list = "in-check", f.Sums(call.ListPodSandbox).P50+f.Sums(call.ListContainers).P50
	c.took = c.list + time.Duration(objects)*min(mean, cmp.Or(w.Quickest, mean))
	return c
}

// changedPods returns the pods in which a sandbox or a container was created, started or ended lately, by the runtime's
// clock.
func (f *Facts) changedPods() (all []*engine.Pod) {
	lately := func(times ...time.Time) bool {
		return slices.ContainsFunc(times, func(t time.Time) bool { return !t.IsZero() && f.at().Sub(t).Abs() <= churnWindow })
	}
	for _, p := range f.Pods {
		pod := seenOf(p)
		changed := slices.ContainsFunc(pod.Sandboxes, func(s pleg.Sandbox) bool { return lately(s.CreatedAt) }) ||
			slices.ContainsFunc(pod.Containers, func(c pleg.Container) bool { return lately(c.CreatedAt) }) ||
			p.Seen() != nil && p.Status != nil && slices.ContainsFunc(p.Status.Containers, func(c pleg.ContainerStatus) bool { return lately(c.StartedAt, c.FinishedAt) })
		if changed {
			all = append(all, p)
		}
	}
	return all
}

// churnOwner returns the owner of most of the changed pods, or what it may be if no owner has more than half of them.
func (f *Facts) churnOwner() string {
	var changed []pleg.PodRef
	for _, p := range f.changedPods() {
		changed = append(changed, p.PodRef)
	}
	who, n := mostOwned(slices.Values(changed))
	if 2*n <= len(changed) {
		return "the Job, CronJob or rollout"
	}
	return fmt.Sprintf("%s (%s of %s), the Job, CronJob or rollout", who, thousands(n), count(len(changed), "changed pod"))
}

// A churn is a relist that inspects many pods.
type churn struct {
	variant    string // empty for a relist that is over
	took, list time.Duration
	pods       int // pods inspected
	left       int // pods that the relist has yet to inspect
}

// each returns how long the inspection of one pod takes.
func (c *churn) each() time.Duration { return (c.took - c.list) / time.Duration(max(c.pods, 1)) }

// churnNow returns the relist that runs now. The first relist inspects every pod, which is no churn.
func (f *Facts) churnNow() (c churn) {
	if p := f.Phase; p.Step == engine.Inspecting && !p.OnDemand && f.Relists.Count > 0 {
		c = churn{variant: "now", took: f.at().Sub(p.Began), list: p.ListTook, pods: p.Done, left: max(p.Total-p.Done, 0)}
	}
	return c
}

// churnBefore returns the last relist, unless it was the first.
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
