package replay

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/quantile"
	"github.com/plegtop/plegtop/engine/record"
)

// Measured is what a recording tells of a stretch of time.
type Measured struct {
	Show
	From     time.Time       // when it begins
	Last     diagnose.Update // as it was shown last
	Findings []Held          // those that held in it, in the order in which they were seen first
	Relists  Timing          // those that ended in it
	Calls    []Timing        // those that returned in it, by operation
	Damage   error           // why no more could be played, or what was left out; nil if neither was so
}

// A Held is a finding that held for some time.
type Held struct {
	diagnose.Finding                   // as it was last
	Worst            diagnose.Severity // that it had
	Began, End       time.Time         // when it was shown first and last
}

// A Timing is how long things of one kind took.
type Timing struct {
	Op            call.Operation `line:"-"` // of calls
	Count         uint64         `line:"count"`
	Errors        uint64         `line:"errors"` // that failed, but for objects that had gone
	P50           time.Duration  `line:"p50Seconds"`
	P99           time.Duration  `line:"p99Seconds"`
	Max           time.Duration  `line:"maxSeconds"`
	distributions quantile.Durations
}

func (t *Timing) add(took time.Duration, failed bool) {
	t.Count++
	if failed {
		t.Errors++
	}
	t.distributions.Add(took)
}

func (t *Timing) read() {
	t.P50, _, t.P99 = t.distributions.Quantiles()
	t.Max = t.distributions.Max()
}

// Measure plays a recording from one moment to another, and returns what that tells of some
// namespaces, none for all. From may be zero: then it is the beginning. It fails where ctx ends,
// and where nothing can be played.
func Measure(ctx context.Context, r *record.Recording, from, to time.Time, namespaces []string) (p Measured, err error) {
	player := r.Play(from)
	if !from.IsZero() {
		player = r.Play(from.Add(-warm))
	}
	l := listener{recording: r}
	within := func(at time.Time) bool { return !at.Before(from) && !at.After(to) }
	relists := map[int]uint64{} // by part of the recording
	player.Tap(func(s record.Step) {
		l.step(s)
		now := s.Machine.Standing(s.At)
		if was, known := relists[s.Part]; known && was != now.Relists && within(s.At) {
			p.Relists.add(now.Last.Took, now.Last.Failed)
		}
		relists[s.Part] = now.Relists
	})
	p.From = from
	p.Show, p.Damage = play(ctx, player, func(u diagnose.Update, _ record.Shown) bool {
		switch at := u.Snapshot.At; {
		case at.After(to) && p.Last.Snapshot != nil:
			return false
		case at.Before(from):
			return true
		}
		p.Last = u.Within(namespaces)
		p.hold()
		return true
	})
	if cause := context.Cause(ctx); cause != nil || p.Last.Snapshot == nil {
		return p, cmp.Or(cause, p.Damage, errNothing)
	}
	p.At = p.Last.Snapshot.At.Round(0)
	if p.From.IsZero() {
		p.From = r.Heads()[0].At
	}
	p.count(l.runs, within)
	return p, nil
}

// errNothing says that there is nothing to measure.
var errNothing = errors.New("replay: nothing was shown in that time")

// hold takes down what holds now.
func (p *Measured) hold() {
	at := p.Last.Snapshot.At.Round(0)
	for _, f := range p.Last.Findings {
		i := slices.IndexFunc(p.Findings, func(h Held) bool { return h.ID == f.ID && h.Subject == f.Subject })
		if i < 0 {
			i = len(p.Findings)
			p.Findings = append(p.Findings, Held{Began: at})
		}
		h := &p.Findings[i]
		h.Finding, h.Worst, h.End = f, max(h.Worst, f.Severity), at
	}
}

// count sums up the calls, and the relists.
func (p *Measured) count(runs []*run, within func(time.Time) bool) {
	for _, op := range call.Operations() {
		t := Timing{Op: op}
		for _, r := range runs {
			for of, all := range r.targets {
				for _, c := range all {
					if of.op == op && !c.ended.IsZero() && within(c.ended) {
						t.add(c.ended.Sub(c.Since), c.with.Err != nil && c.with.Err.Kind != call.ErrNotFound)
					}
				}
			}
		}
		if t.read(); t.Count > 0 {
			p.Calls = append(p.Calls, t)
		}
	}
	p.Relists.read()
}
