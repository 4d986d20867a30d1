package lines

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/text"
)

// BenchOptions say what [Bench] measures, and how it writes that.
type BenchOptions struct {
	CheckOptions // but for NPD and Namespaces

	Periods []time.Duration  // between relists
	Sources []sources.Source // to measure each period with; the relist stands for none beside it
	For     time.Duration    // how long to measure each of both

	// Engine returns a new engine that relists with that period, with those event
	// sources open, and with all others that may be switched on.
	Engine   func(period time.Duration, on ...sources.Source) (*engine.Engine, error)
	Look     engine.Look // at what the runtime takes; nil where its process cannot be told from ours
	Progress *Progress   // one line, while it runs

	// Stops has a process that is to stop for a while call hold before, and release when it
	// goes on, until ctx ends; nil if it is never to stop.
	Stops func(ctx context.Context, hold func(context.Context), release func())
}

// Bench measures each period with each source, one after the other, never two at a time,
// and writes what came of it to w in a single write. It returns [ExitOK], or [ExitWarning]
// if a part could not be measured; [ExitCannotTell] with an error. When ctx ends it
// writes what was measured so far, and says so; a write that is stuck then is left behind
// after a second.
func Bench(ctx context.Context, w io.Writer, o BenchOptions) (code int, err error) {
	result := benchResult{o: o, at: time.Now()}
	for _, period := range o.Periods {
		for _, source := range o.Sources {
			if ctx.Err() != nil {
				break
			}
			m, err := o.measure(ctx, period, source, len(result.rows))
			if err != nil {
				o.Progress.Clear()
				return ExitCannotTell, fmt.Errorf("bench: period %v with %s: %w", period, sourceName(source), err)
			}
			result.rows = append(result.rows, m)
		}
	}
	o.Progress.Clear()
	result.cut = ctx.Err() != nil
	if err := writeLast(ctx, w, result.written()); err != nil {
		return ExitCannotTell, fmt.Errorf("write the bench: %w", err)
	}
	if result.cut || slices.ContainsFunc(result.rows, func(m *measurement) bool { return m.why != "" }) {
		return ExitWarning, nil
	}
	return ExitOK, nil
}

// Agree asks, if there is a terminal, whether a runtime may be relisted with periods that may be
// shorter than its kubelet's, and returns an error if it may not, or nobody is there to say so.
func Agree(in io.Reader, out io.Writer, terminal bool, periods ...time.Duration) error {
	period := slices.Min(periods)
	switch {
	case period >= time.Second:
		return nil
	case !terminal:
		return fmt.Errorf("bench: relists every %v are more than the kubelet's own, and there is no terminal to ask on: add --yes, or leave periods below 1s out of --periods", period)
	}
	fmt.Fprintf(out, "This relists the node's runtime every %v; its kubelet does so every second. Go on? [y/N] ", period)
	answer, _ := bufio.NewReader(io.LimitReader(in, 64)).ReadString('\n') // the end of the input is a no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return nil
	}
	return errors.New("bench: not begun")
}

// sourceName returns what --sources calls a source.
func sourceName(s sources.Source) string {
	if s == sources.FromRelist {
		return "none"
	}
	return s.String()
}

// measure runs one engine from its start to its end: its streams are closed then.
func (o *BenchOptions) measure(ctx context.Context, period time.Duration, source sources.Source, done int) (*measurement, error) {
	m := &measurement{o: o, period: period, source: source, told: map[transition]time.Time{}}
	var on []sources.Source
	if source != sources.FromRelist {
		on = append(on, source)
	}
	eng, err := o.Engine(period, on...)
	if err != nil {
		return nil, err
	}
	return m, guard.Beside(ctx, eng.Run, func(ctx context.Context) error {
		if o.Stops != nil {
			o.Stops(ctx, func(ctx context.Context) {
				m.stopped.Store(true)
				eng.HoldStreams(ctx)
			}, eng.ReleaseStreams)
		}
		return m.follow(ctx, eng, func() {
			o.Progress.Line(fmt.Sprintf("bench %d of %d: %v with %s, %s", done+1, len(o.Periods)*len(o.Sources), period, sourceName(source), m.progress()))
		})
	})
}

// Bench writes to w what bench tells of a node, as far as the recording does from its moment on: a
// row for the relists, and one for each source that was open, anew where plegtop was started again
// or the period changed. It returns [ExitOK], also with an error where the recording ends in the
// middle, [ExitWarning] with one where it is damaged, and [ExitCannotTell] with one.
func (r *Recorded) Bench(ctx context.Context, w io.Writer, o CheckOptions) (code int, err error) {
	head, err := r.recording.Head()
	if err != nil {
		return ExitCannotTell, err
	}
	o.Source, o.Node, o.Endpoint = "replay", head.Node, head.Endpoint
	from := cmp.Or(r.at, r.first)
	player := r.recording.Play(r.at)
	defer player.Close()
	all, err := r.stretches(ctx, player)
	last := r.first
	damaged := err != nil && !errors.Is(err, record.ErrCut)
	result := benchResult{o: BenchOptions{CheckOptions: o}, at: from, cut: damaged}
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
	if damaged {
		return ExitWarning, readable(last, err)
	}
	return ExitOK, readable(last, err)
}

// stretches reads the recording, and returns its stretches.
func (r *Recorded) stretches(ctx context.Context, player *record.Player) (all []*stretch, err error) {
	for now := (*stretch)(nil); ; {
		u, err := played{player}.Next(ctx)
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
	for source := range sources.Sources {
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
	s.rows[sources.FromRelist].hear(s.opened())
}

func (s *stretch) opened() (all []sources.Source) {
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
