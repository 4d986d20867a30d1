package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// A Stage is a state that a container or sandbox came into.
type Stage struct {
	ID        string
	Container string     // its name; empty for a sandbox
	State     pleg.State // Created, Running, Exited, Unknown; Absent once it is gone
	At        time.Time  // when it came, by the runtime's clock where that is known, else when it was seen first
	SeenAt    time.Time  // when a relist saw it; zero if none has, or the event is no longer kept
	SightedAt time.Time  // when the first event source saw it; zero if none has, or likewise
	Event     uint64     // the Seq of the event that reported it; 0 for none
	AtStart   bool       // that event is no news: it was so before the first relist
	Exited    bool       // ExitCode holds
	ExitCode  int32
}

// Life returns what the containers and sandboxes of a pod went through, by the name of the
// container and then oldest first, as far as their statuses, the lists and the events that
// are kept tell. p is the pod as it was seen last, or nil.
func (j *Journal) Life(uid pleg.UID, p *engine.Pod) []Stage {
	l := life{events: make(map[stageKey]*Row), listed: make(map[stageKey]bool)}
	for _, r := range slices.Backward(j.Of(uid)) {
		key := stageKey{r.ID, r.To}
		if r.ID == "" || r.Delivery == pleg.Derived || r.Delivery == pleg.Unseen && l.events[key] != nil {
			continue // a relist has seen it after all
		}
		l.events[key] = r // the oldest, if a state was seen twice
	}
	if p != nil {
		l.status(p.Status)
		find := p.Status.Lookup()
		l.list(p.Old, p.ListedAt, find)
		if p.Current != p.Old {
			l.list(p.Current, p.ListedAt, find)
		}
	}
	for _, r := range l.events {
		l.stages = append(l.stages, stageOf(r))
	}
	l.inOrder()
	slices.SortStableFunc(l.stages, func(a, b Stage) int {
		return cmp.Or(strings.Compare(a.Container, b.Container), a.At.Compare(b.At), cmp.Compare(rank(a.State), rank(b.State)), cmp.Compare(a.Event, b.Event))
	})
	return l.stages
}

// inOrder gives a stage that is dated after the next one the time of that one. A creation that
// an event told of has the time when it was seen, which may be after the start; and containerd
// 2.4 dates the end of a container that ends at once some ms before its start.
func (l *life) inOrder() {
	came := map[stageKey]time.Time{}
	for _, s := range l.stages {
		came[stageKey{s.ID, s.State}] = s.At
	}
	for _, states := range [][2]pleg.State{{pleg.Running, pleg.Exited}, {pleg.Created, pleg.Running}} {
		for i := range l.stages {
			s := &l.stages[i]
			next, has := came[stageKey{s.ID, states[1]}]
			if has && s.State == states[0] && s.At.After(next) {
				s.At, came[stageKey{s.ID, s.State}] = next, next
			}
		}
	}
}

// rank is the order of states that came at the same moment.
func rank(s pleg.State) int {
	if s == pleg.Absent {
		return 10
	}
	return int(s)
}

type life struct {
	stages []Stage
	events map[stageKey]*Row // that are not among the stages yet
	listed map[stageKey]bool // sandboxes, and containers that no inspection has told of
}

type stageKey struct {
	id    string
	state pleg.State
}

// add adds a stage, with what an event says of it, which is more: when it was seen.
func (l *life) add(s Stage) {
	if len(l.events) > 0 {
		key := stageKey{s.ID, s.State}
		if r := l.events[key]; r != nil {
			e := stageOf(r)
			s.SeenAt, s.SightedAt, s.Event, s.AtStart = e.SeenAt, e.SightedAt, e.Event, e.AtStart
			if !s.AtStart {
				s.At = e.At // the engine knows which stamps are nonsense
			}
			delete(l.events, key)
		}
	}
	l.stages = append(l.stages, s)
}

// once is add for what more than one list may tell.
func (l *life) once(s Stage) {
	if key := (stageKey{s.ID, s.State}); !l.listed[key] {
		l.listed[key] = true
		l.add(s)
	}
}

// status adds what an inspection says. What a container went through before it came to
// be as it is shows in its times.
func (l *life) status(st *pleg.PodStatus) {
	if st == nil {
		return
	}
	for _, s := range st.Sandboxes {
		if !s.CreatedAt.IsZero() {
			l.once(Stage{ID: s.ID, State: pleg.Running, At: s.CreatedAt})
		}
	}
	for i := range st.Containers {
		c := &st.Containers[i]
		came := func(state pleg.State, at time.Time) {
			if !at.IsZero() {
				s := Stage{ID: c.ID, Container: c.Name, State: state, At: at, Exited: state == pleg.Exited}
				if s.Exited {
					s.ExitCode = c.ExitCode
				}
				l.add(s)
			}
		}
		came(pleg.Created, c.CreatedAt)
		came(pleg.Running, c.StartedAt)
		if c.State == pleg.Exited {
			came(pleg.Exited, c.FinishedAt)
		}
	}
}

// list adds what a list says of sandboxes and containers that no inspection has told of.
func (l *life) list(p *pleg.Pod, listed time.Time, find pleg.Lookup) {
	if p == nil {
		return
	}
	for _, s := range p.Sandboxes {
		if s.State == pleg.Running {
			l.once(Stage{ID: s.ID, State: s.State, At: cmp.Or(s.CreatedAt, listed)})
		}
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		at := cmp.Or(c.CreatedAt, listed)
		if c.State == pleg.Exited {
			at = listed
		}
		if find.Container(c.ID) == nil {
			l.once(Stage{ID: c.ID, Container: c.Name, State: c.State, At: at})
		}
	}
}

// stageOf returns the stage that an event tells of.
func stageOf(r *Row) Stage {
	s := Stage{
		ID: r.ID, Container: r.Container, State: r.To, At: r.SeenAt,
		SeenAt: r.SeenAt, Event: r.Seq, AtStart: r.AtStart, Exited: r.Exited, ExitCode: r.ExitCode,
	}
	if r.HasLag {
		s.At = r.SeenAt.Add(-r.Lag)
	}
	if r.Seen != nil {
		s.SeenAt = r.Seen.At[sources.FromRelist]
		others := *r.Seen
		others.At[sources.FromRelist] = time.Time{}
		_, s.SightedAt = others.First()
	}
	return s
}
