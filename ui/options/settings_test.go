package options

import (
	stdcmp "cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
)

type press string

func (p press) String() string { return string(p) }

// example returns the file that docs/config.md shows.
func example(t testing.TB) string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "config.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	text, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/config.md shows no file")
	}
	return text
}

// read parses the text of a file named f.
func read(text string) (Options, error) {
	o := Options{}
	err := newLine(&o).settings("f", []byte(text))
	return o, err
}

// written returns the path of a file with that text.
func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestExampleParses(t *testing.T) {
	o, err := Load([]string{"--config", written(t, example(t))})
	if err != nil {
		t.Fatal(err)
	}
	want := defaults(func(o *Options) {
		o.Theme, o.Sort, o.Filter, o.Namespaces = "default", "state", "!ns:kube-*", []string{"default", "shop"}
		o.Endpoint = "/run/containerd/containerd.sock"
	})
	if diff := cmp.Diff(want, o, besides); diff != "" {
		t.Errorf("the example (-want +got):\n%s", diff)
	}
	for k, want := range map[string]keymap.Action{"z": keymap.Freeze, "Z": keymap.None, "ctrl+p": keymap.PauseRelist} {
		if got := o.Keys.Action(press(k), keymap.Folding); got != want {
			t.Errorf("%s = %v, want %v", k, got, want)
		}
	}
}

// The theme is the one that was chosen, or fits.
func TestLook(t *testing.T) {
	for _, tt := range []struct {
		chosen string
		said   string
		name   string
	}{
		{"", "", "default"}, {"", "0;15", "light"}, {"", "15;0", "default"}, {"light", "15;0", "light"}, {"mono", "", "mono"},
	} {
		o := Options{Theme: tt.chosen}
		if got := o.Look(tt.said); got.Name != tt.name || got.Symbols.ASCII {
			t.Errorf("%+v: theme %s", tt, got.Name)
		}
		if o.ASCII = true; !o.Look(tt.said).Symbols.ASCII {
			t.Errorf("%+v: not in ASCII", tt)
		}
	}
}

// Every flag that is not for the command line alone can be set by a line of its name.
func TestEveryFlagIsASetting(t *testing.T) {
	l := newLine(&Options{})
	values := map[string]string{
		"time-format": "age", "theme": "mono", "sort": "pod", "kubelet-version": "1.30", "filter": "'!a'",
		"periods": "[1s, 2s]", "sources": "[none, cri]",
	}
	for name, f := range l.flags {
		value := stdcmp.Or(values[name], f.bare, f.preset, "some")
		_, err := read(name + ": " + value + "\n")
		if f.typed != (err != nil) {
			t.Errorf("%s: %s: %v, want an error: %v", name, value, err, f.typed)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"theme: mono\nascii: maybe\n", `f:2: ascii: want true or false, not "maybe"`},
		{"ascii: yes\n", `f:1: ascii: want true or false, not "yes"`},
		{"\n\ncolours: red\n", "f:3: colours: no such setting"},
		{"weather: red\n", "f:1: weather: no such setting; there are ascii, captions, check-timeout, deadline,"},
		{"namespce: a\n", "f:1: namespce: no such setting; did you mean namespace?"},
		{"demo: tour\n", "f:1: demo: is for the command line alone"},
		{"version: true\n", "f:1: version: is for the command line alone"},
		{"theme: dim\n", `f:1: theme: want one of default, light, mono, not "dim"`},
		{"theme: [a]\n", `f:1: theme: want one value`},
		{"theme:\n", `f:1: theme: want one value`},
		{"sort: mood\n", `f:1: sort: want one of namespace, pod, state, run, ctrs, exit, rst, age, lastevent, inspect, worst, remark, not "mood"`},
		{"relist-period: 0s\n", `f:1: relist-period: want a duration of more than 0, such as 1s or 500ms, not "0s"`},
		{"relist-period: 1\n", `f:1: relist-period: want a duration of more than 0, such as 1s or 500ms, not "1"`},
		{"relist-period: 1s\nrelist-period: 1s\n", "f:2: relist-period: is set on line 1 already"},
		{"filter: 'inspect>x'\n", `f:1: filter: column 9: want a duration, such as 500ms, not "x"`},
		{"namespace: {a: b}\n", "f:1: namespace: want a list, such as [a, b]"},
		{"namespace: [default, ' ']\n", `f:1: namespace: want names of namespaces with commas between them`},
		{"theme: mono\ntheme: default\n", "f:2: theme: is set on line 1 already"},
		{"- a\n", "f:1: want lines of the form key: value"},
		{"ascii: true\n---\nproblems: true\n", "f:2: want one document, without --- between settings"},
		{"keys: 3\n", "f:1: keys: want lines of the form key: value"},
		{"keys:\n  quit: [q]\n  pause-relst: [p]\n", `f:3: keys.pause-relst: no such action; did you mean pause-relist?`},
		{"keys:\n  quit: [q]\n  copy: [p]\n", `f:3: keys.copy: key "p" is taken by "pause-relist"; give that another one as well`},
		{"keys:\n  quit: [q]\n  copy:\n  - [x]\n", "f:4: keys.copy: want a list of plain values, such as [a, b]; quote what has another meaning in YAML"},
		{"keys:\n  copy:\n", "f:2: keys.copy: want a list, such as [a, b]"},
		{"theme: mono\nkeys: &k\n  follow: [X]\nascii: *k\n", `f:4: ascii: want one value`},
		{"theme: mono\nrelist-period: 'x\n", "f:2: found unexpected end of stream"},
		{"theme: mono\n\tascii: true\n", "f:2: found a tab character that violates indentation"},
		{"theme: \x00", "f: control characters are not allowed"},
	} {
		_, err := read(tt.text)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("read(%q)\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestKeysChangePlaces(t *testing.T) {
	o, err := Load([]string{"--config", written(t, "keys:\n  freeze: p\n  pause-relist: [Z, 9]\n")})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]keymap.Action{"p": keymap.Freeze, "Z": keymap.PauseRelist, "9": keymap.PauseRelist} {
		if got := o.Keys.Action(press(k), keymap.Folding); got != want {
			t.Errorf("%s = %v, want %v", k, got, want)
		}
	}
}

// A flag wins over the file, and the file over a flag that was not given.
func TestFlagsWinOverTheFile(t *testing.T) {
	file := written(t, "relist-period: 5s\ntheme: light\nnamespace: [a, b]\ndeadline: 9s\nruntime-endpoint: /run/x.sock\n")
	for _, tt := range []struct {
		args string
		want func(*Options)
	}{
		{"", func(o *Options) {
			o.Period, o.Theme, o.Namespaces, o.Endpoint = 5*time.Second, "light", []string{"a", "b"}, "/run/x.sock"
		}},
		{"--relist-period 1s --theme mono --ascii -n c --runtime-endpoint /run/y.sock", func(o *Options) {
			o.Theme, o.ASCII, o.Namespaces, o.Endpoint = "mono", true, []string{"c"}, "/run/y.sock"
		}},
	} {
		o, err := Load(append(strings.Fields(tt.args), "--config", file))
		if err != nil {
			t.Fatal(err)
		}
		want := defaults(tt.want)
		want.Deadline = 9 * time.Second
		if diff := cmp.Diff(want, o, besides); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.args, diff)
		}
	}
}

// TestEventsOfTheFile holds that lists of event sources are read, that flags go before
// them, and that a mode which one of the two makes impossible is refused.
func TestEventsOfTheFile(t *testing.T) {
	cri, cgroup := sources.FromCRI, sources.FromCgroup
	for _, tt := range []struct {
		file, args string
		want       []sources.Source
		wrong      string
	}{
		{"events: off\n", "", nil, ""},
		{"events: [cgroup, cri]\n", "", []sources.Source{cgroup, cri}, ""},
		{"events: cgroup,cri\n", "", []sources.Source{cgroup, cri}, ""},
		{"events: [cgroup]\n", "--events=off", nil, ""},
		{"events: [cgroup]\n", "--events", []sources.Source{cri}, ""},
		{"mode: evented\n", "", nil, ""},
		{"mode: evented\nevents: [cgroup]\n", "", nil, "add cri to --events"},
		{"mode: evented\n", "--events=off", nil, "add cri to --events"},
		{"mode: evented\nevents: [cgroup]\n", "--mode generic", []sources.Source{cgroup}, ""},
		{"mode: evented\nevents: off\nperiods: [1s, 2s]\nsources: cgroup\n", "bench", nil, ""},
		{"", "--demo=event-drift", []sources.Source{cri}, ""}, // is about the stream
		{"", "--demo=event-drift watch", []sources.Source{cri}, ""},
		{"", "--demo=event-drift --events=off", nil, ""},
		{"events: off\n", "--demo=event-drift", nil, ""},
		{"", "--demo=event-drift check", nil, ""},
		{"", "--demo", nil, ""},
		{"events: [off, cgrup]\n", "", nil, `:1: events: want off, or one or more of`},
		{"periods: [1s, x]\n", "", nil, `:1: periods: want a duration of more than 0, such as 1s or 500ms, not "x"`},
	} {
		o, err := Load(append(strings.Fields(tt.args), "--config", written(t, tt.file)))
		if tt.wrong == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%q %s: %v, want %q", tt.file, tt.args, err, tt.wrong)
			continue
		}
		if diff := cmp.Diff(tt.want, o.Events); err == nil && diff != "" {
			t.Errorf("%q %s: events (-want +got):\n%s", tt.file, tt.args, diff)
		}
		if o.View == Bench && (len(o.Periods) != 2 || len(o.Sources) != 1) {
			t.Errorf("%q: %v with %v", tt.file, o.Periods, o.Sources)
		}
	}
}

// A line is checked though the command line says otherwise.
func TestAFlagHidesNoMistake(t *testing.T) {
	if _, err := Load([]string{"--theme", "mono", "--config", written(t, "theme: nope\n")}); err == nil {
		t.Error("no error")
	}
}

// A demo brings its own runtime, whatever the file says of the node's.
func TestDemoWithAnEndpointInTheFile(t *testing.T) {
	if _, err := Load([]string{"--demo", "--config", written(t, "runtime-endpoint: /run/x.sock\ncaptions: true\n")}); err != nil {
		t.Error(err)
	}
}

func TestDefaultFile(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	if o, err := Load(nil); o.Note != "" || err != nil {
		t.Errorf("no default file: %q, %v", o.Note, err)
	}
	if _, err := Load([]string{"--config", filepath.Join(home, "gone.yaml")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a named file that is not there: %v, want an error", err)
	}
	if _, err := Load([]string{"--config", "/dev/zero"}); err == nil {
		t.Error("a device is read")
	}
	if err := os.MkdirAll(filepath.Dir(defaultPath()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(defaultPath(), []byte("theme: mono\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Load(nil)
	if err != nil || o.Theme != "mono" {
		t.Errorf("Parse = %q, %v, want the theme of the default file", o.Theme, err)
	}
}

// A file that nobody named does not keep plegtop from starting.
func TestDefaultFileThatCannotBeRead(t *testing.T) {
	file, home := filepath.Join(t.TempDir(), "file"), t.TempDir()
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.MkdirAll(filepath.Join(home, "plegtop", "config.yaml"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ home, note string }{{file, ""}, {home, "not a regular file"}} {
		t.Setenv("XDG_CONFIG_HOME", tt.home)
		o, err := Load(nil)
		if err != nil || !strings.Contains(o.Note, tt.note) || (o.Note == "") != (tt.note == "") {
			t.Errorf("%s: note %q, error %v, want %q", tt.home, o.Note, err, tt.note)
		}
	}
}

// No text makes it panic, and every error names the file.
func FuzzSettings(f *testing.F) {
	f.Add(example(f))
	f.Add("keys: {quit: [x, y], copy: z}\nrelist-period: 1h")
	f.Add("colors: {mono: {bad: red}}\nkeys: {help: [x]}")
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := read(text)
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("read(%q) = %v", text, err)
		}
	})
}
