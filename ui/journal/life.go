package journal

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Stage is a state that a container or sandbox came into.
type Stage struct {
	ID        string
	Container string     // its name; empty for a sandbox
	Attempt   uint32     // how many of its name came before; 0 where only an event tells of it
	State     pleg.State // Created, Running, Exited, Unknown; Absent once it is gone
	At        time.Time  // when it came, by the runtime's clock where that is known, else SeenAt
	SeenAt    time.Time  // when a relist saw it; zero if none has, or the event is kept no more
	Event     uint64     // the Seq of the event that reported it; 0 for none
	AtStart   bool       // that event is no news: it was so before the first relist
	Exited    bool       // ExitCode holds
	ExitCode  int32
}

// Life returns what the containers and sandboxes of a pod went through, oldest first, as
// far as their statuses, the lists and the events that are kept tell. p is the pod as it was seen
// last, or nil. The stages of different containers are mixed.
func (j *Journal) Life(uid pleg.UID, p *engine.Pod) []Stage {
	var l life
	if p != nil {
		l.status(p.Status)
		find := p.Status.Lookup()
		l.listed(p.Old, find)
		l.listed(p.Current, find)
	}
	for r := range j.Of(uid) {
		if r.ID != "" {
			l.event(r)
		}
	}
	slices.SortStableFunc(l.stages, func(a, b Stage) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(rank(a.State), rank(b.State)))
	})
	return l.stages
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
	find   map[stageKey]int // where in stages
}

type stageKey struct {
	id    string
	state pleg.State
}

func (l *life) add(s Stage) {
	if l.find == nil {
		l.find = make(map[stageKey]int)
	}
	l.find[stageKey{s.ID, s.State}] = len(l.stages)
	l.stages = append(l.stages, s)
}

// status adds what an inspection says. What a container went through before it came to
// be as it is shows in its times.
func (l *life) status(st *pleg.PodStatus) {
	if st == nil {
		return
	}
	for _, s := range st.Sandboxes {
		if !s.CreatedAt.IsZero() {
			l.add(Stage{ID: s.ID, Attempt: s.Attempt, State: pleg.Running, At: s.CreatedAt})
		}
	}
	for i := range st.Containers {
		c := &st.Containers[i]
		came := func(state pleg.State, at time.Time) {
			if !at.IsZero() {
				ended := state == pleg.Exited
				s := Stage{ID: c.ID, Container: c.Name, Attempt: c.Attempt, State: state, At: at, Exited: ended}
				if ended {
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

// listed adds what a list says of sandboxes and containers that no inspection has told of.
func (l *life) listed(p *pleg.Pod, find pleg.Lookup) {
	if p == nil {
		return
	}
	for _, s := range p.Sandboxes {
		if _, known := l.find[stageKey{s.ID, pleg.Running}]; !known && s.State == pleg.Running {
			l.add(Stage{ID: s.ID, Attempt: s.Attempt, State: s.State, At: s.CreatedAt})
		}
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		at := c.CreatedAt
		if c.State == pleg.Exited || at.IsZero() {
			at = p.ListedAt
		}
		if _, known := l.find[stageKey{c.ID, c.State}]; !known && find.Container(c.ID) == nil {
			l.add(Stage{ID: c.ID, Container: c.Name, Attempt: c.Attempt, State: c.State, At: at})
		}
	}
}

// event adds what an event says, which is more than an inspection does: when it was
// seen, and what has been removed since.
func (l *life) event(r *Row) {
	s := Stage{
		ID: r.ID, Container: r.Container, State: r.To, At: r.SeenAt,
		SeenAt: r.SeenAt, Event: r.Seq, AtStart: r.AtStart, Exited: r.Exited, ExitCode: r.ExitCode,
	}
	if r.HasLag {
		s.At = r.SeenAt.Add(-r.Lag)
	}
	if i, runs := l.find[stageKey{s.ID, pleg.Running}]; runs && s.State == pleg.Created && s.At.After(l.stages[i].At) {
		s.At = l.stages[i].At // listed before it was started, and inspected after that
	}
	if i, known := l.find[stageKey{s.ID, s.State}]; known {
		known := &l.stages[i]
		known.SeenAt, known.Event, known.AtStart = s.SeenAt, s.Event, s.AtStart
		if !s.AtStart {
			known.At = s.At // the engine knows which stamps are nonsense
		}
		return
	}
	l.add(s)
}
