package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
)

// PLEGFlapping is a PLEG that becomes unhealthy again and again.
const PLEGFlapping ID = "pleg-flapping"

var plegFlappingKind = &kind{
	id: PLEGFlapping, find: plegFlapping,
	needs: answers, because: silences | garbles | delays | unhealthy,
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
	// periodsKept bounds what is remembered.
	periodsKept = 32
)

// plegFlapping tells that PLEG is unhealthy and healthy in turn. It is critical
// while PLEG is unhealthy, and a warning between the periods.
func plegFlapping(v *view) []Finding {
	periods := v.past.verdicts.within(flapWindow*v.Threshold, v.At)
	if len(periods) < flapsLeast {
		return nil
	}
	word := "unhealthy"
	if v.Health.Healthy {
		word = "healthy"
	}
	var lengths []string
	for _, p := range periods {
		lengths = append(lengths, p.String(v.At))
	}
	f := Finding{
		ID: PLEGFlapping, Severity: Warning, Since: periods[0].began,
		Summary: fmt.Sprintf("unhealthy %s in %s, at present %s", count(len(periods), "time"), going(v.At.Sub(periods[0].began)), word),
		Evidence: []string{
			fmt.Sprintf("threshold %s, list age %s; %s since %s", span(v.Threshold), going(v.Health.ListAge(v.At)), word, v.clock(v.Health.Since)),
			"unhealthy from " + join(lengths),
		},
		Next: []Step{{Text: "the finding that explains these times: look at the calls while one lasts"}},
	}
	if !v.Health.Healthy {
		f.Severity = Critical
		f.say(Rounded(v.Health.Verdict))
	}
	return []Finding{f}
}

// An unhealthyPeriod is a time in which PLEG was unhealthy.
type unhealthyPeriod struct {
	began, ended time.Time // ended is zero while it lasts
	missed       bool      // it fell between two snapshots: began is when it was noticed
}

// String says when it began and how long it lasted, so far as of at.
func (p unhealthyPeriod) String(at time.Time) string {
	switch {
	case p.missed:
		return fmt.Sprintf("before %s (for a moment)", clock(p.began, at))
	case p.ended.IsZero():
		return fmt.Sprintf("%s (%s so far)", clock(p.began, at), going(at.Sub(p.began)))
	}
	return fmt.Sprintf("%s (%s)", clock(p.began, at), span(p.ended.Sub(p.began)))
}

// verdicts follows the verdict. The time before the first good relist is none of
// its unhealthy periods.
type verdicts struct {
	flips   int
	periods []unhealthyPeriod // oldest first, at most periodsKept
}

func (d *verdicts) add(u engine.Update) {
	h := u.Snapshot.Health
	grown := h.Flips - d.flips
	d.flips = h.Flips
	if grown < 0 { // another engine
		d.periods = nil
	}
	if grown <= 0 {
		return
	}
	begun := (grown + 1) / 2
	if last := len(d.periods) - 1; last >= 0 && d.periods[last].ended.IsZero() {
		d.periods[last].ended = h.Since
		begun = grown / 2
	}
	if !h.Healthy {
		begun--
	}
	for range min(begun, periodsKept) {
		d.periods = keep(d.periods, unhealthyPeriod{began: h.Since, ended: h.Since, missed: true}, periodsKept)
	}
	if !h.Healthy {
		d.periods = keep(d.periods, unhealthyPeriod{began: h.Since}, periodsKept)
	}
}

// within returns the periods that lie in the window before a moment, at least in
// part.
func (d *verdicts) within(window time.Duration, at time.Time) []unhealthyPeriod {
	for i, p := range d.periods {
		if p.ended.IsZero() || at.Sub(p.ended) <= window {
			return d.periods[i:]
		}
	}
	return nil
}
