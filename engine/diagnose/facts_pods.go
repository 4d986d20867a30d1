package diagnose

import (
	"cmp"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// podFacts is what rules must know about a pod before they look at it closely. They look closely at a few of ten
// thousand pods. It depends on the pod alone, except for until. Moments are in seconds since 1970.
type podFacts struct {
	failing  bool  // the last inspection failed
	orphaned bool  // a container runs in a sandbox that has ended, or is not listed
	lost     bool  // a container has ended as if its shim had been killed
	shows    shown // the worst that its containers show

	until  int64 // shows holds until then
	newest int64 // when its newest object was made or started
	died   int64 // when its last container died
	deaths int   // deaths of the container that died most often, as far as one snapshot shows
	exited int   // containers that have exited
	dead   int   // sandboxes that have exited

	addressless int64 // when the ready sandbox that needs an address and has none was made; 0 for none
}

// always is later than every moment.
const always = 1<<63 - 1

// exitLost is the exit code of a container whose shim is gone: the runtime did not see the container end. (containerd
// 1.6 to 2.4, loadContainer: 255 with the reason Unknown.)
const exitLost = 255

var noPod pleg.Pod // read only

// seenOf returns what is listed of a pod. If the pod is not listed, it returns an empty one, never nil.
func seenOf(p *engine.Pod) *pleg.Pod { return cmp.Or(p.Seen(), &noPod) }

// podFactsOf returns the facts of a pod.
func podFactsOf(p *engine.Pod, at time.Time) podFacts {
	f := podFacts{failing: p.Failure != nil || p.StatusErr != nil, orphaned: !p.Orphaned.IsZero()}
	pod := seenOf(p)
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

// A podTable has the facts of all pods, and follows one snapshot after another. It looks only at pods that have
// changed.
type podTable struct{ engine.PerPod[podFacts] }

func (t *podTable) update(s *engine.Snapshot) {
	t.Update(s.Pods, func(p *engine.Pod, _ *podFacts) podFacts { return podFactsOf(p, s.At) })
	now := s.At.Unix()
	for i := range t.Values {
		if f := &t.Values[i]; f.until <= now {
			f.shows, f.until = containersShow(s.Pods[i], s.At)
		}
	}
}

// podsWith yields the pods for which such returns true, in their order.
func (f *Facts) podsWith(such func(*podFacts) bool) func(yield func(*engine.Pod, *podFacts) bool) {
	return func(yield func(*engine.Pod, *podFacts) bool) {
		for i := range f.pods {
			if such(&f.pods[i]) && !yield(f.Pods[i], &f.pods[i]) {
				return
			}
		}
	}
}

// containersOf returns the containers that a pod lists.
func (f *Facts) containersOf(pod pleg.PodRef) []pleg.Container {
	if p := f.Pod(pod); p != nil {
		return seenOf(p).Containers
	}
	return nil
}
