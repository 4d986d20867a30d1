// Package flags reads plegtop's command line: the flags that all views share and
// the name of the view. It starts nothing.
package flags

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/config"
	"github.com/plegtop/plegtop/ui/theme"
)

// A View is how plegtop shows what it sees. [Screen] is spelled by naming none.
type View string

// The views, and what only answers at once.
const (
	Screen  View = ""
	Check   View = "check"
	Watch   View = "watch"
	Version View = "version"
)

// Options are the command line.
type Options struct {
	View View

	Endpoint, HostRoot, Demo, Config, Theme string
	Namespaces                              []string
	JSON                                    bool // --output json
	ASCII                                   bool

	Timeout, Period, Threshold time.Duration
	PeriodGiven                bool         // by a flag, not by default
	Release                    pleg.Release // whose relist
	ReleaseGiven               bool         // by a flag, not by default

	CheckTimeout, Deadline time.Duration
	NPD                    bool // exit codes and output of a node-problem-detector plugin

	Kubelet Kubelet
}

// Kubelet says how the node's kubelet may be asked for its metrics.
type Kubelet struct {
	Metrics, Cert, Key, TokenFile, CA string
}

// raw has the flags that need a second look.
type raw struct {
	output, release, exitCodes string
}

// set binds all flags. It is also what the README's list is made from.
func (o *Options) set(r *raw) *pflag.FlagSet {
	f := pflag.NewFlagSet("plegtop", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVarP(&o.Endpoint, "runtime-endpoint", "r", "", "the runtime's `socket`, unix:///path or /path; found by itself if not given")
	f.StringVar(&o.Demo, "demo", "", "use the embedded runtime and play a `scenario`; --demo=list lists them")
	f.Lookup("demo").NoOptDefVal = "tour"
	f.StringArrayVarP(&o.Namespaces, "namespace", "n", nil, "show only this `namespace`; may be repeated")
	f.StringVarP(&r.output, "output", "o", "text", "`format` of check and watch, text or json")
	f.DurationVar(&o.Timeout, "timeout", 2*time.Minute, "of each call to the runtime, as the kubelet's")
	f.DurationVar(&o.Period, "relist-period", time.Second, "from the end of one relist to the start of the next")
	f.DurationVar(&o.Threshold, "relist-threshold", 3*time.Minute, "age of the last good list beyond which PLEG is unhealthy")
	f.StringVar(&r.release, "kubelet-version", "", "whose relist: a `release` from 1.25 to 1.37 (default the node's, or "+pleg.Newest.String()+")")
	o.check(f, r)
	o.kubelet(f)
	f.StringVar(&o.HostRoot, "host-root", "", "where the host's root `folder` is mounted, with its /proc, in a container")
	f.StringVar(&o.Config, "config", "", "settings `file` (default plegtop/config.yaml in your configuration folder)")
	f.StringVar(&o.Theme, "theme", "", "colour theme, by `name`: "+strings.Join(theme.Names(), ", "))
	f.BoolVar(&o.ASCII, "ascii", false, "draw with ASCII only")
	return f
}

func (o *Options) check(f *pflag.FlagSet, r *raw) {
	f.DurationVar(&o.CheckTimeout, "check-timeout", 2*time.Second, "of each status call of check; the lists, Status and Version have four times as much")
	f.DurationVar(&o.Deadline, "deadline", 20*time.Second, "by which check has ended, whatever the runtime does")
	f.StringVar(&r.exitCodes, "exit-codes", "plegtop", "`kind` of check's exit codes: plegtop, or npd for a node-problem-detector plugin")
}

func (o *Options) kubelet(f *pflag.FlagSet) {
	f.StringVar(&o.Kubelet.Metrics, "kubelet-metrics", "", "`URL` of the kubelet's metrics, such as https://127.0.0.1:10250/metrics (default the read-only port)")
	f.StringVar(&o.Kubelet.Cert, "kubelet-cert", "", "client certificate `file` for it, in PEM")
	f.StringVar(&o.Kubelet.Key, "kubelet-key", "", "the certificate's key `file`, in PEM")
	f.StringVar(&o.Kubelet.TokenFile, "kubelet-token-file", "", "`file` with a bearer token for it, read anew each time")
	f.StringVar(&o.Kubelet.CA, "kubelet-ca", "", "`file` with the authority that signed the kubelet's own certificate, in PEM; without it a token goes only to a port of this machine that a kubelet of root holds")
}

// Settings reads the settings file and lays the flags over it. The note says why a file
// that nobody named was left out; it is empty if none was.
func (o Options) Settings() (set config.Settings, note string, err error) {
	set, note, err = config.Load(o.Config)
	if err != nil {
		return set, note, err
	}
	set.ASCII = set.ASCII || o.ASCII
	if o.Theme != "" {
		set.Theme = o.Theme
	}
	if len(o.Namespaces) > 0 {
		set.Namespaces = o.Namespaces
	}
	if set.Period == 0 || o.PeriodGiven {
		set.Period = o.Period
	}
	return set, note, nil
}
