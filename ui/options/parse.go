package options

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
)

// ErrHelp is returned by [Parse] when help was asked for.
var ErrHelp = pflag.ErrHelp

// Parse reads the arguments, without the program's name. The error says what is wrong with them and where to look; it is [ErrHelp] for --help
// and -h. With an error the options hold what of View, JSON and NPD says how to tell of it,
// and else what holds where nothing is given.
func Parse(args []string) (Options, error) {
	o, _, err := parse(args)
	return *o, cmp.Or(err, o.agree())
}

// Load is [Parse] with the settings file. A scenario of the demo
// that is about the runtime's event stream opens it, where nothing is said of event sources.
func Load(args []string) (Options, error) {
	o, l, err := parse(args)
	if err == nil {
		err = cmp.Or(l.load(), o.agree())
	}
	aboutEvents := func(s sim.Scenario) bool { return s.Name == o.Demo && s.Events }
	if o.View != Check && o.View != Bench && !o.eventsGiven && slices.ContainsFunc(sim.Scenarios(), aboutEvents) {
		o.Events = []sources.Source{sources.FromCRI}
	}
	return *o, err
}

func parse(args []string) (*Options, line, error) {
	o := &Options{}
	l := newLine(o)
	err := l.parse(args)
	if err != nil && !errors.Is(err, ErrHelp) {
		o, err = &Options{}, fmt.Errorf("%w (see plegtop --help)", err)
		newLine(o)
		o.NPD, o.JSON = asks(args, "npd", "--exit-codes"), asks(args, "json", "--output", "-o")
		if slices.Contains(args, string(Check)) {
			o.View = Check
		}
	}
	return o, l, err
}

// A line is the command line, whose flags set options.
type line struct {
	*Options
	flags map[string]flag // by their names
	given *pflag.FlagSet  // knows which of them were
	file  string          // the settings file, once it is read
}

func newLine(o *Options) line {
	o.Keys, o.Release = keymap.Default(), pleg.Newest
	o.ASCII = slices.Contains([]string{"C", "POSIX"}, os.Getenv("LC_ALL")) // has no other characters
	l := line{Options: o, flags: map[string]flag{}, given: pflag.NewFlagSet("plegtop", pflag.ContinueOnError)}
	l.given.Usage = func() {}
	for _, g := range o.groups() {
		for _, f := range g.flags {
			l.flags[f.name] = f
			l.given.FuncP(f.name, f.short, f.usage, f.set)
			l.given.Lookup(f.name).NoOptDefVal = f.bare
			if f.preset == "" {
				continue
			}
			if err := f.set(f.preset); err != nil {
				panic(err) // the table of flags has a mistake
			}
		}
	}
	return l
}

func (l line) parse(args []string) error {
	err := l.given.Parse(args)
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok && !errors.Is(err, ErrHelp) {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, errors.Unwrap(invalid))
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		return fmt.Errorf("%w%s", err, keymap.Meant(keymap.Nearest(unknown.GetSpecifiedName(), l.names(func(flag) bool { return true }))))
	}
	if err != nil {
		return err
	}
	if err := l.view(l.given.Args()); err != nil {
		return err
	}
	return l.sense()
}

// names returns those of some flags, in order.
func (l line) names(which func(flag) bool) []string {
	var all []string
	for name, f := range l.flags {
		if which(f) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// view takes the view from the arguments that are no flags, and what explain is about.
func (l line) view(words []string) error {
	if len(words) > 0 && l.View != Version {
		switch View(words[0]) {
		case helps:
			return ErrHelp
		case Explain:
			if len(words) > 2 {
				return errors.New("explain is about one finding: plegtop explain ID")
			}
			l.View, l.Finding = Explain, strings.Join(words[1:], "")
			return nil
		}
	}
	for _, w := range words {
		if !slices.Contains(views, w) {
			return l.stray(w)
		}
	}
	switch {
	case len(words) > 1:
		return fmt.Errorf("%q: one view at a time", words[1])
	case len(words) == 1 && l.View != Version:
		l.View = View(words[0])
	}
	return nil
}

// stray says what to type in the place of a word that is no view: that a scenario
// follows an equals sign is easily forgotten.
func (l line) stray(w string) error {
	view, names, want := keymap.Nearest(w, views), scenarios(), ": want "+strings.Join(append(slices.Clone(views), Completes), ", ")+" or none"
	_, err := listOf(eventSource)(w)
	switch {
	case l.eventsGiven && err == nil:
		return fmt.Errorf("%q is an event source: write --events=%s", w, w)
	case w == Completes:
		return errors.New("completion stands alone: plegtop completion bash, zsh, fish or man")
	case slices.Contains(names, w):
		return fmt.Errorf("%q is a scenario of the demo: write --demo=%s", w, w)
	case l.Demo == "" || len(view) > 0:
		return fmt.Errorf("no view is called %q%s", w, cmp.Or(keymap.Meant(view), want))
	}
	near := keymap.Nearest(w, names)
	for i := range near {
		near[i] = "--demo=" + near[i]
	}
	return fmt.Errorf("no view and no scenario is called %q%s", w, cmp.Or(keymap.Meant(near), want+", and a scenario as in --demo=quiet; "+listing))
}

// listing says where the scenarios are.
const listing = "plegtop --demo=list shows all"

// sense says which flags make none together.
func (l line) sense() error {
	typed := l.given.Changed
	switch {
	case l.Replay == "" && typed("at"):
		return errors.New("--at: only with --replay")
	case l.NPD && l.JSON:
		return errors.New("--exit-codes npd writes one line of text: leave --output json out")
	case l.Demo != "" && typed("runtime-endpoint"):
		return errors.New("--demo brings its own runtime: leave --runtime-endpoint out")
	case l.Demo == "" && typed("demo-speed"):
		return errors.New("--demo-speed: only with --demo")
	case typed("no-dump") && l.Runtime.NoDump && typed("debug-socket"):
		return errors.New("--no-dump asks no socket: leave --debug-socket out")
	case l.Demo == "" && typed("captions"):
		return errors.New("--captions: only with --demo")
	case l.Record == "" && l.View != Record && typed("record-max"):
		return errors.New("--record-max is about a file: name it with --record")
	case l.Demo == "" && typed("expected-events"):
		return errors.New("--expected-events: only with --demo")
	}
	if l.Replay != "" {
		if err := l.replays(typed); err != nil {
			return err
		}
	}
	return l.fits(typed)
}

// replays says which flags make no sense with a recording, of which nothing is asked but what
// it knows.
func (l line) replays(typed func(string) bool) error {
	if l.View == Serve || l.View == Record {
		return fmt.Errorf("--replay: %s is of a node as it is now: the screen, check, watch and bench show a recording", l.View)
	}
	for _, g := range l.groups() {
		for _, f := range g.flags {
			if !g.recorded && !f.recorded && typed(f.name) {
				return fmt.Errorf("--%s: a recording is shown as it was, and nothing of this machine is read: leave it out", f.name)
			}
		}
	}
	if typed("kubelet-version") { // the settings file is about the node
		l.Through = l.Release
	}
	return nil
}

// fits says which flags the view does not use. Version, as help, is shown whatever else is asked for.
func (l line) fits(typed func(string) bool) error {
	if l.View == Version {
		return nil
	}
	for _, g := range l.groups() {
		for _, f := range g.flags {
			of := g.of
			if f.of != nil {
				of = f.of
			}
			if typed(f.name) && !of(l.View) {
				return errors.New(strings.TrimSuffix("--"+f.name+" is only for "+users(of)+": "+f.why, ": "))
			}
		}
	}
	return nil
}

// users names the views that use something.
func users(of func(View) bool) string {
	var all []string
	if of(Screen) {
		all = append(all, "the screen")
	}
	for _, v := range views {
		if of(View(v)) {
			all = append(all, v)
		}
	}
	last := len(all) - 1
	return strings.TrimPrefix(strings.Join(all[:last], ", ")+" and "+all[last], " and ")
}

// agree returns why what was said cannot all be.
func (o *Options) agree() error {
	switch {
	case o.View == Bench || o.Mode == pleg.Generic:
		return nil
	case o.Mode.Check(o.Release) != nil:
		return o.Mode.Check(o.Release)
	case !o.eventsGiven || slices.Contains(o.Events, sources.FromCRI):
		return nil
	}
	return fmt.Errorf("--mode %v goes by the runtime's event stream: add cri to --events, or leave --events out", o.Mode)
}

// asks reports whether arguments that cannot be parsed give a flag of those names a value.
func asks(args []string, value string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		at := slices.Index(args, name)
		return at >= 0 && at+1 < len(args) && args[at+1] == value ||
			slices.Contains(args, name+"="+value) || len(name) == 2 && slices.Contains(args, name+value)
	})
}
