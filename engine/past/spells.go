package past

import (
	"slices"
	"time"
)

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
