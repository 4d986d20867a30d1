package sources

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A Source sees what happens to containers. It is the relist or an event source.
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

// An Unseen is a transition that only sources have seen.
type Unseen struct {
	pleg.Event           // as a relist would have made it, with Delivery Unseen
	Seen       Sightings // by whom
	Happened   time.Time // by the clock of a source; zero if no source says when
	Reason     string    // the runtime's reason for a container's end; not cleaned
}

// leads has the states that a step leads from and to.
var leads = [...][2]pleg.State{
	pleg.Started: {pleg.Absent, pleg.Running}, pleg.Died: {pleg.Running, pleg.Exited}, pleg.Removed: {pleg.Exited, pleg.Absent},
}

// learn makes the event of a step that only sources see, as far as u says whose id it is.
func (t *Unseen) learn(kind pleg.Kind, u *pleg.Upstream) {
	if t.Pod.UID != "" {
		return
	}
	ref := pleg.ObjectRef{ID: u.ID, Pod: u.Pod, Sandbox: u.Status != nil && u.Status.HasSandbox(u.ID)}
	t.Event = pleg.Event{Kind: kind, Delivery: pleg.Unseen, ObjectRef: ref, From: leads[kind][0], To: leads[kind][1]}
	if c := u.Status.Lookup().Container(u.ID); c != nil {
		t.Container = c.Name
		if t.Exited = kind == pleg.Died && c.State == pleg.Exited; t.Exited {
			t.ExitCode, t.Reason = c.ExitCode, c.Reason
		}
	}
}
