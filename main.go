// Command plegtop is top for the kubelet's PLEG: it shows which call on which
// container hangs.
//
// It wires a source (the node's runtime, or the embedded one) to the relist
// engine and that to a view, and chooses the exit status. docs/flags.md has the
// flags, docs/architecture.md the packages.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/host"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui"
	"github.com/plegtop/plegtop/ui/lines"
	"github.com/plegtop/plegtop/ui/metrics"
	"github.com/plegtop/plegtop/ui/options"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/recording"
	"github.com/plegtop/plegtop/ui/rewind"
	"github.com/plegtop/plegtop/ui/source"
	"github.com/plegtop/plegtop/ui/terminal"
	"github.com/plegtop/plegtop/ui/text"
)

var (
	version = "devel" // set by the release build
	started = time.Now()
)

// guide is what explain prints.
//
//go:embed docs/guide.md
var guide string

// The exit statuses; check has its own as well. The last one: nothing could be seen at all.
const (
	exitOK         = lines.ExitOK
	exitFailed     = 1
	exitCannotTell = lines.ExitCannotTell
)

func main() {
	defer guard.Catch()
	guard.Dumps()
	modest()
	os.Exit(run(os.Args[1:]))
}

// cores is how many processor cores work for plegtop at once: more bring it nothing, and a node has
// other work. Without a limit Go's collector takes each idle core of a big node, again and again.
const cores = 2

// modest keeps small what plegtop takes of a node, as far as the environment does not say how much.
func modest() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // half the garbage of a big node's lists, for a tenth more work
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(cores, runtime.GOMAXPROCS(0)))
	}
}

// run returns the exit status.
func run(args []string) int {
	if len(args) > 0 && args[0] == options.Completes {
		return completing(args[1:])
	}
	o, err := options.Parse(args)
	out := terminal.Writer(os.Stdout, os.Environ())
	help := func() options.Page { // only where it is asked for: to compile looks takes longer than all else at the start
		look := o.Look(os.Getenv("COLORFGBG"))
		return options.Page{Width: terminal.Width(os.Stdout), Theme: &look}
	}
	switch {
	case errors.Is(err, options.ErrHelp):
		return written(out, "help", help().Help())
	case err != nil:
		return cannotTell(o, err)
	case o.View == options.Explain:
		code, err := lines.Explain(out, guide, o.Finding, style(o, pane.Source{}))
		if err != nil {
			return complain(err, code)
		}
		return code
	case o.View == options.Version:
		return status(lines.Version(out, version, o.JSON))
	case o.Demo == options.DemoList:
		return written(out, "scenarios", help().Scenarios())
	}
	return show(context.Background(), args)
}

// completing writes what makes a shell complete our words, or, as that asks, what may stand in the
// place of the last of some words. It returns the exit status.
func completing(args []string) int {
	if len(args) > 1 && args[0] == "words" {
		fmt.Print(options.Complete(args[2:], options.Known{Findings: lines.Topics(guide), Namespaces: source.Namespaces}))
		return exitOK
	}
	script, err := options.Completion(strings.Join(args, " "))
	if err != nil {
		return complain(err, exitCannotTell)
	}
	return written(os.Stdout, "completion", script)
}

// written writes all that there is to say, and returns the exit status.
func written(w io.Writer, what, text string) int {
	if _, err := io.WriteString(w, text); err != nil {
		return complain(fmt.Errorf("write the %s: %w", what, err), exitFailed)
	}
	return exitOK
}

// A view shows a source until ctx ends, the person has seen enough, or there is no more. It
// returns the exit status.
type view func(ctx context.Context, src source.Source) int

// show reads the settings, starts the source and the view, and ends them in the opposite order.
func show(ctx context.Context, args []string) int {
	o, err := options.Load(args)
	if err != nil {
		return cannotTell(o, err)
	}
	if o.Note != "" {
		complain(errors.New(o.Note), exitOK)
	}
	if o.Replay != "" {
		return untilSignal(exitOK, replaying(o))(ctx, source.Source{})
	}
	if o.Demo == "" {
		o.HostRoot = host.FindRoot(o.HostRoot)
	}
	v, err := chooseView(o)
	if err != nil {
		return cannotTell(o, err)
	}
	src, err := source.Open(ctx, o, started)
	if err != nil {
		return cannotTell(o, err)
	}
	defer src.Close()
	if src.Note != "" {
		complain(errors.New(src.Note), exitOK)
	}
	return v(ctx, src)
}

// cannotTell says why there is nothing to look at, in the form that check was to have.
func cannotTell(o options.Options, err error) int {
	status := complain(err, exitCannotTell)
	if o.View != options.Check && !o.NPD {
		return status
	}
	nothing := &engine.Snapshot{At: time.Now(), Release: o.Release, Threshold: o.Threshold}
	status, _ = lines.WriteUnknown(os.Stdout, err, nothing, style(o, source.Wanted(o))) // nobody is left to tell
	return status
}

// complain prints err for a person and returns status.
func complain(err error, status int) int {
	for i, line := range strings.Split(err.Error(), "\n") {
		if i == 0 {
			line = "plegtop: " + line
		}
		fmt.Fprintln(os.Stderr, text.Clean(line)) // it may have words of the runtime's or of a file's
	}
	return status
}

// chooseView returns the view that was asked for, or why it cannot be shown here:
// before anything is started for it.
func chooseView(o options.Options) (view, error) {
	if err := terminal.Written(os.Stdout, os.Stderr); err != nil {
		return nil, err
	}
	switch o.View {
	case options.Check:
		return untilSignal(exitCannotTell, checking(o)), nil
	case options.Watch:
		return untilSignal(exitOK, watching(o)), nil
	case options.Record:
		return untilSignal(exitOK, recordingOnly(o)), nil
	case options.Serve:
		server, err := metrics.Open(metrics.Config{Listen: o.Listen, Web: o.WebConfig, Version: version})
		return untilSignal(exitOK, serving(o, server)), err
	case options.Bench:
		return untilSignal(lines.ExitWarning, benching(o)), agreed(o)
	}
	if err := terminal.Check(os.Stdin, os.Stdout, os.Environ()); err != nil {
		return nil, err
	}
	return running(o, screen(o)), nil
}

// A live view shows what an engine sees, which the tape takes down.
type live func(ctx context.Context, eng *engine.Engine, src source.Source) error

// running returns the view that runs an engine beside v; the end of either ends
// the other.
func running(o options.Options, v live) view {
	return func(ctx context.Context, src source.Source) int {
		config, err := src.Config(ctx, o)
		if err != nil {
			return complain(err, exitCannotTell)
		}
		config.Streams = src.Streams(o.Events, o.ForceEvents)
		tape, err := recording.Open(o, src.Source, version)
		if err != nil {
			return complain(err, exitCannotTell)
		}
		tape.For(&config)
		eng, err := engine.New(config)
		if err != nil {
			return complain(err, exitCannotTell)
		}
		src.Tape = tape
		err = guard.Beside(ctx, func(ctx context.Context) error {
			eng.Follow(src.Release(ctx, o)) // the view does not wait for the kubelet
			return eng.Run(ctx)
		}, func(ctx context.Context) error {
			if o.View != options.Screen { // the screen handles these signals itself
				terminal.HoldStops(ctx, eng.HoldStreams, eng.ReleaseStreams)
				tape.OnSignal(ctx, note)
			}
			return v(ctx, eng, src)
		})
		return status(errors.Join(err, tape.Close()))
	}
}

// replaying returns the view that shows a recording: nothing of this machine is read.
func replaying(o options.Options) view {
	return func(ctx context.Context, src source.Source) int {
		if o.View == options.Screen {
			if err := terminal.Check(os.Stdin, os.Stdout, os.Environ()); err != nil {
				return cannotTell(o, err)
			}
		}
		recording, at, err := rewind.Open(ctx, o.Replay, o.At, o.Through, note)
		if err != nil {
			return cannotTell(o, err)
		}
		defer recording.Close()
		if o.View == options.Screen {
			return replayScreen(ctx, o, recording, at)
		}
		r := lines.NewRecorded(recording, at)
		if o.View == options.Watch {
			err := r.Watch(ctx, os.Stdout, lines.Options{JSON: o.JSON, Namespaces: o.Namespaces})
			if errors.Is(err, record.ErrCut) {
				return complain(err, exitOK)
			}
			return status(err)
		}
		show := r.Check
		if o.View == options.Bench {
			show = r.Bench
		}
		code, err := show(ctx, terminal.Writer(os.Stdout, os.Environ()), style(o, pane.Source{}))
		switch {
		case err == nil:
			return code
		case code == exitCannotTell:
			return cannotTell(o, err)
		}
		return complain(err, code)
	}
}

// replayScreen shows a recording on the screen.
func replayScreen(ctx context.Context, o options.Options, recording *record.Recording, at time.Time) int {
	film, err := rewind.New(recording)
	if err != nil {
		return cannotTell(o, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	head := film.Head()
	config := settings(ctx, o, pane.Source{Kind: "replay", Node: head.Node, Endpoint: head.Endpoint, Scenario: head.Scenario})
	config.Film, config.At = film, at
	return status(terminal.Run(ctx, ui.New(config), terminal.Options{Background: config.Follow}))
}

// status prints err, unless that is done or says nothing new, and returns the
// exit status that tells it.
func status(err error) int {
	if _, signaled := errors.AsType[*terminal.SignalError](err); err == nil || signaled {
		return terminal.ExitCode(err)
	}
	return complain(err, exitFailed)
}

func screen(o options.Options) live {
	return func(ctx context.Context, eng *engine.Engine, src source.Source) error {
		notes := make(chan string, 1)
		src.Tape.OnSignal(ctx, func(said string) { notes <- said })
		config := settings(ctx, o, src.Source)
		config.Feed, config.Controls, config.Director, config.Captions = diagnose.NewLive(eng.Feed(), src.Endpoint), eng, src.Director, o.Captions
		config.SaveTape, config.Notes = src.Tape.Save, notes
		if o.Ring > 0 {
			config.Past = src.Tape
		}
		return terminal.Run(ctx, ui.New(config), terminal.Options{Hold: eng.HoldStreams, Release: eng.ReleaseStreams, Last: src.Close, Background: config.Follow})
	}
}

// settings are what every screen has from the command line.
func settings(ctx context.Context, o options.Options, src pane.Source) ui.Config {
	return ui.Config{
		Context: ctx, Source: src,
		Keys: o.Keys, Theme: o.Look(os.Getenv("COLORFGBG")), Follow: o.Theme == "", ASCII: o.ASCII, NoColor: terminal.NoColor(os.Environ()),
		Namespaces: o.Namespaces, Filter: o.Filter,
		Panes: pane.Settings{Problems: o.Problems, Sort: o.Sort, Descending: o.Descending, Time: o.Time},
	}
}

// untilSignal returns v, which a signal ends as well: with that status if it has to.
func untilSignal(status int, v view) view {
	return func(ctx context.Context, src source.Source) int {
		ctx, cancel := terminal.UntilSignal(ctx, status)
		defer cancel()
		return v(ctx, src)
	}
}

// watching returns the view that ends with its engine, whose last words it writes.
func watching(o options.Options) view {
	return running(o, func(ctx context.Context, eng *engine.Engine, src source.Source) error {
		return lines.Watch(ctx, os.Stdout, recording.Watched(diagnose.NewLive(eng.Feed(), src.Endpoint), note), lines.Options{JSON: o.JSON, Namespaces: o.Namespaces})
	})
}

// recordingOnly returns the view that shows nothing, and writes all of it down.
func recordingOnly(o options.Options) view {
	return running(o, func(ctx context.Context, eng *engine.Engine, src source.Source) error {
		return src.Tape.Run(ctx, os.Stdout, src.Node, diagnose.NewLive(eng.Feed(), src.Endpoint))
	})
}

// serving returns the view that tells all that ask, and nobody else.
func serving(o options.Options, server *metrics.Server) view {
	return running(o, func(ctx context.Context, eng *engine.Engine, src source.Source) error {
		note(server.Where())
		o.JSON, o.NPD = true, false
		return server.Run(ctx, recording.Watched(diagnose.NewLive(eng.Feed(), src.Endpoint), note), style(o, src.Source).Answer)
	})
}

// note says something beside what a view writes.
func note(said string) { complain(errors.New(said), exitOK) }

// agreed returns an error if a real runtime may not be asked as often as o says.
func agreed(o options.Options) error {
	if o.Demo != "" || o.Yes {
		return nil
	}
	asks := terminal.Width(os.Stdin) > 0 && terminal.Width(os.Stderr) > 0
	return lines.Agree(os.Stdin, os.Stderr, asks, slices.Min(o.Periods))
}

// benching returns the view that measures periods and event sources.
func benching(o options.Options) view {
	return func(ctx context.Context, src source.Source) int {
		o.Release, o.Mode = src.Release(ctx, o), pleg.Generic
		bench := lines.BenchOptions{
			CheckOptions: style(o, src.Source), Periods: o.Periods, Sources: o.Sources, For: o.For, Progress: lines.NewProgress(os.Stderr, terminal.Width(os.Stderr)),
			Stops: terminal.HoldStops,
			Engine: func(period time.Duration, on ...sources.Source) (*engine.Engine, error) {
				config, err := src.Config(ctx, o)
				if err != nil {
					return nil, err
				}
				config.Period, config.Look, config.Streams = period, nil, src.Streams(on, o.ForceEvents)
				return engine.New(config)
			},
		}
		if o.Demo == "" { // whose runtime is in this process
			bench.Look = src.Look()
		}
		code, err := lines.Bench(ctx, terminal.Writer(os.Stdout, os.Environ()), bench)
		if err != nil {
			return complain(err, exitCannotTell)
		}
		return code
	}
}

// checking returns the view that looks once.
func checking(o options.Options) view {
	return func(ctx context.Context, src source.Source) int {
		config, err := src.Config(ctx, o)
		if err != nil {
			return cannotTell(o, err)
		}
		defer guard.Before(func() {
			cannotTell(o, errors.New("plegtop panicked, and this says nothing of the node: please report what it printed"))
		})()
		defer guard.Catch()                                               // here, while what says so is there
		left := max(o.Deadline-time.Since(started), 100*time.Millisecond) // a search that finds a silent runtime has taken a second
		look := lines.Examining(config, engine.Examination{Timeout: o.CheckTimeout, Deadline: left}, lines.NewProgress(os.Stderr, terminal.Width(os.Stderr)))
		code, err := lines.Check(ctx, terminal.Writer(os.Stdout, os.Environ()), look, style(o, src.Source))
		if err != nil {
			return cannotTell(o, err)
		}
		return code
	}
}

// style says how check and bench write.
func style(o options.Options, src pane.Source) lines.CheckOptions {
	style := lines.CheckOptions{
		JSON: o.JSON, NPD: o.NPD, Width: terminal.Width(os.Stdout), Theme: o.Look(os.Getenv("COLORFGBG")),
		Source: src.Kind, Node: src.Node, Endpoint: src.Endpoint, Namespaces: o.Namespaces,
	}
	style.Colour = style.Width > 0
	if o.ReleaseGiven {
		style.KubeletVersion = o.Release.String()
	}
	return style
}
