// Command plegtop is top for the kubelet's PLEG: it shows which call on which
// container hangs.
//
// It wires a source (the node's runtime, or the embedded one) to the relist
// engine and that to a view, and chooses the exit status. README.md has the
// flags, docs/architecture.md the packages.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/plegtop/plegtop/cri"
	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui"
	"github.com/plegtop/plegtop/ui/config"
	"github.com/plegtop/plegtop/ui/lines"
	"github.com/plegtop/plegtop/ui/terminal"
	"github.com/plegtop/plegtop/ui/theme"
)

// version is set by the release build.
var version = "devel"

// The exit statuses. 3 says that plegtop could not look at all.
const (
	exitOK         = 0
	exitFailed     = 1
	exitCannotTell = 3
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // half the garbage of a big node's lists, for a tenth more work
	}
	os.Exit(run(os.Args[1:]))
}

// run returns the exit status.
func run(args []string) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return exitOK
	case err != nil:
		return complain(err, exitCannotTell)
	case o.view == "version":
		fmt.Println("plegtop", version)
		return exitOK
	case o.demo == "list":
		listScenarios(os.Stdout)
		return exitOK
	}
	return show(context.Background(), o)
}

// A view shows what the engine sees until ctx ends, the person has seen enough,
// or the engine ends.
type view func(ctx context.Context, eng *engine.Engine, src source) error

// show starts the source, the engine and the view, and ends them in the
// opposite order.
func show(ctx context.Context, o options) int {
	set, err := o.settings()
	if err != nil {
		return complain(err, exitCannotTell)
	}
	v, err := o.chooseView(set)
	if err != nil {
		return complain(err, exitCannotTell)
	}
	src, err := open(ctx, o)
	if err != nil {
		return complain(err, exitCannotTell)
	}
	defer src.close()
	eng, err := engine.New(o.engine(src, set))
	if err != nil {
		return complain(err, exitCannotTell)
	}
	return status(together(ctx, eng, src, v))
}

// status prints err, unless that is done or says nothing new, and returns the
// exit status that tells it.
func status(err error) int {
	_, signaled := errors.AsType[*terminal.SignalError](err)
	_, printed := errors.AsType[*terminal.PanicError](err)
	if err != nil && !signaled && !printed {
		return complain(err, exitFailed)
	}
	return terminal.ExitCode(err)
}

// together runs the engine and the view; the end of either ends the other.
func together(ctx context.Context, eng *engine.Engine, src source, v view) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- eng.Run(ctx)
		cancel()
	}()
	err := v(ctx, eng, src)
	cancel()
	return errors.Join(err, <-ended)
}

// complain prints err for a person and returns status.
func complain(err error, status int) int {
	fmt.Fprintf(os.Stderr, "plegtop: %v\n", err)
	return status
}

// options are the flags, and the view that the arguments name.
type options struct {
	view string // "", "watch" or "version"
	set  *pflag.FlagSet

	endpoint, hostRoot, kubelet, demo, output, config, theme string
	namespaces                                               []string
	timeout, period, threshold                               time.Duration
	release                                                  pleg.Release
	ascii                                                    bool
}

// flags binds the flags to o; it is also what the README's table is made from.
func (o *options) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("plegtop", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVarP(&o.endpoint, "runtime-endpoint", "r", "", "the runtime's `socket`, unix:///path or /path; found by itself if not given")
	f.StringVar(&o.demo, "demo", "", "use the embedded runtime and play a `scenario`; --demo=list lists them")
	f.Lookup("demo").NoOptDefVal = "tour"
	f.StringArrayVarP(&o.namespaces, "namespace", "n", nil, "show only this `namespace`; may be repeated")
	f.StringVarP(&o.output, "output", "o", "text", "`format` of watch, text or json")
	f.DurationVar(&o.timeout, "timeout", 2*time.Minute, "of each call to the runtime, as the kubelet's")
	f.DurationVar(&o.period, "relist-period", time.Second, "from the end of one relist to the start of the next")
	f.DurationVar(&o.threshold, "relist-threshold", 3*time.Minute, "age of the last good list beyond which PLEG is unhealthy")
	f.StringVar(&o.kubelet, "kubelet-version", pleg.Newest.String(), "whose relist: a `release` from 1.25 to 1.37")
	f.StringVar(&o.hostRoot, "host-root", "", "where the host's root `folder` is mounted, in a container")
	f.StringVar(&o.config, "config", "", "settings `file` (default plegtop/config.yaml in your configuration folder)")
	f.StringVar(&o.theme, "theme", "", "colour theme, by `name`: "+strings.Join(theme.Names(), ", "))
	f.BoolVar(&o.ascii, "ascii", false, "draw with ASCII only")
	f.Usage = func() { fmt.Printf(usage, f.FlagUsages()) }
	return f
}

const usage = `plegtop is top for the kubelet's PLEG: which call on which container hangs.

  plegtop [flags]            the screen
  plegtop [flags] watch      events and changes of health, one line each
  plegtop [flags] version    the version of plegtop

%s`

// parse reads the arguments. The error is [pflag.ErrHelp] when help was asked
// for and has been printed.
func parse(args []string) (options, error) {
	var o options
	o.set = o.flags()
	err := o.set.Parse(args)
	if err == nil {
		o.release, err = pleg.ParseRelease(o.kubelet)
	}
	if err != nil {
		return o, wrong(err)
	}
	verbs := o.set.Args()
	if len(verbs) > 0 {
		o.view = verbs[0]
	}
	switch {
	case len(verbs) > 1:
		return o, wrong(fmt.Errorf("%q: one view at a time", verbs[1]))
	case o.view != "" && o.view != "watch" && o.view != "version":
		return o, wrong(fmt.Errorf("no view is called %q: want watch, version or none", o.view))
	case o.output != "text" && o.output != "json":
		return o, wrong(fmt.Errorf("--output %q: want text or json", o.output))
	case o.timeout <= 0 || o.period <= 0 || o.threshold <= 0:
		return o, wrong(errors.New("--timeout, --relist-period and --relist-threshold must be more than 0"))
	case o.demo != "" && o.endpoint != "":
		return o, wrong(errors.New("--demo brings its own runtime: leave --runtime-endpoint out"))
	}
	return o, nil
}

// wrong adds to a mistake in the arguments what to do about it.
func wrong(err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return fmt.Errorf("%w (see plegtop --help)", err)
}

// settings reads the settings file and lays the flags over it.
func (o options) settings() (config.Settings, error) {
	set, err := config.Load(o.config)
	if err != nil {
		return set, err
	}
	set.ASCII = set.ASCII || o.ascii
	if o.theme != "" {
		set.Theme = o.theme
	}
	if len(o.namespaces) > 0 {
		set.Namespaces = o.namespaces
	}
	if set.Period == 0 || o.set.Changed("relist-period") {
		set.Period = o.period
	}
	return set, nil
}

func (o options) engine(src source, set config.Settings) engine.Config {
	c := engine.Config{Runtime: src.client, Release: o.release, Period: set.Period, Threshold: o.threshold, Timeout: o.timeout}
	if src.speed != 1 {
		c.Speed, c.Start, c.Origin = src.speed, src.now(), time.Now()
	}
	return c
}

// A source is a runtime to look at.
type source struct {
	ui.Source
	client *cri.Client
	close  func()

	speed  float64          // of its time against the real one
	now    func() time.Time // its time, where that is not the real one
	faults []ui.Fault
}

func open(ctx context.Context, o options) (source, error) {
	if o.demo != "" {
		return openDemo(ctx, o.demo)
	}
	found, err := cri.Discover(ctx, cri.Search{Endpoint: o.endpoint, HostRoot: o.hostRoot})
	if err != nil {
		return source{}, err
	}
	node, _ := os.Hostname() // without a name the header shows none
	return dial(source{Source: ui.Source{Kind: "cri", Node: node, Endpoint: found.Endpoint}, speed: 1, close: func() {}})
}

func openDemo(ctx context.Context, scenario string) (source, error) {
	server, err := sim.Start(ctx, sim.Config{Scenario: scenario, Seed: 1})
	if err != nil {
		return source{}, fmt.Errorf("start the demo: %w", err)
	}
	src := source{
		Source: ui.Source{Kind: "demo", Node: "demo-node", Endpoint: server.Endpoint()},
		close:  func() { _ = server.Close() }, // the process ends anyway
		speed:  server.Speed(), now: server.Now,
	}
	for _, f := range server.Faults() {
		src.faults = append(src.faults, fault(server, f))
	}
	return dial(src)
}

// fault makes a switch of the demo's runtime fit for the screen.
func fault(server *sim.Server, f sim.Fault) ui.Fault {
	return ui.Fault{
		Name: f.Name, Summary: f.Summary,
		On: func() bool {
			return slices.ContainsFunc(server.Faults(), func(now sim.Fault) bool { return now.Name == f.Name && now.On })
		},
		Set: func(on bool) { _ = server.SetFault(f.Name, on) }, // the name is the server's own
	}
}

func dial(src source) (source, error) {
	client, err := cri.Dial(src.Endpoint)
	if err != nil {
		src.close()
		return source{}, err
	}
	src.client = client
	below := src.close
	src.close = func() {
		_ = client.Close()
		below()
	}
	return src, nil
}

func listScenarios(w io.Writer) {
	for _, s := range sim.Scenarios() {
		fmt.Fprintf(w, "%-14s %s\n", s.Name, s.Summary)
	}
}

// chooseView returns the view that the arguments name, or why it cannot be
// shown here: before anything is started for it.
func (o options) chooseView(set config.Settings) (view, error) {
	if o.view == "watch" {
		return o.watch(set), nil
	}
	colours, ok := theme.Named(set.Theme)
	if set.Theme != "" && !ok {
		return nil, fmt.Errorf("--theme %q: want one of %s", set.Theme, strings.Join(theme.Names(), ", "))
	}
	if err := terminal.Check(os.Stdin, os.Stdout, os.Environ()); err != nil {
		return nil, err
	}
	return o.screen(set, colours), nil
}

func (o options) watch(set config.Settings) view {
	return func(ctx context.Context, eng *engine.Engine, _ source) error {
		ctx, cancel := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
		defer cancel()
		return lines.Watch(ctx, os.Stdout, eng.Feed(), lines.Options{JSON: o.output == "json", Namespaces: set.Namespaces})
	}
}

func (o options) screen(set config.Settings, colours theme.Theme) view {
	return func(ctx context.Context, eng *engine.Engine, src source) error {
		model := ui.New(ui.Config{
			Context: ctx, Feed: eng.Feed(), Controls: eng, Source: src.Source, Faults: src.faults,
			Keys: set.Keys, Theme: colours, ASCII: set.ASCII, NoColor: terminal.NoColor(os.Environ()),
			Namespaces: set.Namespaces, Filter: set.Filter, Problems: set.Problems,
			Sort: set.Sort, Descending: set.Descending, Time: set.TimeFormat,
			Save:        func(name string, data []byte) (string, error) { return lines.Save(".", name, data) },
			AppendEvent: lines.AppendEvent, AppendGap: lines.AppendGap,
		})
		return terminal.Run(ctx, model, terminal.Options{})
	}
}
