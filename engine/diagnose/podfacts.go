package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// podFacts is what rules have to know of a pod before they look at it closely,
// which they do for few of ten thousand. It follows from the pod alone, but for
// until. Moments are in seconds since 1970.
type podFacts struct {
	failing  bool  // the last inspection failed
	orphaned bool  // a container runs in a sandbox that has ended, or is not listed
	lost     bool  // a container has ended as if its shim had been killed, or is listed as unknown
	shows    shown // the worst that its containers show

	until      int64 // when shows need not be so any more
	newest     int64 // when the last of it was made or started
	died       int64 // when the last of it died
	deaths     int   // how often the container died that did so most often, as far as one snapshot tells
	remembered int   // deaths of which nothing may be left
	exited     int   // containers
	dead       int   // sandboxes

	addressless int64 // when the ready sandbox was made that has no address and needs one; 0 for none
}

// always is later than all.
const always = 1<<63 - 1

// factsOf looks at a pod. What was known of it before does not matter.
func factsOf(p *engine.Pod, at time.Time) podFacts {
	f := podFacts{failing: p.Failure != nil || p.StatusErr != nil, orphaned: !p.Orphaned.IsZero(), remembered: len(p.Deaths)}
	pod := seen(p)
	f.lost = slices.ContainsFunc(pod.Containers, func(c pleg.Container) bool { return c.State == pleg.Unknown })
	for i := range pod.Sandboxes {
		f.newest = max(f.newest, pod.Sandboxes[i].CreatedAt.Unix())
		if pod.Sandboxes[i].State == pleg.Exited {
			f.dead++
		}
	}
	for i := range pod.Containers {
		f.newest = max(f.newest, pod.Containers[i].CreatedAt.Unix())
		if pod.Containers[i].State == pleg.Exited {
			f.exited++
		}
	}
	if p.Status != nil {
		f.readStatus(p.Status)
	}
	f.shows, f.until = containersShow(p, at)
	return f
}

func (f *podFacts) readStatus(s *pleg.PodStatus) {
	for i := range s.Sandboxes {
		if b := &s.Sandboxes[i]; b.State == pleg.Running && !b.HostNetwork && len(s.IPs) == 0 && len(b.IPs) == 0 {
			f.addressless = max(f.addressless, b.CreatedAt.Unix())
		}
	}
	deaths := make(map[string]int)
	for i := range s.Containers {
		c := &s.Containers[i]
		f.newest = max(f.newest, c.StartedAt.Unix())
		f.deaths = max(f.deaths, int(c.Attempt))
		if c.State == pleg.Exited {
			f.lost = f.lost || c.ExitCode == exitLost
			f.died = max(f.died, c.FinishedAt.Unix())
			deaths[c.Name]++
			f.deaths = max(f.deaths, int(c.Attempt)+1, deaths[c.Name])
		}
	}
}

func (f *podFacts) fails() bool   { return f.failing }
func (f *podFacts) hasLost() bool { return f.lost }

// A podTable has the facts of all pods of one snapshot after another: only of those
// that have changed they are made anew.
type podTable struct{ engine.PerPod[podFacts] }

func (t *podTable) update(s *engine.Snapshot) {
	t.Update(s.Pods, func(p *engine.Pod, _ *podFacts) podFacts { return factsOf(p, s.At) })
	now := s.At.Unix()
	for i := range t.Values {
		if f := &t.Values[i]; f.until <= now {
			f.shows, f.until = containersShow(s.Pods[i], s.At)
		}
	}
}

// podsWith returns the pods of which such is true, in their order.
func (v *view) podsWith(such func(f *podFacts) bool) func(yield func(*engine.Pod, *podFacts) bool) {
	return func(yield func(*engine.Pod, *podFacts) bool) {
		for i := range v.pods {
			if such(&v.pods[i]) && !yield(v.Pods[i], &v.pods[i]) {
				return
			}
		}
	}
}
