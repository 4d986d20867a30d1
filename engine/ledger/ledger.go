// Package ledger keeps what is known of the transitions of containers and sandboxes: of
// each id and each step who saw it, and when; what became of it between the relist and
// each event source; who has died, and what has gone. All of it has a bound, see
// bounds.go. It does no I/O and reads no clock.
package ledger

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// steps is how many transitions an id can make: Started, Died and Removed.
const steps = pleg.Removed + 1

// A Ledger puts together who saw what: the relist and the event sources. What sources
// alone have seen becomes an event, too, in time. The zero value has seen nothing.
type Ledger struct {
	byID      map[string]*entry
	kept      []memory // those that somebody knows, in the order in which they are to be looked at
	strangers []*entry // the others, oldest first

	untold   []*transition // that sources alone saw, oldest first: are reported if no relist sees them in time
	unjudged []*transition // of which it is not known yet whether the relist has missed them
	owed     []owed        // that the relist saw and a source has not told yet, oldest first
	report   []Unseen      // since the last call of Take

	drift     [Sources]drift
	samples   []sample // of drift, oldest first
	strange   uint64   // events of strangers that were reported
	uncounted uint64   // events of sources that were not

	gone         Gone                // oldest first
	come, before map[string]struct{} // ids of sandboxes; before is what come was until it was full
}

// Facts is what the ledger goes by at one moment, beside what it is told.
type Facts struct {
	Now     time.Time
	Records Records
	Watches [Sources]Watch

	Listed       time.Time // start of the last good list of all pods
	ListedBefore time.Time // of the good one before that whose relist is under way, else Listed
	Period       time.Duration
	Lists        time.Duration // what both lists usually take
	Paused       bool
	Resumed      time.Time // when the last pause ended
}

// Records is what relists have found.
type Records interface {
	// Object returns whose an id is, and its state as of the last relist that has settled
	// it; false if no record has it.
	Object(id string) (ref pleg.ObjectRef, settled pleg.State, known bool)
	// Pod reports whether there is a pod, and whether its last inspection failed, so that
	// nothing is known of what is in it.
	Pod(uid pleg.UID) (known, unsettled bool)
}

// A Watch is since when an event source looks.
type Watch struct {
	Open      bool      // it looks, or its stream was lost for a while
	Since     time.Time // since when all that happens should be told; zero if it need not
	Connected time.Time // since when its stream is; zero if it is not
}

// watched reports whether any source looks, so that it matters who saw what.
func (f *Facts) watched() bool {
	return slices.ContainsFunc(f.Watches[:], func(w Watch) bool { return w.Open })
}

// wouldTell reports whether a source that works should tell of a transition: the kernel
// knows of no removal, and of no end of what is not known to have run.
func (f *Facts) wouldTell(by Source, kind pleg.Kind, ran bool) bool {
	switch {
	case f.Watches[by].Since.IsZero():
		return false
	case kind == pleg.Started:
		return true
	case kind == pleg.Removed:
		return by == FromCRI
	}
	return ran
}

// watches reports whether a source has been watching without a break since before a
// moment. That its stream was lost for a while is no break: it missed what happened then.
func (f *Facts) watches(by Source, since time.Time) bool {
	w := f.Watches[by].Since
	return !w.IsZero() && !w.After(since)
}

// An entry is what is known of one id.
type entry struct {
	pleg.ObjectRef
	stranger bool      // no relist has had it, or its pod
	foreign  bool      // and it is of another runtime on this machine
	since    time.Time // it has run at least since then; zero if nobody says so
	touched  time.Time
	steps    [steps]*transition
}

// A transition is one step of one id, and who saw it.
type transition struct {
	of       *entry
	kind     pleg.Kind
	seen     Sightings
	first    time.Time     // when a source or the relist saw it
	said     time.Time     // when it happened, by the clock of a source; zero if none says so
	told     bool          // it is among the events, or counted instead
	missed   bool          // by the relist, as far as is known
	old      [Sources]bool // what that source told was of a time before its stream
	verdicts [Sources]verdict
	exited   bool // the status that came with it has the container as exited
	exitCode int32
	reason   string
}

// waits reports whether it is open if the relist sees a transition.
func (t *transition) waits() bool { return t.seen.At[FromRelist].IsZero() && !t.missed }

// step returns one step of an id.
func (x *entry) step(kind pleg.Kind) *transition {
	if x.steps[kind] == nil {
		x.steps[kind] = &transition{of: x, kind: kind}
	}
	return x.steps[kind]
}

// Saw reports whether anybody is known to have seen a step of an id.
func (l *Ledger) Saw(id string, kind pleg.Kind) bool {
	x := l.byID[id]
	return x != nil && x.steps[kind] != nil
}
