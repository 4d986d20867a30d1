package ledger

import "time"

// A Source is somebody who sees what happens to containers: the relist, or an event
// source beside it.
type Source uint8

const (
	FromRelist Source = iota
	FromCRI           // the runtime's event stream, GetContainerEvents
	FromCgroup        // the containers' control groups, as the kernel shows them
	FromPidfd         // the containers' first processes, whose end the kernel tells
	Sources           // how many there are
)

var sourceNames = [Sources]string{"relist", "cri", "cgroup", "pidfd"}

// String returns the word that the flag --events and the JSON have for s.
func (s Source) String() string {
	if s < Sources {
		return sourceNames[s]
	}
	return "unknown"
}

// Sightings is when who saw one transition.
type Sightings struct {
	At [Sources]time.Time // when it was received, by source; zero if it had not been then
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
// false if either had not seen it.
func (s *Sightings) Lead(of Source) (time.Duration, bool) {
	if s == nil || of >= Sources || s.At[of].IsZero() || s.At[FromRelist].IsZero() {
		return 0, false
	}
	return s.At[FromRelist].Sub(s.At[of]), true
}
