package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// A referee plays observations once more, and checks after each whether the engine has kept its promises.
type referee struct {
	t     *testing.T
	m     *engine.Model
	at    time.Time
	out   map[uint64]call.Flight
	last  uint64 // number of the last call
	seq   uint64 // of the last event
	began time.Time
	seen  map[string]bool // events of the relist that began then
	alone map[string]bool // events that sources alone have seen
	old   map[pleg.UID]*engine.Pod
	look  bool // somebody looks at the node
	open  [sources.Sources]bool
	came  [sources.Sources]uint64
	told  uint64 // number of the last change of a source
}

func newReferee(t *testing.T, s engine.Start) *referee {
	return &referee{t: t, m: must(engine.NewModel(s)), out: map[uint64]call.Flight{}, seen: map[string]bool{}, alone: map[string]bool{}}
}

func (r *referee) watch(o observation) *engine.Snapshot {
	if o.At.Before(r.at) {
		r.t.Errorf("%v: time goes back from %v", o.At, r.at)
	}
	r.at = o.At
	r.observed(o.Observation)
	r.events(r.m.Apply(o.At, o.Observation))
	s := r.m.Snapshot(r.at)
	if mark, is := o.Observation.(engine.Marked); is && mark.Mark == (engine.Closed{}) { // an examination takes what hangs for unanswered
		maps.DeleteFunc(r.out, func(_ uint64, f call.Flight) bool {
			return !slices.Contains(s.InFlight, f) && f.Elapsed(r.at) >= call.LateAfter
		})
	}
	r.shown(s)
	return s
}

// observed checks that nothing is done twice at a time.
func (r *referee) observed(o engine.Observation) {
	switch o := o.(type) {
	case engine.CallBegan:
		r.called(o)
	case engine.CallEnded:
		delete(r.out, o.ID)
	case engine.Marked:
		switch mark := o.Mark.(type) {
		case engine.LookBegan:
			if r.look {
				r.t.Errorf("%v: two looks at a time", r.at)
			}
			r.look = true
		case engine.StreamOpened:
			if r.open[mark.Source] {
				r.t.Errorf("%v: %v is opened while it is open", r.at, mark.Source)
			}
			r.open[mark.Source] = true
		}
	case engine.Looked:
		r.look = false
	case engine.Streamed:
		r.came[o.Source] += uint64(len(o.Events)) + o.Lost
	case engine.StreamEnded:
		r.open[o.Source] = false
	}
}

// called checks a call. No two calls ask for the same thing at a time, and there is one list at a time, except
// the lists of single pods during a list of all containers that surely hangs.
func (r *referee) called(o engine.CallBegan) {
	f := o.Flight
	f.Since = r.at
	if o.ID != r.last+1 || o.Timeout <= 0 {
		r.t.Errorf("%v: call %+v after number %d", r.at, o, r.last)
	}
	r.last = o.ID
	for _, other := range r.out {
		beside := f.By == call.BySearch && f.Pod.UID != "" && other.Op == call.ListContainers && other.Pod.UID == "" && other.Elapsed(r.at) >= call.SurelyHangs
		if other.SameTarget(f) && !beside {
			r.t.Errorf("%v: %+v is made while %+v is out", r.at, f, other)
		}
	}
	r.out[o.ID] = f
}

// events checks that each event comes once and in order.
func (r *referee) events(events []engine.Event) {
	for _, e := range events {
		if r.seq++; e.Seq != r.seq {
			r.t.Errorf("event %+v, want number %d", e, r.seq)
		}
		if e.Delivery == pleg.Unseen {
			by, first := e.Seen.First()
			key := fmt.Sprint(e.ID, e.Kind, first.UnixNano())
			if r.alone[key] || by == sources.FromRelist || !e.SeenAt.Equal(first) {
				r.t.Errorf("%v: %+v, before: %v", r.at, e, r.alone[key])
			}
			r.alone[key] = true
			continue
		}
		if !e.At.Equal(r.began) {
			r.began = e.At
			clear(r.seen)
		}
		key := fmt.Sprint(e.Pod.UID, e.ID, e.Kind)
		if r.seen[key] {
			r.t.Errorf("%v: %+v comes twice", r.at, e)
		}
		r.seen[key] = true
	}
}

// shown checks that what is shown fits together.
func (r *referee) shown(s *engine.Snapshot) {
	counted := 0
	for _, c := range s.Calls {
		counted += c.InFlight
	}
	if counted != len(s.InFlight) || counted != len(r.out) || !slices.IsSortedFunc(s.InFlight, func(a, b call.Flight) int { return a.Since.Compare(b.Since) }) {
		r.t.Errorf("%v: in flight %+v, %d counted, made %+v", r.at, s.InFlight, counted, r.out)
	}
	if v := s.Sweep; v != nil && (v.Done > v.Total || len(v.Hung)+len(v.Failed) > v.Done || len(s.InFlight) > v.Width+6) {
		r.t.Errorf("%v: check %+v with %d in flight", r.at, v, len(s.InFlight))
	}
	if h := s.Health; s.Paused && !h.UnhealthyAt.IsZero() || !h.UnhealthyAt.IsZero() && !h.UnhealthyAt.After(r.at.Add(-1)) {
		r.t.Errorf("%v: paused %v, health %+v", r.at, s.Paused, h)
	}
	if n := s.Node.Next; n.To.Before(n.From) || !n.From.IsZero() && (s.Paused || n.Ready == s.Node.Ready) {
		r.t.Errorf("%v: paused %v, node %+v", r.at, s.Paused, s.Node)
	}
	if !slices.IsSortedFunc(s.Pods, func(a, b *engine.Pod) int { return a.PodRef.Compare(b.PodRef) }) {
		r.t.Errorf("%v: the pods are in no order", r.at)
	}
	r.records(s)
	r.streams(s)
}

// records checks that a record advances only after a good inspection.
func (r *referee) records(s *engine.Snapshot) {
	now := make(map[pleg.UID]*engine.Pod, len(s.Pods))
	for _, p := range s.Pods {
		now[p.UID] = p
		if was := r.old[p.UID]; was != nil && was.Old != p.Old && (p.Failure != nil || p.Inspected == was.Inspected) {
			r.t.Errorf("%v: the record of %v has advanced; inspected %d and then %d times; failed with %+v", r.at, p.PodRef, was.Inspected, p.Inspected, p.Failure)
		}
	}
	r.old = now
}

// streams checks that all events that came are counted, and that changes come in order.
func (r *referee) streams(s *engine.Snapshot) {
	for _, state := range s.Sources {
		if state.Received+state.Lost != r.came[state.Source] {
			r.t.Errorf("%v: %+v, and %d came", r.at, state, r.came[state.Source])
		}
		if up := state.State == sources.StreamOpening || state.State == sources.StreamConnected || state.State == sources.StreamEnding; up != r.open[state.Source] {
			r.t.Errorf("%v: %+v, and is open: %v", r.at, state, r.open[state.Source])
		}
	}
	for _, c := range s.SourceChanges {
		if c.Seq > r.told+1 {
			r.t.Errorf("%v: %+v comes after %d", r.at, c, r.told)
		}
		r.told = max(r.told, c.Seq)
	}
	for _, d := range s.Drift {
		if d.Transitions != d.Both+d.MissedByRelist+d.MissedBySource {
			r.t.Errorf("%v: %+v", r.at, d)
		}
	}
}
