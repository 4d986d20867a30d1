package ledger

import (
	"math"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/quantile"
)

// A Drift is how far an event source and the relist agree. Created and what the first
// relist finds are no transitions.
type Drift struct {
	Source         Source        `line:"source"`
	Transitions    uint64        `line:"transitions"`    // that the relist or this source saw
	Both           uint64        `line:"both"`           // that both saw
	MissedByRelist uint64        `line:"missedByRelist"` // that only this source saw: they were over before a relist came
	MissedBySource uint64        `line:"missedBySource"` // that this source had not told 3 s after the relist
	Duplicates     uint64        `line:"duplicates"`     // that it duplicates
	Late           uint64        `line:"late"`           // that it told after the relist
	LeadP50        time.Duration `line:"leadP50Seconds"` // by which it was ahead of the relist: of those that both saw. Negative where it was late
	LeadP99        time.Duration `line:"leadP99Seconds"` // the lead that 99 of 100 had at least
}

// A Window is what has come together lately; its leads are those of the whole run.
type Window struct {
	Drift
	Unknown, Lost uint64 // events that nobody could make anything of: of ids that no relist had, and that came too fast
	Lasted        time.Duration
}

// A verdict is what became of a transition between one source and the relist.
type verdict uint8

const (
	undecided verdict = iota
	seenByBoth
	missedByRelist
	missedBySource
	verdictCount
)

// A drift is the source of one [Drift].
type drift struct {
	tally            [verdictCount]uint64
	duplicates, late uint64
	unknown, lost    uint64             // events of ids that no relist had; and that came too fast
	ahead, behind    quantile.Durations // of the relist
	read             Drift              // what was made of it last
	stale            bool               // and its leads are out of date
}

// judge notes what a transition was to a source; a later word takes an earlier one back.
func (l *Ledger) judge(t *transition, by Source, v verdict) {
	d := &l.drift[by]
	if was := t.verdicts[by]; was != undecided {
		d.tally[was]--
	}
	d.tally[v]++
	t.verdicts[by] = v
}

// withdraw takes back what was judged of what the first relist finds: it is no transition.
func (l *Ledger) withdraw(t *transition) {
	for by := FromRelist + 1; by < Sources; by++ {
		if t.verdicts[by] != undecided {
			l.judge(t, by, undecided)
		}
	}
}

// both notes that a source and the relist have seen a transition. How far apart says
// nothing where the source told of the past.
func (l *Ledger) both(t *transition, by Source) {
	l.judge(t, by, seenByBoth)
	if t.old[by] {
		return
	}
	d := &l.drift[by]
	d.stale = true
	if lead := t.seen.At[FromRelist].Sub(t.seen.At[by]); lead >= 0 {
		d.ahead.Add(lead)
	} else {
		d.behind.Add(-lead)
	}
}

// An owed is a transition that the relist has seen, and of which sources are to tell.
type owed struct {
	t     *transition
	after time.Time // the transition was later than that
	by    [Sources]bool
}

// due returns when they should have.
func (o owed) due() time.Time { return o.t.seen.At[FromRelist].Add(Patience) }

// missing counts what sources have not told in time, of those that were there to see it.
func (l *Ledger) missing(f *Facts, o owed) {
	for by, owes := range o.by {
		if owes && o.t.seen.At[by].IsZero() && f.watches(Source(by), o.after) {
			l.judge(o.t, Source(by), missedBySource)
		}
	}
}

// Drift returns how far a source and the relist agree.
func (l *Ledger) Drift(by Source) Drift {
	d := &l.drift[by]
	if d.stale {
		d.read.LeadP50, d.read.LeadP99 = d.lead(0.5), d.lead(0.01)
		d.stale = false
	}
	r := &d.read
	r.Source, r.Duplicates, r.Late = by, d.duplicates, d.late
	r.Both, r.MissedByRelist, r.MissedBySource = d.tally[seenByBoth], d.tally[missedByRelist], d.tally[missedBySource]
	r.Transitions = r.Both + r.MissedByRelist + r.MissedBySource
	return *r
}

// Unknown returns how many events of a source were of ids that no relist ever had.
func (l *Ledger) Unknown(by Source) uint64 { return l.drift[by].unknown }

// lead returns the lead that a share of all is below, or equal to.
func (d *drift) lead(share float64) time.Duration {
	behind, ahead := d.behind.Count(), d.ahead.Count()
	rank := max(int64(math.Ceil(share*float64(behind+ahead))), 1)
	if rank <= behind {
		return -d.behind.At(behind - rank + 1)
	}
	return d.ahead.At(rank - behind)
}

// A sample is what had come together at one moment since the start.
type sample struct {
	at time.Time
	of [Sources]Window
}

// Sample notes how things stand now, for whoever asks for a [Window] later.
func (l *Ledger) Sample(now time.Time) {
	if n := len(l.samples); n > 0 && now.Sub(l.samples[n-1].at) < driftStep {
		return
	}
	s := sample{at: now}
	for by := range Sources {
		s.of[by] = l.sum(by)
	}
	l.samples = append(l.samples, s)
	for len(l.samples) > 1 && now.Sub(l.samples[1].at) >= driftWindow {
		l.samples = slices.Delete(l.samples, 0, 1)
	}
}

// Window returns what has come together of a source over the last minutes, as of now.
func (l *Ledger) Window(by Source, now time.Time) Window {
	w := l.sum(by)
	if len(l.samples) == 0 {
		return w
	}
	was := &l.samples[0].of[by]
	w.Lasted = now.Sub(l.samples[0].at)
	for _, n := range []struct{ now, then *uint64 }{
		{&w.Transitions, &was.Transitions}, {&w.Both, &was.Both}, {&w.MissedByRelist, &was.MissedByRelist}, {&w.MissedBySource, &was.MissedBySource},
		{&w.Duplicates, &was.Duplicates}, {&w.Late, &was.Late}, {&w.Unknown, &was.Unknown}, {&w.Lost, &was.Lost},
	} {
		*n.now -= min(*n.now, *n.then)
	}
	return w
}

// sum returns what has come together of a source since the start.
func (l *Ledger) sum(by Source) Window {
	return Window{Drift: l.Drift(by), Unknown: l.drift[by].unknown, Lost: l.drift[by].lost}
}
