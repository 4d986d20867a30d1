package lines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/ui/text"
)

// Bench writes to w what bench tells of a node, as far as the recording does from its moment on: a
// row for the relists, and one for each source that was open, anew where plegtop was started again
// or the period changed. It returns [ExitOK], [ExitWarning] with an error where the recording is
// damaged, and [ExitCannotTell] with one.
func (r *Recorded) Bench(ctx context.Context, w io.Writer, o CheckOptions) (code int, err error) {
	head := r.recording.Heads()[0]
	o.Source, o.Node, o.Endpoint = "replay", head.Node, head.Endpoint
	from := r.first
	if !r.at.IsZero() {
		from = r.at
	}
	var all []*stretch
	player := r.recording.Play(r.at)
	defer player.Close()
	for next := player.Feed(); next != nil && err == nil; next = next.Rest() {
		all, err = r.stretches(ctx, all, next)
	}
	last := r.first
	result := benchResult{o: BenchOptions{CheckOptions: o}, at: from, cut: err != nil}
	for _, s := range all {
		last = s.last.At
		result.rows = append(result.rows, s.finish(len(all) > 1)...)
	}
	if cause := context.Cause(ctx); cause != nil || len(result.rows) == 0 {
		return ExitCannotTell, fmt.Errorf("bench: %w", cmp.Or(cause, err, errors.New("no list of all pods is recorded in that time")))
	}
	result.o.For = last.Sub(from)
	result.recorded = recordedFor(from, last, head.Node)
	if err := writeLast(ctx, w, result.written()); err != nil {
		return ExitCannotTell, fmt.Errorf("write the bench: %w", err)
	}
	if err != nil {
		return ExitWarning, readable(last, err)
	}
	return ExitOK, nil
}

// stretches reads a run of the recording, and returns the stretches before it and those of it.
func (r *Recorded) stretches(ctx context.Context, all []*stretch, feed *record.Feed) ([]*stretch, error) {
	for now := (*stretch)(nil); ; {
		u, err := feed.Next(ctx)
		switch {
		case errors.Is(err, engine.ErrStopped):
			return all, nil
		case err != nil:
			return all, err
		case u.Snapshot.At.Before(r.at):
			continue
		case now == nil || now.last.Period != u.Snapshot.Period:
			now = newStretch(u.Snapshot.Period)
			all = append(all, now)
		}
		now.take(ctx, u)
	}
}

// A stretch is a time of a recording in which the period was the same: a measurement for each
// source there is.
type stretch struct {
	rows  []*measurement
	last  *engine.Snapshot
	looks int // at the node, and what they add up to
	spent struct{ plegtop, runtime float64 }
}

func newStretch(period time.Duration) *stretch {
	s := new(stretch)
	for source := range ledger.Sources {
		o := &BenchOptions{For: math.MaxInt64}
		s.rows = append(s.rows, &measurement{o: o, period: period, source: source, told: map[transition]time.Time{}})
	}
	return s
}

// take takes in an update: a source is measured from when it is open.
func (s *stretch) take(ctx context.Context, u engine.Update) {
	if e := u.Snapshot.Evidence; e != nil && (s.last == nil || e != s.last.Evidence) {
		s.look(e)
	}
	s.last = u.Snapshot
	for _, m := range s.rows {
		m.why = "" // what is not open may be so later
		m.take(ctx, u)
	}
	s.rows[ledger.FromRelist].hear(s.opened())
}

func (s *stretch) opened() (all []ledger.Source) {
	for _, of := range s.last.Sources {
		all = append(all, of.Source)
	}
	return all
}

func (s *stretch) look(r *evidence.Report) {
	plegtop := slices.IndexFunc(r.Usage, func(u evidence.Usage) bool { return u.Name == "plegtop" })
	runtime := coresOfRuntime(r)
	if plegtop < 0 || r.Usage[plegtop].CPU < 0 || runtime < 0 {
		return
	}
	s.looks++
	s.spent.plegtop, s.spent.runtime = s.spent.plegtop+float64(r.Usage[plegtop].CPU), s.spent.runtime+runtime
}

// finish returns what was measured. Costs are what the looks at the node say.
func (s *stretch) finish(several bool) (rows []*measurement) {
	for _, m := range s.rows {
		if m.start.at.IsZero() {
			continue
		}
		m.finish(context.Background())
		m.start.real, m.paid.real = m.start.at, m.paid.at
		m.start.cpu, m.paid.cpu, m.runtime = 0, -1, -1
		if took := m.elapsed(); s.looks > 0 {
			m.paid.cpu = time.Duration(s.spent.plegtop / float64(s.looks) * float64(took))
			m.runtime = s.spent.runtime / float64(s.looks)
		}
		if several {
			m.when = "from " + m.start.at.Local().Format(time.TimeOnly) + " for " + text.Age(m.elapsed())
		}
		rows = append(rows, m)
	}
	return rows
}
