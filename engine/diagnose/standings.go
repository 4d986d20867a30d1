package diagnose

import (
	"maps"
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Standings returns how the pods of the snapshot stand, in their order. Of two updates of one
// [Live] it is the same slice where nothing has changed. It is not to be changed.
func (u Update) Standings() []*Standing {
	if u.standings != nil || len(u.Snapshot.Pods) == 0 {
		return u.standings
	}
	facts := new(kept).read(u.Snapshot, "", nil)
	return new(Standings).Update(u.Snapshot, facts.troubled(u.Findings))
}

// Standings has how all pods of one snapshot after another stand. Only of those that have
// changed, or about which something else is known, it is worked out anew; while nothing
// changes an update costs a comparison of what is known. The zero value has none. It belongs
// to one goroutine; what it returns may be read by all.
type Standings struct {
	all      engine.PerPod[*Standing]
	given    []*Standing // what was returned last
	known    aboutPods
	unlisted bool // no relist has listed containers yet
}

// aboutPods is what is known of pods beside what they show themselves.
type aboutPods struct {
	troubles map[pleg.UID]Trouble
	hanging  map[pleg.UID]*call.Flight
}

// Update takes over the pods of a snapshot and what is wrong with them, by UID, and returns
// how each stands, in the order of the pods. That is the same slice as before where nothing
// has changed, and another one where anything has.
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
		k.given = slices.Clone(k.all.Values) // who was given the last ones may still read them
	}
	return k.given
}

// same reports whether nothing else is known of any pod than was before.
func (k *aboutPods) same(was *aboutPods) bool {
	return maps.Equal(k.troubles, was.troubles) && maps.EqualFunc(k.hanging, was.hanging, sameCall)
}

// differs reports whether other things are known of a pod than those by which it was worked out.
func (k *aboutPods) differs(p *Standing) bool {
	return p.Trouble != k.troubles[p.Pod.UID] || !sameCall(p.Out, k.hanging[p.Pod.UID])
}

func sameCall(a, b *call.Flight) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// hanging returns, for each pod about which a call has been out for longer than
// the same usually take, the oldest such call. That of a probe or a sweep does not
// count: where all the runtime is stuck, it says nothing about the pod that was
// chosen for it.
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
