package diagnose

import (
	"slices"
	"time"
)

const (
	// settling is how long a finding must be gone, or milder, before it is told so:
	// what comes and goes from one relist to the next is one finding, not many.
	settling = 5 * time.Second
	// endedShown is how long an ended finding is remembered, and endedMost how
	// many are.
	endedShown = 30 * time.Minute
	endedMost  = 100
)

// A TurnKind is what happened to a finding.
type TurnKind uint8

// The turns of a finding.
const (
	Began   TurnKind = iota
	Changed          // in severity
	Over
)

// String returns the word of the JSON contract.
func (k TurnKind) String() string { return [...]string{"began", "changed", "ended"}[min(k, Over)] }

// A Turn is what happened to a finding.
type Turn struct {
	Kind    TurnKind
	Finding Finding       // as it is now, or was last
	Was     Severity      // before it changed
	Lasted  time.Duration // from its beginning to when it was last seen
}

// An Ended is a finding that holds no more.
type Ended struct {
	Finding    // as it was last
	Began, End time.Time
	Worst      Severity
}

// A Key tells findings apart: figures in their texts change all the time.
type Key struct {
	ID      ID
	Subject Subject
}

// Key returns what tells a finding from all others that hold at the same time.
func (f Finding) Key() Key { return Key{f.ID, f.Subject} }

// A tracked finding is one whose beginning was told and whose end was not.
type tracked struct {
	finding Finding // as it was last seen
	told    Severity
	worst   Severity
	began   time.Time
	seen    time.Time
	held    time.Time // when it was last as bad as what was told
	gone    time.Time // since when it is not there; zero while it is
}

// A tracker turns the findings of one moment after the other into turns.
// Something that gets worse is told at once, something that gets better when it
// has stayed so. The zero value has told nothing.
type tracker struct {
	known []*tracked // in the order of their beginnings
	past  []Ended    // the newest last
}

// track returns the turns since the last call, as of at.
func (t *tracker) track(at time.Time, now []Finding) []Turn {
	var turns []Turn
	for _, f := range now {
		turns = append(turns, t.see(at, f)...)
	}
	t.known = slices.DeleteFunc(t.known, func(k *tracked) bool {
		if !k.over(at) {
			return false
		}
		t.past = append(t.past[max(0, len(t.past)-endedMost+1):], Ended{k.finding, k.began, k.seen, k.worst})
		turns = append(turns, Turn{Kind: Over, Finding: k.finding, Lasted: k.seen.Sub(k.began)})
		return true
	})
	return turns
}

// over reports whether k has been gone for long enough, as of at.
func (k *tracked) over(at time.Time) bool {
	switch {
	case k.seen.Equal(at):
		k.gone = time.Time{}
		return false
	case k.gone.IsZero():
		k.gone = at
	}
	return at.Sub(k.gone) >= settling
}

// see takes in that f is there, and returns what to say about it.
func (t *tracker) see(at time.Time, f Finding) []Turn {
	i := slices.IndexFunc(t.known, func(k *tracked) bool { return k.finding.Key() == f.Key() })
	if i < 0 {
		t.known = append(t.known, &tracked{finding: f, told: f.Severity, worst: f.Severity, began: at, seen: at, held: at})
		return []Turn{{Kind: Began, Finding: f}}
	}
	k := t.known[i]
	k.finding, k.seen, k.worst = f, at, max(k.worst, f.Severity)
	if f.Severity == k.told {
		k.held = at
	}
	if f.Severity > k.told || f.Severity < k.told && at.Sub(k.held) >= settling {
		was := k.told
		k.told, k.held = f.Severity, at
		return []Turn{{Kind: Changed, Finding: f, Was: was, Lasted: at.Sub(k.began)}}
	}
	return nil
}

// ended returns what ended lately, the newest first.
func (t *tracker) ended(at time.Time) []Ended {
	t.past = slices.DeleteFunc(t.past, func(e Ended) bool { return at.Sub(e.End) > endedShown })
	ended := slices.Clone(t.past)
	slices.Reverse(ended)
	return ended
}
