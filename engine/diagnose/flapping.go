package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
)

const (
	// flapSpells is how many unhealthy spells make a flap: one is an incident.
	flapSpells = 2
	// flapWindow is how far back spells count, in thresholds: an hour with the
	// kubelet's 3 min, since a spell cannot begin until a list has been missing
	// for one threshold.
	flapWindow = 20
	// spellsKept bounds what is remembered.
	spellsKept = 32
)

// plegFlapping tells that PLEG is unhealthy and healthy in turn. It is critical
// while PLEG is unhealthy, and a warning between the spells.
func plegFlapping(in Input) []Finding {
	s := in.Snapshot
	spells := in.past().flaps.within(flapWindow*s.Threshold, s.At)
	if len(spells) < flapSpells {
		return nil
	}
	f := Finding{
		ID:       PLEGFlapping,
		Severity: Warning,
		Summary:  fmt.Sprintf("unhealthy %s in %s, at present %s", count(len(spells), "time"), going(s.At.Sub(spells[0].began)), word(s.Health.Healthy)),
		Evidence: []string{
			fmt.Sprintf("threshold %s, list age %s; %s since %s", span(s.Threshold), going(s.Health.ListAge(s.At)), word(s.Health.Healthy), clock(s.Health.Since)),
		},
		Next: []Step{{Text: "the finding that explains the spells: look at the calls while one lasts"}},
	}
	if !s.Health.Healthy {
		f.Severity = Critical
	}
	var lengths []string
	for _, spell := range spells {
		lengths = append(lengths, spell.String(s.At))
	}
	f.Evidence = append(f.Evidence, "unhealthy from "+strings.Join(lengths, ", "))
	if !s.Health.Healthy {
		f.Evidence = append(f.Evidence, s.Health.Verdict)
	}
	return []Finding{f}
}

func word(healthy bool) string {
	if healthy {
		return "healthy"
	}
	return "unhealthy"
}

// A spell is a time in which PLEG was unhealthy.
type spell struct {
	began, ended time.Time // ended is zero while it lasts
	missed       bool      // it fell between two snapshots: began is when it was noticed
}

func (s spell) String(at time.Time) string {
	switch {
	case s.missed:
		return fmt.Sprintf("before %s (for a moment)", clock(s.began))
	case s.ended.IsZero():
		return fmt.Sprintf("%s (%s so far)", clock(s.began), going(at.Sub(s.began)))
	}
	return fmt.Sprintf("%s (%s)", clock(s.began), span(s.ended.Sub(s.began)))
}

// flaps follows the verdict. The time before the first good relist is none of
// its spells.
type flaps struct {
	flips  int
	spells []spell // oldest first
}

func (f *flaps) add(u engine.Update) {
	h := u.Snapshot.Health
	grown := h.Flips - f.flips
	f.flips = h.Flips
	if grown < 0 { // another engine
		f.spells = nil
	}
	if grown <= 0 {
		return
	}
	begun := (grown + 1) / 2
	if last := len(f.spells) - 1; last >= 0 && f.spells[last].ended.IsZero() {
		f.spells[last].ended = h.Since
		begun = grown / 2
	}
	if !h.Healthy {
		begun--
	}
	for range min(begun, spellsKept) {
		f.keep(spell{began: h.Since, ended: h.Since, missed: true})
	}
	if !h.Healthy {
		f.keep(spell{began: h.Since})
	}
}

func (f *flaps) keep(s spell) {
	if len(f.spells) == spellsKept {
		f.spells = slices.Delete(f.spells, 0, 1)
	}
	f.spells = append(f.spells, s)
}

// within returns the spells that lie in the window before a moment, at least in
// part.
func (f *flaps) within(window time.Duration, at time.Time) []spell {
	for i, s := range f.spells {
		if s.ended.IsZero() || at.Sub(s.ended) <= window {
			return f.spells[i:]
		}
	}
	return nil
}
