package model

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
)

// relistsKept bounds the relists of a period that is a fraction of a second.
const relistsKept = 4 * int(Reach/time.Second)

// A Relist is a relist of all pods.
type Relist struct {
	engine.Relist
	Number uint64 // 1 for the first
}

// relists is those that have finished, oldest first, and the one under way.
type relists struct {
	done    []Relist
	running Relist // Number is 0 if there is none
}

func (l *relists) observe(s *engine.Snapshot) {
	history := s.Relists.History
	first := s.Relists.Count - uint64(len(history)) + 1 // the number of the oldest in it
	for i, r := range history {
		if n := first + uint64(i); len(l.done) == 0 || n > l.done[len(l.done)-1].Number {
			l.done = append(l.done, Relist{r, n})
		}
	}
	old := max(0, len(l.done)-relistsKept)
	for old < len(l.done) && s.At.Sub(l.done[old].At) > Reach+l.done[old].Took {
		old++
	}
	l.done = l.done[old:] // the next one that does not fit copies what is left

	l.running = Relist{}
	if p := s.Phase; !p.OnDemand && (p.Step == engine.Listing || p.Step == engine.Inspecting) {
		l.running = Relist{
			engine.Relist{At: p.Began, Took: s.At.Sub(p.Began), List: p.ListTook, Inspected: p.Done},
			s.Relists.Count + 1,
		}
	}
}

// Relists returns those that have finished within Reach, oldest first: valid until the
// next update, and not to be changed.
func (j *Journal) Relists() []Relist { return j.relists.done }

// Running returns the relist under way, as far as it has come at the last update, and
// false if there is none, or a pause holds it up.
func (j *Journal) Running() (Relist, bool) { return j.relists.running, j.relists.running.Number > 0 }

// Relist returns the relist that began then, which is how an event names the one that
// found it. It returns false for one that is no longer kept, and one of a single pod.
func (j *Journal) Relist(began time.Time) (Relist, bool) {
	if r, on := j.Running(); on && r.At.Equal(began) {
		return r, true
	}
	i, found := slices.BinarySearchFunc(j.relists.done, began, func(r Relist, t time.Time) int { return r.At.Compare(t) })
	if !found {
		return Relist{}, false
	}
	return j.relists.done[i], true
}

// A Pause is a time in which no relist began, as a person wanted it.
type Pause struct {
	From, To time.Time // To is zero while it lasts
}

// Until returns when a pause ended as it was known at a time: then, while it lasted.
func (p Pause) Until(at time.Time) time.Time {
	if p.To.IsZero() || p.To.After(at) {
		return at
	}
	return p.To
}

// Pauses returns those within Reach, oldest first: valid until the next update, and not
// to be changed.
func (j *Journal) Pauses() []Pause { return j.pauses }

// pause notes that a pause has begun or ended.
func (t *times) pause(s *engine.Snapshot) {
	last := len(t.pauses) - 1
	on := last >= 0 && t.pauses[last].To.IsZero()
	switch {
	case s.Paused && !on:
		t.pauses = append(t.pauses, Pause{From: s.At})
	case !s.Paused && on:
		t.pauses[last].To = s.Resumed
	}
	t.pauses = slices.DeleteFunc(t.pauses, func(p Pause) bool { return !p.To.IsZero() && s.At.Sub(p.To) > Reach })
}
