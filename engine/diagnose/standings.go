package diagnose

import (
	"maps"
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Standings returns how each pod of the snapshot is, in the order of the pods. For two updates of one [Live] it returns
// the same slice if nothing has changed. The slice must not be changed.
func (u Update) Standings() []*Standing {
	if u.standings != nil || len(u.Snapshot.Pods) == 0 {
		return u.standings
	}
	facts := new(kept).read(u.Snapshot, "", nil)
	return new(Standings).Update(u.Snapshot, facts.troubled(u.Findings))
}

// Standings keeps how all pods are, from one snapshot to the next. It works out only pods that have changed, or about
// which something else is known. If nothing changes, an update only compares what is known. The zero value has no pods.
// It belongs to one goroutine; its results may be read by all.
type Standings struct {
	all      engine.PerPod[*Standing]
	given    []*Standing // the last result
	known    aboutPods
	unlisted bool // no relist has listed containers yet
}

// aboutPods is what is known about pods, apart from what they show themselves.
type aboutPods struct {
	troubles map[pleg.UID]Trouble
	hanging  map[pleg.UID]*call.Flight
}

// Update takes the pods of a snapshot and the troubles of pods by UID. It returns how each pod is, in the order of the
// pods. It returns the same slice as before if nothing has changed, and another slice otherwise.
func (k *Standings) Update(s *engine.Snapshot, troubles map[pleg.UID]Trouble) []*Standing {
	now := aboutPods{troubles, hanging(s)}
	unlisted := s.Health.ListedAt.IsZero()
	workOut := func(p *engine.Pod) *Standing {
		return newStanding(p, now.hanging[p.UID], troubles[p.UID], unlisted)
	}
	changed := k.all.Update(s.Pods, func(p *engine.Pod, _ **Standing) *Standing { return workOut(p) })
	if !now.same(&k.known) || unlisted != k.unlisted {
		for i, p := range k.all.Values {
			if unlisted != k.unlisted || now.differs(p) {
				k.all.Values[i], changed = workOut(p.Pod), true
			}
		}
		k.known, k.unlisted = now, unlisted
	}
	if changed {
		k.given = slices.Clone(k.all.Values) // those who got the last slice may still read it
	}
	return k.given
}

// same reports whether the same is known about all pods as before.
func (k *aboutPods) same(was *aboutPods) bool {
	return maps.Equal(k.troubles, was.troubles) && maps.EqualFunc(k.hanging, was.hanging, sameCall)
}

// differs reports whether something else is known about a pod now than when its standing was worked out.
func (k *aboutPods) differs(p *Standing) bool {
	return p.Trouble != k.troubles[p.Pod.UID] || !sameCall(p.Out, k.hanging[p.Pod.UID])
}

func sameCall(a, b *call.Flight) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// hanging returns, for each pod, the oldest call about it that has been out for longer than the same call usually
// takes. Calls of probes and sweeps do not count: if the whole runtime is stuck, such a call says nothing about the pod
// that was chosen for it.
func hanging(s *engine.Snapshot) map[pleg.UID]*call.Flight {
	var calls map[pleg.UID]*call.Flight
	for i := range s.InFlight {
		f := &s.InFlight[i]
		if f.Pod.UID == "" || f.By == call.ByProbe || f.By == call.BySweep || calls[f.Pod.UID] != nil || !Late(s, *f) {
			continue
		}
		if calls == nil {
			calls = make(map[pleg.UID]*call.Flight)
		}
		calls[f.Pod.UID] = f
	}
	return calls
}
