package replay

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/quantile"
)

// A Spell is a time in which something was wrong.
type Spell struct {
	From  time.Time     `line:"from"`
	For   time.Duration `line:"forSeconds"`
	Lasts bool          `line:"lasts"` // at the end of what was recorded
}

// An Account is what came of the relists of one release of the kubelet.
type Account struct {
	Release     pleg.Release  `line:"kubeletVersion"`
	Unhealthy   []Spell       `line:"unhealthy"` // in which PLEG was
	NotReady    []Spell       `line:"notReady"`  // in which the node was, as posted
	Relists     uint64        `line:"relists"`   // of all pods, that ended
	P50         time.Duration `line:"relistP50Seconds"`
	P99         time.Duration `line:"relistP99Seconds"`
	Longest     time.Duration `line:"relistMaxSeconds"` // with the one under way at the end
	Inspections uint64        `line:"inspections"`      // of pods, in these relists
	Events      uint64        `line:"events"`           // but for those of what was there before
	Lags        uint64        `line:"lags"`             // of these, those of which the runtime says when it happened
	LagP50      time.Duration `line:"lagP50Seconds"`    // from then until the relist told it
	LagP99      time.Duration `line:"lagP99Seconds"`
	Calls       uint64        `line:"calls"`   // to the runtime
	Unknown     uint64        `line:"unknown"` // of these, those whose answer the recording cannot tell: the object was not asked for at about that time, or hung at some time after it
}

// Total returns how long all spells were.
func Total(all []Spell) (d time.Duration) {
	for _, s := range all {
		d += s.For
	}
	return d
}

// A book keeps the account of a machine while it is stepped.
type book struct {
	Account
	unhealthy, notReady time.Time // since when that is so; zero if it is not
	took, lags          quantile.Durations
	last                engine.Standing
	at                  time.Time
	begun               bool // the machine was seen before
}

// begin goes on with another machine, as it stands before its first step.
func (b *book) begin(at time.Time, s engine.Standing) {
	b.end()
	b.begun, b.at, b.last = true, at, s
	b.spells(s)
}

// step takes in a step.
func (b *book) step(at time.Time, w engine.Work, s engine.Standing) {
	b.at = at
	if s.Relists != b.last.Relists {
		b.Relists++
		b.Inspections += uint64(s.Last.Inspected)
		b.took.Add(s.Last.Took)
	}
	b.last = s
	b.spells(s)
	b.Calls += uint64(len(w.Make))
	for _, e := range w.Events {
		if e.AtStart {
			continue
		}
		if b.Events++; e.HasLag {
			b.lags.Add(e.Lag)
		}
	}
}

func (b *book) spells(s engine.Standing) {
	turn(&b.Unhealthy, &b.unhealthy, s.Unhealthy, b.at)
	turn(&b.NotReady, &b.notReady, !s.Ready, b.at)
}

// turn takes down whether something is wrong now.
func turn(all *[]Spell, since *time.Time, wrong bool, at time.Time) {
	switch {
	case wrong && since.IsZero():
		*since = at
	case !wrong && !since.IsZero():
		*all = append(*all, Spell{From: since.Round(0), For: at.Sub(*since)})
		*since = time.Time{}
	}
}

// end closes what is open: nothing more is known of the machine.
func (b *book) end() {
	if !b.begun {
		return
	}
	if b.Release = b.last.Release; !b.last.Began.IsZero() {
		b.Longest = max(b.Longest, b.at.Sub(b.last.Began))
		b.Inspections += uint64(b.last.Inspected)
	}
	for _, open := range []struct {
		all   *[]Spell
		since *time.Time
	}{{&b.Unhealthy, &b.unhealthy}, {&b.NotReady, &b.notReady}} {
		lasts := !open.since.IsZero()
		if turn(open.all, open.since, false, b.at); lasts {
			(*open.all)[len(*open.all)-1].Lasts = true
		}
	}
	b.P50, _, b.P99 = b.took.Quantiles()
	b.Longest = max(b.Longest, b.took.Max())
	b.LagP50, _, b.LagP99 = b.lags.Quantiles()
	b.Lags, b.begun = uint64(b.lags.Count()), false
}
