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
	// outagesKept is how many outages are remembered: one for each look at the node in that time.
	outagesKept = 120
	// listsFailedKept is how many times at which lists began to fail are remembered. If there were so many
	// within a minute, the lists are unsteady, and more need not be known.
	listsFailedKept = answers.Outages
)

// Outages are the last times at which the runtime went away. Only calls about no object count: for an object,
// it may be the shim that is away.
type Outages struct {
	Counts             // as of now
	Away     bool      // it has gone, and is not back yet
	Times    []Outage  // oldest first
	ListBack time.Time // when a list last succeeded after one that had failed

	ListsFailed []answers.Failure // the last times at which lists began to fail, oldest first
}

// Counts says how many calls about the whole runtime have failed at once, and how many calls there were.
type Counts struct{ Failed, All uint64 }

// An Outage is the moment at which calls began to find no runtime.
type Outage struct {
	At     time.Time
	Before Counts
}

// Counted notes how many calls there were so far.
func (k *Keeper) Counted(c Counts) { k.now.Outages.Counts = c }

// WentAway notes that a call about the whole runtime has failed at once, unless the runtime was already away.
func (k *Keeper) WentAway(at time.Time, before Counts) {
	if out := &k.now.Outages; !out.Away {
		out.Away, out.Times = true, keep(out.Times, Outage{at, before}, outagesKept)
	}
}

// ComesAndGoes reports whether the runtime has gone away so often lately that none of its answers counts as a
// comeback.
func (k *Keeper) ComesAndGoes(at time.Time) bool {
	all, _ := k.now.Outages.Since(answers.FlakyFor, at)
	return len(all) >= answers.Outages
}

// IsThere notes that the runtime answers calls about the whole runtime again.
func (k *Keeper) IsThere() { k.now.Outages.Away = false }

// ListFailed notes that lists have begun to fail.
func (k *Keeper) ListFailed(f answers.Failure) {
	k.now.Outages.ListsFailed = keep(k.now.Outages.ListsFailed, f, listsFailedKept)
}

// ListCameBack notes that a list succeeded after one that had failed.
func (k *Keeper) ListCameBack(at time.Time) { k.now.Outages.ListBack = at }

// Since returns the outages in the window before a moment, and how many calls there were since the first of
// these outages began.
func (o *Outages) Since(window time.Duration, at time.Time) (all []Outage, since Counts) {
	for i, one := range o.Times {
		if at.Sub(one.At) <= window {
			return o.Times[i:], Counts{Failed: o.Failed - one.Before.Failed, All: o.All - one.Before.All}
		}
	}
	return nil, Counts{}
}

// A Start is the start of a process of the runtime, as a look at the node saw it.
type Start struct {
	Command string
	PID     int
	At      time.Time
}

// started notes the processes of the runtime that have started lately.
func (k *Keeper) started(r *evidence.Report) {
	for _, p := range r.Processes.Runtimes() {
		same := func(s Start) bool { return s.PID == p.PID && s.Command == p.Command }
		if p.Age > 0 && p.Age <= AwayFor && !slices.ContainsFunc(k.now.Starts, same) {
			k.now.Starts = keep(k.now.Starts, Start{p.Command, p.PID, r.At.Add(-p.Age)}, outagesKept)
		}
	}
}

// StartsSince returns the starts since a moment, oldest first, of the program that was started most often.
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

// spellsKept is how many spells are remembered. That is more than fit into the hour that is shown to people,
// since a spell cannot begin until a list has been missing for a threshold.
const spellsKept = 32

// A Spell is a time in which PLEG was unhealthy.
type Spell struct{ Began, Ended time.Time } // Ended is zero while it lasts

// Judged notes that the verdict on PLEG has changed. The time before the first good relist is no spell.
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

// SpellsWithin returns the spells that are at least partly in the window before a moment.
func (m *Memory) SpellsWithin(window time.Duration, at time.Time) []Spell {
	for i, s := range m.Spells {
		if s.Ended.IsZero() || at.Sub(s.Ended) <= window {
			return m.Spells[i:]
		}
	}
	return nil
}
