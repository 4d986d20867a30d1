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
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/host"
	"github.com/plegtop/plegtop/ui"
	"github.com/plegtop/plegtop/ui/lines"
	"github.com/plegtop/plegtop/ui/metrics"
	"github.com/plegtop/plegtop/ui/options"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/recording"
	"github.com/plegtop/plegtop/ui/rewind"
	"github.com/plegtop/plegtop/ui/source"
	"github.com/plegtop/plegtop/ui/terminal"
	"github.com/plegtop/plegtop/ui/theme"
)

var (
	version = "devel" // set by the release build
	started = time.Now()
)

// guide is what explain prints.
//
//go:embed docs/guide.md
var guide string

func main() {
	defer guard.Catch()
	guard.Dumps()
	guard.Modest()
	os.Exit(run(os.Args[1:]))
}

// run returns the exit status.
func run(args []string) int {
	if len(args) > 0 && args[0] == options.Completes {
		return completing(args[1:])
	}
	o, err := options.Parse(args)
	page := func() options.Page { return o.Page(terminal.Width(os.Stdout), os.Getenv("COLORFGBG")) }
	switch {
	case errors.Is(err, options.ErrHelp):
		return written(stdout(), "help", page().Help())
	case err != nil:
		return cannotTell(o, err)
	case o.View == options.Explain:
		return complain(lines.Explain(stdout(), guide, o.Finding, style(o, pane.Source{})))
	case o.View == options.Version:
		return complain(terminal.Status(lines.Version(stdout(), version, o.JSON)))
	case o.Demo == options.DemoList:
		return written(stdout(), "scenarios", page().Scenarios())
	}
	return show(context.Background(), args)
}

// completing writes what a shell asks for to complete our words. It returns the exit status.
func completing(args []string) int {
	if len(args) > 1 && args[0] == "words" {
		fmt.Print(options.Complete(args[2:], options.Known{Findings: lines.Topics(guide), Namespaces: source.Namespaces}))
		return lines.ExitOK
	}
	script, err := options.Completion(args...)
	if err != nil {
		return complain(lines.ExitCannotTell, err)
	}
	return written(os.Stdout, "completion", script)
}

// stdout returns what writes texts with the colours that standard output can show.
func stdout() io.Writer { return terminal.Writer(os.Stdout, os.Environ()) }

// written writes all that there is to say, and returns the exit status.
func written(w io.Writer, what, text string) int {
	if _, err := io.WriteString(w, text); err != nil {
		return complain(terminal.Status(fmt.Errorf("write the %s: %w", what, err)))
	}
	return lines.ExitOK
}

// complain prints err, if there is one, for a person, and returns the exit status code.
func complain(code int, err error) int {
	lines.Complain(os.Stderr, err)
	return code
}

// note says something beside what a view writes.
func note(said string) { complain(lines.ExitOK, errors.New(said)) }

// cannotTell says why there is nothing to look at, in the form that check was to have.
func cannotTell(o options.Options, err error) int {
	code := complain(lines.ExitCannotTell, err)
	if o.View != options.Check && !o.NPD {
		return code
	}
	nothing := &engine.Snapshot{At: time.Now(), Release: o.Release, Threshold: o.Threshold}
	code, _ = lines.WriteUnknown(os.Stdout, err, nothing, style(o, source.Wanted(o))) // nobody is left to tell
	return code
}

// looked returns the exit status of one look, which is code, and says why there is an error.
func looked(o options.Options, code int, err error) int {
	if err != nil && code == lines.ExitCannotTell {
		return cannotTell(o, err)
	}
	return complain(code, err)
}

// style says how check and bench write.
func style(o options.Options, src pane.Source) lines.CheckOptions {
	width := terminal.Width(os.Stdout)
	return lines.CheckOptions{
		JSON: o.JSON, NPD: o.NPD, Colour: width > 0, Width: width, Theme: o.Look(os.Getenv("COLORFGBG")), Namespaces: o.Namespaces,
		Source: src.Kind, Node: src.Node, Endpoint: src.Endpoint, KubeletVersion: theme.When(o.ReleaseGiven, o.Release.String(), ""),
	}
}

// A view shows a source until ctx ends, the person has seen enough, or there is no more. It
// returns the exit status.
type view func(ctx context.Context, o options.Options, src source.Source) int

// cut is the exit status of a view that does not end in time after a signal, if it is not lines.ExitOK.
var cut = map[options.View]int{options.Check: lines.ExitCannotTell, options.Bench: lines.ExitWarning}

// show reads the settings, starts the source and the view, and ends them in the opposite order.
func show(ctx context.Context, args []string) int {
	o, err := options.Load(args)
	if err != nil {
		return cannotTell(o, err)
	}
	if o.Note != "" {
		note(o.Note)
	}
	if o.Replay != "" {
		return replay(ctx, o)
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
		note(src.Note)
	}
	if o.View != options.Screen { // which handles signals itself
		var cancel func()
		ctx, cancel = terminal.UntilSignal(ctx, cut[o.View])
		defer cancel()
	}
	return v(ctx, o, src)
}

// chooseView returns the view that was asked for, or why it cannot be shown here:
// before anything is started for it.
func chooseView(o options.Options) (v view, err error) {
	if err := terminal.Written(os.Stdout, os.Stderr); err != nil {
		return nil, err
	}
	switch o.View {
	case options.Check:
		return check, nil
	case options.Bench:
		if o.Demo == "" && !o.Yes {
			asks := terminal.Width(os.Stdin) > 0 && terminal.Width(os.Stderr) > 0
			err = lines.Agree(os.Stdin, os.Stderr, asks, o.Periods...)
		}
		return bench, err
	case options.Watch:
		return running(func(ctx context.Context, o options.Options, _ *engine.Engine, feed diagnose.Updates, _ source.Source) error {
			return lines.Watch(ctx, os.Stdout, recording.Watched(feed, note), lines.Options{JSON: o.JSON, Namespaces: o.Namespaces})
		}), nil
	case options.Record:
		return running(func(ctx context.Context, o options.Options, _ *engine.Engine, feed diagnose.Updates, src source.Source) error {
			return src.Tape.Run(ctx, os.Stdout, src.Node, feed)
		}), nil
	case options.Serve:
		server, err := metrics.Open(metrics.Config{Listen: o.Listen, Web: o.WebConfig, Version: version})
		return running(func(ctx context.Context, o options.Options, _ *engine.Engine, feed diagnose.Updates, src source.Source) error {
			note(server.Where())
			o.JSON, o.NPD = true, false
			return server.Run(ctx, recording.Watched(feed, note), style(o, src.Source).Answer)
		}), err
	}
	return running(screen), terminal.Check(os.Stdin, os.Stdout, os.Environ())
}

// A live view shows what an engine sees, which the tape takes down.
type live func(ctx context.Context, o options.Options, eng *engine.Engine, feed diagnose.Updates, src source.Source) error

// running returns the view that runs an engine beside v; the end of either ends
// the other.
func running(v live) view {
	return func(ctx context.Context, o options.Options, src source.Source) int {
		eng, err := src.Engine(ctx, o, version)
		if err != nil {
			return complain(lines.ExitCannotTell, err)
		}
		err = guard.Beside(ctx, func(ctx context.Context) error {
			eng.Follow(src.Release(ctx, o)) // the view does not wait for the kubelet
			return eng.Run(ctx)
		}, func(ctx context.Context) error {
			if o.View != options.Screen { // which handles these signals itself
				terminal.HoldStops(ctx, eng.HoldStreams, eng.ReleaseStreams)
				src.Tape.OnSignal(ctx, note)
			}
			return v(ctx, o, eng, diagnose.NewLive(eng.Feed(), src.Endpoint), src)
		})
		return complain(terminal.Status(errors.Join(err, src.Tape.Close())))
	}
}

func screen(ctx context.Context, o options.Options, eng *engine.Engine, feed diagnose.Updates, src source.Source) error {
	notes := make(chan string, 1)
	src.Tape.OnSignal(ctx, func(said string) { notes <- said })
	config := settings(ctx, o, src.Source)
	config.Feed, config.Controls, config.Director, config.Captions = feed, eng, src.Director, o.Captions
	config.SaveTape, config.Notes = src.Tape.Save, notes
	if o.Ring > 0 {
		config.Past = src.Tape
	}
	return terminal.Run(ctx, ui.New(config), terminal.Options{Hold: eng.HoldStreams, Release: eng.ReleaseStreams, Last: src.Close, Background: config.Follow})
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

// replay shows a recording: nothing of this machine is read.
func replay(ctx context.Context, o options.Options) int {
	ctx, cancel := terminal.UntilSignal(ctx, lines.ExitOK)
	defer cancel()
	if o.View == options.Screen {
		if err := terminal.Check(os.Stdin, os.Stdout, os.Environ()); err != nil {
			return cannotTell(o, err)
		}
	}
	played, at, err := rewind.Open(ctx, o.Replay, o.At, o.Through, note)
	if err != nil {
		return cannotTell(o, err)
	}
	defer played.Close()
	defer cancel() // before it is closed
	r := lines.NewRecorded(played, at)
	var code int
	switch o.View {
	case options.Check:
		code, err = r.Check(ctx, stdout(), style(o, pane.Source{}))
	case options.Bench:
		code, err = r.Bench(ctx, stdout(), style(o, pane.Source{}))
	case options.Watch:
		code, err = r.Watch(ctx, os.Stdout, lines.Options{JSON: o.JSON, Namespaces: o.Namespaces})
	default:
		film, err := rewind.New(played)
		if err != nil {
			return cannotTell(o, err)
		}
		head := film.Head()
		config := settings(ctx, o, pane.Source{Kind: "replay", Node: head.Node, Endpoint: head.Endpoint, Scenario: head.Scenario})
		config.Film, config.At = film, at
		return complain(terminal.Status(terminal.Run(ctx, ui.New(config), terminal.Options{Background: config.Follow})))
	}
	return looked(o, code, err)
}

// bench measures periods and event sources.
func bench(ctx context.Context, o options.Options, src source.Source) int {
	b := lines.BenchOptions{
		CheckOptions: style(o, src.Source), Periods: o.Periods, Sources: o.Sources, For: o.For, Engine: src.Engines(ctx, o),
		Progress: lines.NewProgress(os.Stderr, terminal.Width(os.Stderr)), Stops: terminal.HoldStops,
	}
	if o.Demo == "" { // whose runtime is in this process
		b.Look = src.Look()
	}
	return complain(lines.Bench(ctx, stdout(), b))
}

// check looks once.
func check(ctx context.Context, o options.Options, src source.Source) int {
	config, err := src.Config(ctx, o)
	if err != nil {
		return cannotTell(o, err)
	}
	defer guard.Before(func() { cannotTell(o, lines.ErrPanicked) })()
	defer guard.Catch() // here, while what says so is there

	left := max(o.Deadline-time.Since(started), 100*time.Millisecond) // a search that finds a silent runtime has taken a second
	look := lines.Examining(config, engine.Examination{Timeout: o.CheckTimeout, Deadline: left}, lines.NewProgress(os.Stderr, terminal.Width(os.Stderr)))
	code, err := lines.Check(ctx, stdout(), look, style(o, src.Source))
	return looked(o, code, err)
}
