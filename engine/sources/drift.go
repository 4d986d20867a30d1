package sources

import (
	"math"
	"time"
)

// A Drift says how far an event source and the relist agree. Created, and the findings of the
// first relist, are no transitions.
type Drift struct {
	Source         Source        `line:"source"`
	Transitions    uint64        `line:"transitions"`    // that the relist or this source saw
	Both           uint64        `line:"both"`           // that both saw
	MissedByRelist uint64        `line:"missedByRelist"` // that only this source saw: they were over before a relist came
	MissedBySource uint64        `line:"missedBySource"` // that this source had not reported 3 s after the relist
	Duplicates     uint64        `line:"duplicates"`     // that it reported twice
	Late           uint64        `line:"late"`           // that it reported after the relist
	LeadP50        time.Duration `line:"leadP50Seconds"` // the median lead over the relist, where both saw it; negative if the source was late
	LeadP99        time.Duration `line:"leadP99Seconds"` // the lead that 99 of 100 had at least
}

// both counts a step that the source and the relist have seen, and the lead. The times are of
// our clock: the clock of a source decides nothing here.
func (w *Watch) both(t *Step) {
	w.Sum.Both++
	if lead, _ := t.Seen.Lead(w.Config.Source); lead >= 0 {
		w.Ahead.Add(lead)
	} else {
		w.Behind.Add(-lead)
	}
}

// missedByRelist counts a step that the source alone has seen.
func (w *Watch) missedByRelist(x *Entry) {
	if !x.Foreign {
		w.Sum.MissedByRelist++
	}
	if !x.Listed {
		w.State.Unknown++
	}
}

// lead returns the lead that the given share of all leads does not exceed.
func (w *Watch) lead(share float64) time.Duration {
	behind, ahead := w.Behind.Count(), w.Ahead.Count()
	rank := max(int64(math.Ceil(share*float64(behind+ahead))), 1)
	if rank <= behind {
		return -w.Behind.At(behind - rank + 1)
	}
	return w.Ahead.At(rank - behind)
}

// Drifts compares the relist with each source that was ever open.
func (o *Observer) Drifts() (all []Drift) {
	for i := range o.Watches {
		w := &o.Watches[i]
		if w.OpenedAt.IsZero() {
			continue
		}
		d := w.Sum
		d.Source, d.Transitions = w.Config.Source, d.Both+d.MissedByRelist+d.MissedBySource
		d.LeadP50, d.LeadP99 = w.lead(0.5), w.lead(0.01)
		all = append(all, d)
	}
	return all
}
