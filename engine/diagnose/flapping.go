package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/past"
)

const (
	// flapsLeast is how many unhealthy periods make a flap: one is an incident.
	flapsLeast = 2
	// flapWindow is how far back periods count, in thresholds: an hour with the
	// kubelet's 3 min, since one cannot begin until a list has been missing for one
	// threshold.
	flapWindow = 20
)

// flaps returns the periods in which PLEG was unhealthy; nil unless there were several of late.
func (v *view) flaps() []past.Spell {
	if spells := v.Memory.SpellsWithin(flapWindow*v.Threshold, v.At); len(spells) >= flapsLeast {
		return spells
	}
	return nil
}

// flappingFinding is about a PLEG that was unhealthy several times, and is not now.
func (v *view) flappingFinding(spells []past.Spell) Finding {
	return Finding{
		ID: PLEGUnhealthy, Severity: Warning, Since: spells[0].Began, Summary: v.flapped(spells), Brief: "pleg flapping",
		Next: []Step{spoken("pleg.flapped")},
	}
}

// flapped says how often PLEG was unhealthy, in how long, and what it is now.
func (v *view) flapped(spells []past.Spell) string {
	word := "unhealthy"
	if v.Health.Healthy {
		word = "healthy"
	}
	return fmt.Sprintf("unhealthy %s in %s, at present %s", count(len(spells), "time"), going(v.At.Sub(spells[0].Began)), word)
}

// sayFlaps adds to a finding when PLEG was unhealthy, and what shows why.
func (v *view) sayFlaps(f *Finding, spells []past.Spell) {
	var lengths []string
	for _, s := range spells {
		lengths = append(lengths, spellText(s, v.At))
	}
	if said := v.flapped(spells); said != f.Summary {
		f.say(said)
	}
	f.say(fmt.Sprintf("threshold %s, list age %s", span(v.Threshold), going(v.Health.ListAge(v.At))), "unhealthy from "+join(lengths))
	for _, logs := range v.advise("pleg.flaps", nil) {
		if !slices.ContainsFunc(f.Next, logs.Same) {
			f.Next = slices.Insert(f.Next, 0, logs)
		}
	}
}

// spellText says when a spell began and how long it lasted, so far as of at.
func spellText(s past.Spell, at time.Time) string {
	if s.Ended.IsZero() {
		return fmt.Sprintf("%s (%s so far)", clock(s.Began, at), going(at.Sub(s.Began)))
	}
	return fmt.Sprintf("%s (%s)", clock(s.Began, at), span(s.Ended.Sub(s.Began)))
}
