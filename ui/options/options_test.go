package options

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
)

// TestMain keeps the settings of whoever runs the tests out of them.
func TestMain(m *testing.M) {
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME"} {
		if err := os.Setenv(name, os.DevNull); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func defaults(change func(*Options)) Options {
	o := Options{
		Timeout: 2 * time.Minute, Period: time.Second, Threshold: 3 * time.Minute, DemoSpeed: 1,
		Periods: []time.Duration{250 * time.Millisecond, time.Second, 5 * time.Second, 10 * time.Second},
		Sources: []sources.Source{sources.FromRelist, sources.FromCRI, sources.FromCgroup}, For: 30 * time.Second,
		CheckTimeout: 2 * time.Second, Deadline: 20 * time.Second, Release: pleg.Newest, Time: "clock",
		Ring: 15 * time.Minute, RecordMax: 1 << 30, Listen: "127.0.0.1:9469",
	}
	change(&o)
	return o
}

// besides compares options but for the keys.
var besides = cmp.Options{cmpopts.IgnoreFields(Options{}, "Keys"), cmpopts.IgnoreUnexported(Options{})}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		args string
		want func(*Options)
	}{
		{"", func(*Options) {}},
		{"--demo", func(o *Options) { o.Demo = "tour" }},
		{"--demo=list", func(o *Options) { o.Demo = DemoList }},
		{"record --record-max 64MiB", func(o *Options) {
			o.View, o.RecordMax = Record, 64<<20
		}},
		{"--record f --ring 0", func(o *Options) { o.Record, o.Ring = "f", 0 }},
		{"--demo=quiet watch -o json", func(o *Options) { o.Demo, o.View, o.JSON = "quiet", Watch, true }},
		{"--demo --demo-speed 0.25 --captions", func(o *Options) { o.Demo, o.DemoSpeed, o.Captions = "tour", 0.25, true }},
		{"check --deadline 5s --check-timeout=1s", func(o *Options) { o.View, o.Deadline, o.CheckTimeout = Check, 5*time.Second, time.Second }},
		{"check --exit-codes=npd", func(o *Options) { o.View, o.NPD = Check, true }},
		{"--kubelet-version v1.33.4-gke.1", func(o *Options) { o.Release, o.ReleaseGiven = 33, true }},
		{"--relist-period 5s", func(o *Options) { o.Period = 5 * time.Second }},
		{"--relist-period 1s", func(*Options) {}},
		{"--events", func(o *Options) { o.Events = []sources.Source{sources.FromCRI} }},
		{"--events=off", func(*Options) {}},
		{"--events=cri --events=off", func(*Options) {}},
		{"--events=off --events=cgroup", func(o *Options) { o.Events = []sources.Source{sources.FromCgroup} }},
		{"--events=cgroup --events=cgroup,cri watch", func(o *Options) {
			o.Events, o.View = []sources.Source{sources.FromCgroup, sources.FromCRI}, Watch
		}},
		{"--mode evented", func(o *Options) { o.Mode = pleg.Evented }},
		{"check --mode evented", func(o *Options) { o.View, o.Mode = Check, pleg.Evented }},
		{"--mode=evented --events=cgroup,cri --force-events", func(o *Options) {
			o.Mode, o.Events, o.ForceEvents = pleg.Evented, []sources.Source{sources.FromCgroup, sources.FromCRI}, true
		}},
		{"--demo --expected-events=false", func(o *Options) { o.Demo, o.NoExpect = "tour", true }},
		{"--demo --expected-events", func(o *Options) { o.Demo = "tour" }},
		{"bench --periods 2s --sources=none,cgroup --for 1m --yes", func(o *Options) {
			o.View, o.Periods, o.Sources = Bench, []time.Duration{2 * time.Second}, []sources.Source{sources.FromRelist, sources.FromCgroup}
			o.For, o.Yes = time.Minute, true
		}},
		{"-n a -n b", func(o *Options) { o.Namespaces = []string{"a", "b"} }},
		{"-n a,b --namespace=c-1", func(o *Options) { o.Namespaces = []string{"a", "b", "c-1"} }},
		{"--sort age --descending --time-format full --ascii --problems", func(o *Options) {
			o.Sort, o.Descending, o.Time, o.ASCII, o.Problems = "age", true, "full", true, true
		}},
		{"--sort AGE", func(o *Options) { o.Sort = "age" }},
		{"--sort RST", func(o *Options) { o.Sort = "rst" }},
		{"--filter age<5m --theme mono", func(o *Options) { o.Filter, o.Theme = "age<5m", "mono" }},
		{"--ascii=false", func(*Options) {}},
		{"--no-dump", func(o *Options) { o.Runtime.NoDump = true }},
		{"--replay f check -t -10m -o json", func(o *Options) { o.Replay, o.View, o.At, o.JSON = "f", Check, "-10m", true }},
		{"--replay f --at 2am -n a --ascii", func(o *Options) { o.Replay, o.At, o.Namespaces, o.ASCII = "f", "2am", []string{"a"}, true }},
		{"--replay f watch --kubelet-version 1.25", func(o *Options) {
			o.Replay, o.View, o.Release, o.ReleaseGiven, o.Through = "f", Watch, 25, true, 25
		}},
		{"version", func(o *Options) { o.View = Version }},
		{"--version", func(o *Options) { o.View = Version }},
		{"check --version", func(o *Options) { o.View = Version }},
		{"--kubelet-metrics https://127.0.0.1:10250/metrics --kubelet-token-file /t", func(o *Options) {
			o.Kubelet = Kubelet{Metrics: "https://127.0.0.1:10250/metrics", TokenFile: "/t"}
		}},
		{"--debug-socket /run/d.sock --runtime-metrics=http://127.0.0.1:1338/v1/metrics --no-dump=false", func(o *Options) {
			o.Runtime = Runtime{DebugSocket: "/run/d.sock", Metrics: "http://127.0.0.1:1338/v1/metrics"}
		}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			got, err := Parse(strings.Fields(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(defaults(tt.want), got, besides); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
			if got.Keys.Keys(keymap.Help) == "" {
				t.Error("no keys are bound")
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"chekc", `no view is called "chekc"; did you mean check? (see plegtop --help)`},
		{"log", `no view is called "log": want check, watch, record, serve, bench, explain, version, completion or none (see plegtop --help)`},
		{"--ascii completion bash", "completion stands alone: plegtop completion bash, zsh, fish or man"},
		{"check watch", `"watch": one view at a time`},
		{"--output xml", `--output: want text or json, not "xml"`},
		{"-o xml", `--output: want text or json, not "xml"`},
		{"check --exit-codes nagios", `--exit-codes: want plegtop or npd, not "nagios"`},
		{"watch --exit-codes npd", "--exit-codes is only for check (see"},
		{"check --exit-codes npd -o json", "one line of text"},
		{"--timeout 0s", `--timeout: want a duration of more than 0, such as 1s or 500ms, not "0s"`},
		{"--relist-period 0s", "--relist-period: want a duration"},
		{"--relist-threshold soon", "--relist-threshold: want a duration"},
		{"--check-timeout 0", "--check-timeout: want a duration"},
		{"check --deadline -1s", "--deadline: want a duration"},
		{"--kubelet-version 1.24", "want 1.25 to 1.37"},
		{"--demo -r /run/x.sock", "brings its own runtime"},
		{"--demo --demo-speed 9", `--demo-speed: want a figure from 0.25 to 8, not "9"`},
		{"--demo --demo-speed NaN", "--demo-speed: want a figure"},
		{"watch --record-max 64MiB", "name it with --record"},
		{"--demo-speed 2", "--demo-speed: only with --demo"},
		{"--captions", "--captions: only with --demo"},
		{"--no-dump --debug-socket /run/d.sock", "--no-dump asks no socket: leave --debug-socket out"},
		{"--events=off,cri", `--events: want off, or one or more of cri, cgroup with commas between them, not "off"`},
		{"--events=", "--events: want off, or one or more of"},
		{"--events cri", `"cri" is an event source: write --events=cri`},
		{"--events cri,cgroup watch", `"cri,cgroup" is an event source: write --events=cri,cgroup`},
		{"--mode evented --kubelet-version 1.36", "mode evented is that of kubelet 1.37, not of 1.36"},
		{"--mode fast", `--mode: mode "fast": want generic or evented`},
		{"--mode preview", `--mode: mode "preview": want generic or evented`},
		{"--mode evented --events=off", "--mode evented goes by the runtime's event stream: add cri to --events, or leave --events out"},
		{"--mode evented --events=cgroup", "--mode evented goes by"},
		{"check --events", "--events is only for the screen, watch, record and serve: check looks once, and bench measures what --sources names"},
		{"bench --events", "--events is only for"},
		{"bench --mode generic", "--mode is only for the screen, check, watch, record and serve: bench measures with generic relists"},
		{"--for 3s", "--for is only for bench"},
		{"watch --yes", "--yes is only for bench"},
		{"bench --periods 1s,0s", `--periods: want a duration of more than 0, such as 1s or 500ms, not "0s"`},
		{"bench --periods 1s,50ms", `--periods: want periods from 100ms to 10m0s, not "50ms"`},
		{"bench --sources relist", `--sources: want one or more of none, cri, cgroup with commas between them, not "relist"`},
		{"--expected-events=false", "--expected-events: only with --demo"},
		{"--ascii=maybe", `--ascii: want true or false, not "maybe"`},
		{"--sort mood", `--sort: want one of namespace, pod, state, run, ctrs, exit, rst, age, lastevent, inspect, worst, remark, not "mood"`},
		{"--filter inspect>x", `--filter: column 9: want a duration, such as 500ms, not "x"`},
		{"record --record-max 1KiB", `--record-max: want a size of 1MiB at least, such as 64MiB or 1GiB, not "1KiB"`},
		{"record --record-max 99999999TiB", "--record-max: want a size"},
		{"check --record f", "--record is only for the screen, watch, record and serve"},
		{"--replay f check --kubelet-version 1.25,1.37", "--kubelet-version: "},
		{"check -t 2am", "--at: only with --replay"},
		{"--replay f --demo", "--demo: a recording is shown as it was, and nothing of this machine is read: leave it out"},
		{"--replay f check -r /run/x.sock", "--runtime-endpoint: a recording is shown"},
		{"--replay f --record g", "--record: a recording is shown"},
		{"--replay f watch --host-root /host", "--host-root: a recording is shown"},
		{"--replay f check --deadline 3s", "--deadline: a recording is shown"},
		{"--replay f bench --periods 1s", "--periods: a recording is shown"},
		{"--replay f record", "--replay: record is of a node as it is now: the screen, check, watch and bench show a recording"},
		{"--replay f serve", "--replay: serve is of a node as it is now"},
		{"--xyzzy", "unknown flag: --xyzzy (see"},
		{"--namespaces a", `unknown flag: --namespaces; did you mean namespace? (see`},
		{"-x", "unknown shorthand flag"},
		{"--theme", "flag needs an argument: --theme"},
	} {
		_, err := Parse(strings.Fields(tt.args))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
}

// A flag that the view does not use is refused and not ignored; a settings file, which is for all
// views, may have it.
func TestFlagsOfOtherViewsAreRefused(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"watch --filter ns:x", "--filter is only for the screen (see"},
		{"check --filter ns:x", "--filter is only for the screen"},
		{"--replay f check --filter ns:x", "--filter is only for the screen"},
		{"check --problems", "--problems is only for the screen"},
		{"watch --sort age", "--sort is only for the screen"},
		{"record --ascii", "--ascii is only for the screen"},
		{"check --demo --captions", "--captions is only for the screen"},
		{"watch --theme mono", "--theme is only for the screen, check, bench and explain"},
		{"explain relist-blocked -o json", "--output is only for check, watch, bench and version"},
		{"explain relist-blocked --demo", "--demo is only for the screen, check, watch, record, serve and bench"},
		{"-o json", "--output is only for"},
		{"record -n a", "--namespace is only for the screen, check, watch and serve"},
		{"watch --deadline 3s", "--deadline is only for check"},
		{"check --listen :1", "--listen is only for serve"},
	} {
		_, err := Parse(strings.Fields(tt.args))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
	file := written(t, "filter: ns:x\nproblems: true\nsort: age\nlisten: ':1'\ncaptions: true\nperiods: [1s]\n")
	if _, err := Load([]string{"check", "--config", file}); err != nil {
		t.Error(err)
	}
}

// What cannot be meant is refused, so that a variable of a script which nobody has set does not ask
// for less, or for something else, in silence.
func TestBlankValuesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-n", ""}, `--namespace: want names of namespaces with commas between them, such as default,kube-system, not "": leave the flag out to see all`},
		{[]string{"-n", " "}, "--namespace: want names"},
		{[]string{"-n", "default,"}, "--namespace: want names"},
		{[]string{"-n", "Default"}, `not "Default"`},
		{[]string{"-n", "kube_system"}, `not "kube_system"`},
		{[]string{"-n", strings.Repeat("a", 64)}, "--namespace: want names"},
		{[]string{"--replay", "f", "--at", ""}, `--at: want -10m (before the end)`},
		{[]string{"--replay", ""}, `--replay: want a value, not "": leave the flag out where there is none`},
		{[]string{"-r", ""}, `--runtime-endpoint: want a value`},
		{[]string{"--record="}, `--record: want a value`},
	} {
		_, err := Parse(append(tt.args, "check"))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.args, err, tt.want)
		}
	}
}

// The scenario of --demo follows an equals sign, which is easily forgotten.
func TestParseSaysHowAScenarioIsNamed(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--demo quiet", `"quiet" is a scenario of the demo: write --demo=quiet (see plegtop --help)`},
		{"quiet", `"quiet" is a scenario of the demo: write --demo=quiet`},
		{"--demo quiet check", `"quiet" is a scenario of the demo: write --demo=quiet`},
		{"check --demo quiet", `"quiet" is a scenario of the demo: write --demo=quiet`},
		{"--demo foo check", `no view and no scenario is called "foo": want check, watch, record, serve, bench, explain, version, completion or none, and a scenario as in --demo=quiet; plegtop --demo=list shows all`},
		{"--demo qiet", `no view and no scenario is called "qiet"; did you mean --demo=quiet?`},
		{"--demo log", `no view and no scenario is called "log": want check`},
		{"--demo chekc", `no view is called "chekc"; did you mean check?`},
		{"--demo=nope", `--demo: no scenario is called "nope": plegtop --demo=list shows all`},
		{"--demo=hung-inspct", `--demo: no scenario is called "hung-inspct"; did you mean hung-inspect?`},
	} {
		_, err := Parse(strings.Fields(tt.args))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.args, err, tt.want)
		}
	}
}

func TestParseOfAPlugin(t *testing.T) {
	for args, npd := range map[string]bool{
		"check --exit-codes=npd --nope": true, "check --exit-codes npd --nope": true,
		"check --nope": false, "check --exit-codes": false,
		"check --exit-codes npd --config /nowhere": true,
	} {
		if o, err := Load(strings.Fields(args)); err == nil || o.NPD != npd {
			t.Errorf("%s: NPD = %v, %v, want %v and an error", args, o.NPD, err, npd)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"check", "--help"}, {"-h"}, {"help"}, {"help", "check"}, {"--demo", "help", "nonsense"}} {
		if _, err := Parse(args); !errors.Is(err, ErrHelp) {
			t.Errorf("%v: %v, want ErrHelp", args, err)
		}
	}
}

// A locale that has no other characters draws with ASCII, unless that is said not to be.
func TestLocaleWithoutOtherCharacters(t *testing.T) {
	for _, tt := range []struct {
		locale string
		args   []string
		want   bool
	}{
		{"C", nil, true}, {"POSIX", nil, true}, {"C.UTF-8", nil, false}, {"", nil, false},
		{"C", []string{"--ascii=false"}, false}, {"", []string{"--ascii"}, true},
	} {
		t.Setenv("LC_ALL", tt.locale)
		if o, err := Parse(tt.args); err != nil || o.ASCII != tt.want {
			t.Errorf("LC_ALL=%s %v: ASCII %v, %v, want %v", tt.locale, tt.args, o.ASCII, err, tt.want)
		}
	}
}
