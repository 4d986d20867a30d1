package sources

import (
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// Lasts is how long it is remembered who saw what: longer than lists hang before somebody
	// does something about it.
	Lasts = 10 * time.Minute
	// MostIDs is how many ids are remembered: a source may send more than any node has. Ids that
	// no relist has find room in the first half only.
	MostIDs = 8192
	// LongestID is in bytes. A longer text is no id, and would fill the memory.
	LongestID = 1024
)

// A Source is somebody who sees what happens to containers: the relist, or an event source.
type Source uint8

const (
	FromRelist Source = iota
	FromCRI           // the runtime's event stream, GetContainerEvents
	FromCgroup        // the containers' control groups, as the kernel shows them by inotify
	Sources           // how many there are
)

var sourceNames = [Sources]string{"relist", "cri", "cgroup"}

// String returns the word that the flag --events and the JSON have for s.
func (s Source) String() string { return pleg.Word(s, sourceNames[:]) }

// Sightings says when each source saw one transition.
type Sightings struct {
	At [Sources]time.Time // when we received it, by source; zero if we had not by then
}

// First returns who saw it first, and when; [FromRelist] and zero if nobody did.
func (s *Sightings) First() (Source, time.Time) {
	first, at := FromRelist, time.Time{}
	if s == nil {
		return first, at
	}
	for source, t := range s.At {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			first, at = Source(source), t
		}
	}
	return first, at
}

// Lead returns by how much a source was ahead of the relist, negative if it was late, and
// false if either has not seen it.
func (s *Sightings) Lead(of Source) (time.Duration, bool) {
	if s == nil || of >= Sources || s.At[of].IsZero() || s.At[FromRelist].IsZero() {
		return 0, false
	}
	return s.At[FromRelist].Sub(s.At[of]), true
}

// An Entry is what is known of one id.
type Entry struct {
	Listed  bool // a relist has had it
	Touched time.Time
	Steps   [pleg.Removed + 1]*Step // Started, Died, Removed; nil if nobody has seen it
}

// A Step is one transition of an id.
type Step struct {
	Unseen             // what is reported if no relist sees it
	First    time.Time // when anybody saw it
	After    time.Time // it happened after this; zero while the relist has not seen it
	Ran      bool      // the container or sandbox is known to have run, of what the relist saw
	Reported bool      // as unseen
	Settled  bool      // it is counted
}

// An Unseen is a transition that only sources have seen.
type Unseen struct {
	pleg.Event           // as a relist would have made it, with Delivery Unseen
	Seen       Sightings // by whom
	Happened   time.Time // by the clock of a source; zero if none says so
	Reason     string    // the runtime's reason for a container's end; not cleaned
}

// A Wait is a step that somebody has seen and others may still see.
type Wait struct {
	ID   string
	Kind pleg.Kind
	At   time.Time // when it was first seen: a step of that time is meant
}

// sawIt reports whether a source, or the relist, has seen a step.
func (t *Step) sawIt(source Source) bool { return !t.Seen.At[source].IsZero() }

// step returns one step of an id. A new one waits for everybody to see it.
func (o *Observer) step(at time.Time, id string, kind pleg.Kind) *Step {
	x := o.IDs[id]
	if x.Steps[kind] == nil {
		x.Steps[kind] = &Step{First: at}
		o.Waits = append(o.Waits, Wait{ID: id, Kind: kind, At: at})
	}
	x.Touched = at
	return x.Steps[kind]
}

// Saw reports whether anybody is known to have seen a step of an id.
func (o *Observer) Saw(id string, kind pleg.Kind) bool {
	x := o.IDs[id]
	return x != nil && x.Steps[kind] != nil
}

// admit makes room for an id. It fails where no relist has the id and there is no room.
func (o *Observer) admit(at time.Time, id string, listed bool) bool {
	if !listed && (len(o.IDs) >= MostIDs/2 || len(id) > LongestID) {
		return false
	}
	for lasts := Lasts; len(o.IDs) >= MostIDs; lasts /= 2 {
		o.forget(at, lasts)
	}
	o.IDs[id] = &Entry{Listed: listed, Touched: at}
	return true
}

// forget forgets the ids of which nothing was heard for so long.
func (o *Observer) forget(at time.Time, lasts time.Duration) {
	maps.DeleteFunc(o.IDs, func(_ string, x *Entry) bool { return at.Sub(x.Touched) >= lasts })
	o.Waits = slices.DeleteFunc(o.Waits, func(w Wait) bool { return o.IDs[w.ID] == nil })
}
