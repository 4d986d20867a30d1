package engine

import (
	"math"
	"time"
)

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
	ahead, behind    durations // of the relist
	read             Drift     // what was made of it last
	stale            bool      // and is out of date
}

// judge notes what a transition was to a source; a later word takes an earlier one back.
func (g *sightings) judge(t *transition, by Source, v verdict) {
	d := &g.drift[by]
	if was := t.verdicts[by]; was != undecided {
		d.tally[was]--
	}
	d.tally[v]++
	t.verdicts[by] = v
}

// withdraw takes back what was judged of what the first relist finds: it is no transition.
func (g *sightings) withdraw(t *transition) {
	for by := FromRelist + 1; by < sourceCount; by++ {
		if t.verdicts[by] != undecided {
			g.judge(t, by, undecided)
		}
	}
}

// both notes that a source and the relist have seen a transition. How far apart says
// nothing where the source told of the past.
func (g *sightings) both(t *transition, by Source) {
	g.judge(t, by, seenByBoth)
	if t.old[by] {
		return
	}
	d := &g.drift[by]
	d.stale = true
	if lead := t.seen.At[FromRelist].Sub(t.seen.At[by]); lead >= 0 {
		d.ahead.add(lead)
	} else {
		d.behind.add(-lead)
	}
}

// An owed is a transition that the relist has seen, and of which sources are to tell.
type owed struct {
	t     *transition
	after time.Time // the transition was later than that
	by    [sourceCount]bool
}

// due returns when they should have.
func (o owed) due() time.Time { return o.t.seen.At[FromRelist].Add(patience) }

// missing counts what sources have not told in time, of those that were there to see it.
func (g *sightings) missing(m *machine, o owed) {
	for by, owes := range o.by {
		s := m.sources.of(Source(by))
		if owes && o.t.seen.At[by].IsZero() && s.watched(o.after) {
			g.judge(o.t, Source(by), missedBySource)
		}
	}
}

func (g *sightings) fill(m *machine, s *Snapshot) {
	s.Drift, s.UnseenMore = m.drifts(), g.uncounted
}

// drifts returns how far each source that was ever open and the relist agree.
func (m *machine) drifts() []Drift {
	var all []Drift
	for i := range m.sources.all {
		if s := &m.sources.all[i]; s.opened {
			all = append(all, m.sightings.drift[s.stream.Source].sum(s.stream.Source))
		}
	}
	return all
}

func (d *drift) sum(by Source) Drift {
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

// lead returns the lead that a share of all is below, or equal to.
func (d *drift) lead(share float64) time.Duration {
	behind, ahead := d.behind.count(), d.ahead.count()
	rank := max(int64(math.Ceil(share*float64(behind+ahead))), 1)
	if rank <= behind {
		return -d.behind.at(behind - rank + 1)
	}
	return d.ahead.at(rank - behind)
}
