// Package options reads what plegtop is asked to do: the command line, and the
// settings file, in which a line sets the flag of its name. Nothing is ignored: what is
// not understood is an error that says where it stands. It starts nothing.
package options

import (
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/theme"
)

// A View is how plegtop shows what it sees. [Screen] is spelled by naming none.
type View string

// The views, and what only answers at once.
const (
	Screen  View = ""
	Check   View = "check"
	Watch   View = "watch"
	Record  View = "record"
	Serve   View = "serve"
	Bench   View = "bench"
	Explain View = "explain"
	Version View = "version"
)

// views are the words that name one.
var views = []string{string(Check), string(Watch), string(Record), string(Serve), string(Bench), string(Explain), string(Version)}

// Completes is the word that stands first, and alone but for the name of a shell, where [Completion] is
// asked for. helps is --help as a word.
const (
	Completes = "completion"
	helps     = "help"
)

// Options are all that plegtop is asked to do.
type Options struct {
	View View
	Note string // why a settings file that nobody named was left out; empty if none was

	Endpoint, HostRoot string
	Kubelet            Kubelet
	Runtime            Runtime

	Demo      string  // the scenario; empty for a real node
	DemoSpeed float64 // 1 is as fast as the scenario wants it
	Captions  bool
	NoExpect  bool // the demo's pod workers expect nothing

	Timeout, Period, Threshold time.Duration
	Release                    pleg.Release // whose relist
	ReleaseGiven               bool         // else it is the newest

	Events      []sources.Source // that are open from the start, each once
	ForceEvents bool             // open the runtime's stream also where that does harm
	Mode        pleg.Mode        // if it is not generic, the engine opens the runtime's stream by itself

	Record    string        // the file that all that happens is written to; empty for none
	RecordMax int64         // bytes of it and of the file before it
	Ring      time.Duration // what is kept in memory; 0 for nothing
	Replay    string        // the recording to show; empty for none
	At        string        // the moment of it, as package replay reads it; empty: the screen and watch begin at its beginning, check shows its end

	Through pleg.Release // whose relist is made of the recording; 0: the one that was recorded

	Finding string // that explain is about, by its id; empty for all

	JSON                   bool
	CheckTimeout, Deadline time.Duration
	NPD                    bool // exit codes and output of a node-problem-detector plugin

	Periods []time.Duration  // that bench measures
	Sources []sources.Source // that it measures each with; the relist stands for none beside it
	For     time.Duration    // how long it measures each
	Yes     bool             // it does not ask

	Listen    string // where serve listens
	WebConfig string // the file with its TLS and users; empty for neither

	Namespaces []string // to show; empty for all
	Filter     string   // in the language of filters; known to parse
	Problems   bool     // show only pods with a problem
	Sort       string   // a column of the pods; empty for the worst first
	Descending bool
	Time       string // one of timeFormats
	ASCII      bool
	Theme      string // a name of package theme; empty: nobody has chosen one
	Keys       keymap.Map

	config string // the file that was named

	eventsGiven bool
}

// times says which --at takes.
const times = "-10m (before the end), 2am, 02:13, 02:13:05, or as in RFC 3339"

// Look returns the theme to draw with: the chosen one, or what the terminal's COLORFGBG
// speaks for.
func (o Options) Look(colorfgbg string) theme.Theme {
	t := theme.Guess(colorfgbg)
	if o.Theme != "" {
		t, _ = theme.Named(o.Theme)
	}
	if o.ASCII {
		t = t.Plain()
	}
	return t
}

// Kubelet says how the node's kubelet may be asked for its metrics.
type Kubelet struct {
	Metrics, Cert, Key, TokenFile, CA string
}

// Runtime says how more than CRI tells may be had of the runtime, once something hangs.
type Runtime struct {
	DebugSocket string
	NoDump      bool
	Metrics     string
}

var timeFormats = []string{"clock", "age", "full"}

// A flag is one thing that can be set: by --name, or by a line "name: value" of the
// settings file, where the command line leaves it open.
type flag struct {
	name, short string
	kind        string // of value
	usage       string
	preset      string   // the value if none is given; empty for none
	bare        string   // the value where only the flag is given; empty: it needs one
	choices     []string // that a shell offers for the value; none where any may stand, or they are worked out
	set         func(string) error
	many        bool            // it may be given again, and takes a list in the file
	list        bool            // its value has commas, or is a list in the file
	typed       bool            // it is for the command line alone
	recorded    bool            // it can be given with a recording
	of          func(View) bool // the views that use it; nil: those of its group
	why         string          // said of the views that do not; may be empty
}

// A group is the flags that help shows under one title.
type group struct {
	title    string
	recorded bool // all can be given with a recording
	of       func(View) bool
	flags    []flag
}

// only and but say which views use a flag: these, or all others but
// Version.
func only(these ...View) func(View) bool {
	return func(v View) bool { return slices.Contains(these, v) }
}

func but(these ...View) func(View) bool {
	return func(v View) bool { return v != Version && !slices.Contains(these, v) }
}

func anywhere(View) bool { return true }

var (
	looking = but(Explain)               // at a runtime
	running = but(Check, Bench, Explain) // beside an engine that goes on
)

// groups returns all flags. docs/flags.md has the same list.
func (o *Options) groups() []group {
	return []group{
		{title: "What to look at", of: looking, flags: []flag{
			{name: "runtime-endpoint", kind: "socket", short: "r", set: into(&o.Endpoint, word), usage: "the runtime's socket, unix:///path or /path; found by itself if not given"},
			{name: "host-root", kind: "folder", set: into(&o.HostRoot, word), usage: "where the host's root is mounted, with its /proc, in a container"},
			{name: "demo", kind: "scenario", set: into(&o.Demo, scenario), bare: "tour", typed: true, usage: "use the embedded runtime and play a scenario; --demo=list shows all"},
			{name: "demo-speed", kind: "times", set: into(&o.DemoSpeed, speed), preset: "1", typed: true, usage: "how many times as fast it plays, from 0.25 to 8"},
			{name: "captions", of: only(Screen), set: into(&o.Captions, truth), bare: "true", usage: "say in the demo what happens and what to expect"},
			{name: "expected-events", set: o.setExpected, bare: "true", usage: "the demo's pod workers know the events of their own doing, which then wake nobody; =false: they know none"},
		}},
		{title: "The relist", of: looking, flags: []flag{
			{name: "timeout", kind: "duration", set: into(&o.Timeout, duration), preset: "2m", usage: "of each call to the runtime at most, as the kubelet's"},
			{name: "relist-period", of: but(Bench, Explain), why: "bench measures what --periods names", kind: "duration", set: into(&o.Period, duration), preset: "1s", usage: "from the end of one relist to the start of the next"},
			{name: "relist-threshold", kind: "duration", set: into(&o.Threshold, duration), preset: "3m", usage: "age of the last good list beyond which PLEG is unhealthy"},
			{name: "kubelet-version", recorded: true, kind: "release", set: o.setRelease, usage: "whose relist, from 1.25 to " + pleg.Newest.String() + " (default the node's, or " + pleg.Newest.String() + "); with --replay: of the recorded answers"},
			{name: "mode", of: but(Bench, Explain), why: "bench measures with generic relists", kind: "mode", choices: []string{pleg.Generic.String(), pleg.Evented.String()}, set: into(&o.Mode, pleg.ParseMode), preset: "generic", usage: "what the relist makes of the runtime's event stream: generic (nothing) or evented (as kubelet 1.37 with its gate on), which opens it"},
		}},
		{title: "Event sources, which see what happens between two relists", of: running, flags: []flag{
			{name: "events", why: "check looks once, and bench measures what --sources names", kind: "source,...", set: o.setEvents, bare: sources.FromCRI.String(), many: true, usage: "open these: cri (the runtime's event stream), cgroup; off: none, which is the default"},
			{name: "force-events", of: but(Check, Explain), why: "check looks once, and opens no event source", set: into(&o.ForceEvents, truth), bare: "true", usage: "open cri also on a containerd before 2.0, where it takes events away from the kubelet"},
		}},
		{title: "The kubelet's own figures", of: looking, flags: []flag{
			{name: "kubelet-metrics", kind: "URL", set: into(&o.Kubelet.Metrics, word), usage: "the kubelet's metrics, such as https://127.0.0.1:10250/metrics (default the read-only port)"},
			{name: "kubelet-cert", kind: "file", set: into(&o.Kubelet.Cert, word), usage: "client certificate for it, in PEM"},
			{name: "kubelet-key", kind: "file", set: into(&o.Kubelet.Key, word), usage: "the certificate's key, in PEM"},
			{name: "kubelet-token-file", kind: "file", set: into(&o.Kubelet.TokenFile, word), usage: "a bearer token for it, read again each time"},
			{name: "kubelet-ca", kind: "file", set: into(&o.Kubelet.CA, word), usage: "the authority that signed the kubelet's own certificate, in PEM; a token for a kubelet of this machine needs it"},
		}},
		{title: "The runtime's own words, read where something hangs", of: looking, flags: []flag{
			{name: "debug-socket", kind: "socket", set: into(&o.Runtime.DebugSocket, word), usage: "where the runtime tells what its goroutines do (default containerd's debug socket, by its configuration, or CRI-O's own)"},
			{name: "no-dump", set: into(&o.Runtime.NoDump, truth), bare: "true", usage: "do not read what its goroutines do"},
			{name: "runtime-metrics", kind: "URL", set: into(&o.Runtime.Metrics, word), usage: "containerd's metrics, such as http://127.0.0.1:1338/v1/metrics (default by its configuration, on loopback)"},
		}},
		{title: "Recordings", of: running, flags: []flag{
			{name: "ring", kind: "duration", set: into(&o.Ring, durationOrNone), preset: "15m", usage: "keep so much of what happened in memory, 32 MiB at most; 0: nothing"},
			{name: "record", kind: "file", set: into(&o.Record, word), usage: "write all that happens to this file, from which --replay shows it again; a recording that is there gets .1 behind its name (default of record: plegtop-NODE-DATE.plegrec)"},
			{name: "record-max", kind: "size", set: into(&o.RecordMax, size), preset: "1GiB", usage: "of that file and the one before it, which has .1 behind its name, together"},
			{name: "replay", of: only(Screen, Check, Watch, Bench), recorded: true, kind: "file", set: into(&o.Replay, word), typed: true, usage: "show a recording; nothing of this machine is read"},
			{name: "at", of: only(Screen, Check, Watch, Bench), recorded: true, kind: "time", short: "t", set: into(&o.At, moment), typed: true, usage: "of a recording: check shows that moment, the others begin there: " + times},
		}},
		{title: "check and watch", of: only(Check), flags: []flag{
			{name: "output", of: only(Check, Watch, Bench, Version), recorded: true, kind: "format", choices: []string{"text", "json"}, short: "o", set: into(&o.JSON, either("text", "json")), preset: "text", typed: true, usage: "text or json"},
			{name: "check-timeout", kind: "duration", set: into(&o.CheckTimeout, duration), preset: "2s", usage: "of each status call of check at most; the lists, Status and Version have four times as much"},
			{name: "deadline", kind: "duration", set: into(&o.Deadline, duration), preset: "20s", usage: "by which check has ended, whatever the runtime does"},
			{name: "exit-codes", recorded: true, kind: "kind", choices: []string{"plegtop", "npd"}, set: into(&o.NPD, either("plegtop", "npd")), preset: "plegtop", typed: true, usage: "check's exit codes: plegtop, or npd for a node-problem-detector plugin"},
		}},
		{title: "serve", of: only(Serve), flags: []flag{
			{name: "listen", kind: "address", set: into(&o.Listen, word), preset: "127.0.0.1:9469", usage: "where to listen: host:port, or :port for all addresses of this machine"},
			{name: "web.config.file", kind: "file", set: into(&o.WebConfig, word), usage: "TLS and passwords, as of all exporters of Prometheus"},
		}},
		{title: "bench", of: only(Bench), flags: []flag{
			{name: "periods", kind: "duration,...", list: true, set: into(&o.Periods, listOf(period)), preset: "250ms,1s,5s,10s", usage: "between relists, to measure"},
			{name: "sources", kind: "source,...", list: true, set: into(&o.Sources, listOf(benchSource)), preset: "none,cri,cgroup", usage: "to measure each period with: none, cri, cgroup"},
			{name: "for", kind: "duration", set: into(&o.For, duration), preset: "30s", usage: "how long to measure each period with each source"},
			{name: "yes", set: into(&o.Yes, truth), bare: "true", typed: true, usage: "do not ask before relists come more than once a second"},
		}},
		{title: "What is shown, and how", recorded: true, of: only(Screen), flags: []flag{
			{name: "namespace", of: but(Record, Bench, Explain), kind: "namespace,...", short: "n", set: o.setNamespaces, many: true, usage: "show only these namespaces; may be repeated"},
			{name: "filter", kind: "filter", set: into(&o.Filter, filterText), usage: "begin with this, as / takes it"},
			{name: "problems", set: into(&o.Problems, truth), bare: "true", usage: "begin with pods with a problem only"},
			{name: "sort", kind: "column", set: into(&o.Sort, column), usage: "sort the pods by this column, named by its head (default the worst first)"},
			{name: "descending", set: into(&o.Descending, truth), bare: "true", usage: "sort in reverse order"},
			{name: "time-format", kind: "format", choices: timeFormats, set: into(&o.Time, oneOf(timeFormats)), preset: "clock", usage: "times of events: " + strings.Join(timeFormats, ", ")},
			{name: "theme", of: but(Watch, Record, Serve), kind: "name", choices: theme.Names(), set: into(&o.Theme, oneOf(theme.Names())), usage: "colours: " + strings.Join(theme.Names(), ", ")},
			{name: "ascii", of: but(Watch, Record, Serve), set: into(&o.ASCII, truth), bare: "true", usage: "draw with ASCII only (default where LC_ALL is C or POSIX)"},
			{name: "config", of: anywhere, kind: "file", set: into(&o.config, word), typed: true, usage: "settings (default plegtop/config.yaml in your configuration folder)"},
		}},
		{title: "Help", recorded: true, of: anywhere, flags: []flag{
			{name: "help", short: "h", set: func(string) error { return ErrHelp }, bare: "true", typed: true, usage: "show this"},
			{name: "version", set: into(&o.View, version), bare: "true", typed: true, usage: "show the version of plegtop"},
		}},
	}
}

func (o *Options) setExpected(s string) error {
	expected, err := truth(s)
	o.NoExpect = !expected && err == nil
	return err
}

// setEvents adds the sources of a list. Off alone is none.
func (o *Options) setEvents(s string) error {
	o.eventsGiven = true
	if s == "off" {
		o.Events = nil
		return nil
	}
	all, err := listOf(eventSource)(s)
	for _, source := range all {
		if !slices.Contains(o.Events, source) {
			o.Events = append(o.Events, source)
		}
	}
	return err
}

// setNamespaces adds those of a list. One that cannot exist would have findings of all others left out.
func (o *Options) setNamespaces(s string) error {
	all, err := listOf(namespace)(s)
	o.Namespaces = append(o.Namespaces, all...)
	return err
}

func (o *Options) setRelease(s string) error {
	o.ReleaseGiven = true
	return into(&o.Release, pleg.ParseRelease)(s)
}
