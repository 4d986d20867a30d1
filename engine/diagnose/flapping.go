package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/past"
)

// PLEGFlapping is a PLEG that becomes unhealthy again and again.
const PLEGFlapping ID = "pleg-flapping"

var plegFlappingKind = &kind{
	id: PLEGFlapping, find: plegFlapping,
	needs: unpaused, because: silences | garbles | delays | unhealthy,
	words: []nodeWord{(*view).kernelSaid, (*view).runtimeUnits}, kernel: ofDisk, killed: runtimeKilled,
	severity: "warning", scenario: "`flapping`",
	when: "unhealthy twice or more within twenty thresholds; critical while it is",
}

const (
	// flapsLeast is how many unhealthy periods make a flap: one is an incident.
	flapsLeast = 2
	// flapWindow is how far back periods count, in thresholds: an hour with the
	// kubelet's 3 min, since one cannot begin until a list has been missing for one
	// threshold.
	flapWindow = 20
)

// plegFlapping tells that PLEG is unhealthy and healthy in turn. It is critical
// while PLEG is unhealthy, and a warning between the periods.
func plegFlapping(v *view) []Finding {
	spells := v.Memory.SpellsWithin(flapWindow*v.Threshold, v.At)
	if len(spells) < flapsLeast {
		return nil
	}
	word := "unhealthy"
	if v.Health.Healthy {
		word = "healthy"
	}
	var lengths []string
	for _, s := range spells {
		lengths = append(lengths, spellText(s, v.At))
	}
	f := Finding{
		ID: PLEGFlapping, Severity: Warning, Since: spells[0].Began,
		Summary: fmt.Sprintf("unhealthy %s in %s, at present %s", count(len(spells), "time"), going(v.At.Sub(spells[0].Began)), word),
		Evidence: []string{
			fmt.Sprintf("threshold %s, list age %s; %s since %s", span(v.Threshold), going(v.Health.ListAge(v.At)), word, v.clock(v.Health.Since)),
			"unhealthy from " + join(lengths),
		},
		Next: []Step{
			v.logStep("what the runtime said in these times"),
			inWords("wait for the next time: what hangs then is a finding of its own, with what ends it"),
		},
	}
	if !v.Health.Healthy {
		f.Severity = Critical
		f.say(Rounded(v.Health.Verdict))
	}
	return []Finding{f}
}

// spellText says when a spell began and how long it lasted, so far as of at.
func spellText(s past.Spell, at time.Time) string {
	if s.Ended.IsZero() {
		return fmt.Sprintf("%s (%s so far)", clock(s.Began, at), going(at.Sub(s.Began)))
	}
	return fmt.Sprintf("%s (%s)", clock(s.Began, at), span(s.Ended.Sub(s.Began)))
}
