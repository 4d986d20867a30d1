package lines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/ledger"
)

// BenchOptions say what [Bench] measures, and how it writes that.
type BenchOptions struct {
	CheckOptions // but for NPD and Namespaces

	Periods []time.Duration // between relists
	Sources []ledger.Source // to measure each period with; the relist stands for none beside it
	For     time.Duration   // how long to measure each of both

	// Engine returns a new engine that relists with that period, with those event
	// sources open, and with all others that may be switched on.
	Engine   func(period time.Duration, on ...ledger.Source) (*engine.Engine, error)
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

// Agree asks, if there is a terminal, whether a runtime may be relisted with a period that
// is shorter than its kubelet's, and returns an error if it may not, or nobody is there to
// say so.
func Agree(in io.Reader, out io.Writer, terminal bool, period time.Duration) error {
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
func sourceName(s ledger.Source) string {
	if s == ledger.FromRelist {
		return "none"
	}
	return s.String()
}

// measure runs one engine from its start to its end: its streams are closed then.
func (o *BenchOptions) measure(ctx context.Context, period time.Duration, source ledger.Source, done int) (*measurement, error) {
	m := &measurement{o: o, period: period, source: source, told: map[transition]time.Time{}}
	var on []ledger.Source
	if source != ledger.FromRelist {
		on = append(on, source)
	}
	eng, err := o.Engine(period, on...)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	if o.Stops != nil {
		o.Stops(running, func(ctx context.Context) {
			m.stopped.Store(true)
			eng.HoldStreams(ctx)
		}, eng.ReleaseStreams)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- eng.Run(running)
		stop()
	}()
	err = m.follow(running, eng, func() {
		o.Progress.Line(fmt.Sprintf("bench %d of %d: %v with %s, %s", done+1, len(o.Periods)*len(o.Sources), period, sourceName(source), m.progress()))
	})
	stop()
	return m, errors.Join(err, <-ended)
}
