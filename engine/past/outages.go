package past

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// AwayFor is the time over which outages of the runtime are counted.
	AwayFor = 10 * time.Minute
	// outagesKept bounds what is remembered: one for each look at the node in that time.
	outagesKept = 120
	// listsFailedKept is how often lists must have begun to fail within a minute to be
	// unsteady: no more has to be known.
	listsFailedKept = answers.Outages
)

// Outages are the last times at which the runtime went away, by the calls that are about
// no object: of an object, the shim may be what is away.
type Outages struct {
	Counts             // as of now
	Away     bool      // it has gone, and is not back
	Times    []Outage  // oldest first
	ListBack time.Time // when a list succeeded last after one that had failed

	ListsFailed []answers.Failure // the last times at which lists began to fail, oldest first
}

// Counts says how many calls about the whole runtime have failed at once, of how many.
type Counts struct{ Failed, All uint64 }

// An Outage is the moment at which calls began to find no runtime.
type Outage struct {
	At     time.Time
	Before Counts
}

// Counted takes down how many calls there were.
func (k *Keeper) Counted(c Counts) { k.now.Outages.Counts = c }

// WentAway takes down that a call about the whole runtime has failed at once, unless the
// runtime was away already.
func (k *Keeper) WentAway(at time.Time, before Counts) {
	if out := &k.now.Outages; !out.Away {
		out.Away, out.Times = true, keep(out.Times, Outage{at, before}, outagesKept)
	}
}

// ComesAndGoes reports whether the runtime has gone away so often of late that no answer
// of it is a comeback.
func (k *Keeper) ComesAndGoes(at time.Time) bool {
	all, _ := k.now.Outages.Since(answers.FlakyFor, at)
	return len(all) >= answers.Outages
}

// IsThere takes down that the runtime answers such calls again.
func (k *Keeper) IsThere() { k.now.Outages.Away = false }

// ListFailed takes down that lists have begun to fail.
func (k *Keeper) ListFailed(f answers.Failure) {
	k.now.Outages.ListsFailed = keep(k.now.Outages.ListsFailed, f, listsFailedKept)
}

// ListCameBack takes down that a list succeeded after one that had failed.
func (k *Keeper) ListCameBack(at time.Time) { k.now.Outages.ListBack = at }

// Since returns the outages in the window before a moment, and the counts since the first
// of them began.
func (o *Outages) Since(window time.Duration, at time.Time) (all []Outage, since Counts) {
	for i, one := range o.Times {
		if at.Sub(one.At) <= window {
			return o.Times[i:], Counts{Failed: o.Failed - one.Before.Failed, All: o.All - one.Before.All}
		}
	}
	return nil, Counts{}
}

// A Start is the begin of a process of the runtime, by a look at the node.
type Start struct {
	Command string
	PID     int
	At      time.Time
}

// started takes down the runtime's processes that have not been there for long.
func (k *Keeper) started(r *evidence.Report) {
	for _, p := range r.Processes.Runtimes() {
		same := func(s Start) bool { return s.PID == p.PID && s.Command == p.Command }
		if p.Age > 0 && p.Age <= AwayFor && !slices.ContainsFunc(k.now.Starts, same) {
			k.now.Starts = keep(k.now.Starts, Start{p.Command, p.PID, r.At.Add(-p.Age)}, outagesKept)
		}
	}
}

// StartsSince returns the starts since a moment of the program that was started most
// often, oldest first.
func (m *Memory) StartsSince(at time.Time) (most []Start) {
	of := make(map[string][]Start)
	for _, s := range m.Starts {
		if s.At.Before(at) {
			continue
		}
		of[s.Command] = append(of[s.Command], s)
		if len(of[s.Command]) > len(most) {
			most = of[s.Command]
		}
	}
	return most
}

// spellsKept bounds what is remembered: more than fit into the hour that people are told
// of, since a spell cannot begin until a list has been missing for a threshold.
const spellsKept = 32

// A Spell is a time in which PLEG was unhealthy.
type Spell struct{ Began, Ended time.Time } // Ended is zero while it lasts

// Judged takes down that the verdict on PLEG has turned. The time before the first good
// relist is no spell.
func (k *Keeper) Judged(healthy bool, at time.Time) {
	spells := k.now.Spells
	switch last := len(spells) - 1; {
	case !healthy:
		spells = keep(spells, Spell{Began: at}, spellsKept)
	case last >= 0:
		spells = slices.Clone(spells)
		spells[last].Ended = at
	}
	k.now.Spells = spells
}

// SpellsWithin returns the spells that lie in the window before a moment, at least in
// part.
func (m *Memory) SpellsWithin(window time.Duration, at time.Time) []Spell {
	for i, s := range m.Spells {
		if s.Ended.IsZero() || at.Sub(s.Ended) <= window {
			return m.Spells[i:]
		}
	}
	return nil
}
