package sources

import (
	"math"
	"slices"
	"time"
)

const (
	// windowOf is how far back a window looks. It is exact to sampleEvery.
	windowOf    = 5 * time.Minute
	sampleEvery = windowOf / 30
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

// A Window has the counts of the last five minutes. Its leads are of the whole run.
type Window struct {
	Drift
	Unknown, Lost uint64 // events of ids that no relist had, and events that came too fast
	Lasted        time.Duration
}

// A Sample has the counts of a source from the start up to one moment.
type Sample struct {
	At time.Time
	Window
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

// sum returns the counts of a source since the start, without the leads.
func (w *Watch) sum() Window {
	d := w.Sum
	d.Source, d.Transitions = w.Config.Source, d.Both+d.MissedByRelist+d.MissedBySource
	return Window{Drift: d, Unknown: w.State.Unknown, Lost: w.State.Lost}
}

// sample keeps the present counts for the windows of the next minutes.
func (w *Watch) sample(at time.Time) {
	w.Samples = append(w.Samples, Sample{at, w.sum()})
	for len(w.Samples) > 1 && at.Sub(w.Samples[1].At) >= windowOf {
		w.Samples = slices.Delete(w.Samples, 0, 1)
	}
}

// Drifts compares the relist with each source that was ever open, over the whole run and over
// the last five minutes.
func (o *Observer) Drifts(at time.Time) (all []Drift, lately []Window) {
	for i := range o.Watches {
		w := &o.Watches[i]
		if w.OpenedAt.IsZero() {
			continue
		}
		sum := w.sum()
		sum.LeadP50, sum.LeadP99 = w.lead(0.5), w.lead(0.01)
		all = append(all, sum.Drift)
		if len(w.Samples) > 0 {
			sum.since(&w.Samples[0])
			sum.Lasted = at.Sub(w.Samples[0].At)
		}
		lately = append(lately, sum)
	}
	return all, lately
}

// since subtracts the counts of an earlier moment. MissedByRelist may have become smaller: the
// relist saw such a step later.
func (w *Window) since(then *Sample) {
	w.Both -= then.Both
	w.MissedByRelist -= min(w.MissedByRelist, then.MissedByRelist)
	w.MissedBySource -= then.MissedBySource
	w.Transitions = w.Both + w.MissedByRelist + w.MissedBySource
	w.Duplicates -= then.Duplicates
	w.Late -= then.Late
	w.Unknown -= then.Unknown
	w.Lost -= then.Lost
}
