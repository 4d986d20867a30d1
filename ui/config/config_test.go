package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/theme"
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

func TestExampleParses(t *testing.T) {
	s, err := Parse("example", []byte(example(t)))
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Theme: "default", Sort: "state", TimeFormat: "clock", Filter: "!ns:kube-*",
		Namespaces: []string{"default", "shop"}, Period: time.Second,
	}
	if diff := cmp.Diff(want, s, cmpopts.IgnoreFields(Settings{}, "Keys")); diff != "" {
		t.Errorf("the example (-want +got):\n%s", diff)
	}
	for k, want := range map[string]keymap.Action{"z": keymap.Freeze, "Z": keymap.None, "ctrl+p": keymap.PauseRelist} {
		if got := s.Keys.Action(press(k), keymap.InPods); got != want {
			t.Errorf("%s = %v, want %v", k, got, want)
		}
	}
}

func TestNothingSet(t *testing.T) {
	for _, text := range []string{"", "\n", "# only a comment\n", "---\n", "{}"} {
		s, err := Parse("f", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if got := s.Keys.Action(press("q"), keymap.InPods); got != keymap.Quit {
			t.Errorf("%q: q = %v, want quit", text, got)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"theme: mono\nascii: maybe\n", `f:2: ascii: want true or false, not "maybe"`},
		{"ascii: yes\n", `f:1: ascii: want true or false, not "yes"`},
		{"\n\ncolour: red\n", "f:3: colour: no such setting; there are ascii, descending, filter, keys, namespaces, period, problems, sort, theme, timeFormat"},
		{"theme: dark\n", `f:1: theme: want one of default, mono, bright, contrast, light, not "dark"`},
		{"theme: [a]\n", `f:1: theme: want one of default, mono, bright, contrast, light, not ""`},
		{"sort: mood\n", `f:1: sort: want one of namespace, pod, state, ready, ctrs, exit, rst, age, lastevent, inspect, worst, remark, not "mood"`},
		{"period: 0s\n", `f:1: period: want a duration over zero, such as 1s or 500ms, not "0s"`},
		{"period: 1\n", `f:1: period: want a duration over zero, such as 1s or 500ms, not "1"`},
		{"filter: 'lat>x'\n", `f:1: filter: column 5: want a duration, such as 500ms, not "x"`},
		{"namespaces: {a: b}\n", "f:1: namespaces: want a list, such as [a, b]"},
		{"theme: mono\ntheme: default\n", "f:2: theme: is set on line 1 already"},
		{"- a\n", "f:1: want lines of the form key: value"},
		{"keys: 3\n", "f:1: keys: want lines of the form key: value"},
		{"keys:\n  quit: [q]\n  pause-relst: [p]\n", `f:3: keys.pause-relst: no such action; did you mean "pause-relist"?`},
		{"keys:\n  quit: [q]\n  mark: [F]\n", `f:3: keys.mark: key "F" is taken by "follow"; give that another one as well`},
		{"keys:\n  quit: [q]\n  mark:\n  - [x]\n", "f:4: keys.mark: want a list of plain values, such as [a, b]; quote what has another meaning in YAML"},
		{"keys:\n  mark:\n", "f:2: keys.mark: want a list, such as [a, b]"},
		{"theme: mono\nkeys: &k\n  mark: [x]\nascii: *k\n", `f:4: ascii: want true or false, not "k"`},
		{"theme: mono\nperiod: 'x\n", "f:2: found unexpected end of stream"},
		{"theme: mono\n\tascii: true\n", "f:2: found a tab character that violates indentation"},
		{"theme: \x00", "f: control characters are not allowed"},
	} {
		_, err := Parse("f", []byte(tt.text))
		if _, ok := errors.AsType[*Error](err); !ok || err.Error() != tt.want {
			t.Errorf("Parse(%q)\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestKeysChangePlaces(t *testing.T) {
	s, err := Parse("f", []byte("keys:\n  freeze: p\n  pause-relist: [Z, 9]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]keymap.Action{"p": keymap.Freeze, "Z": keymap.PauseRelist, "9": keymap.PauseRelist} {
		if got := s.Keys.Action(press(k), keymap.InPods); got != want {
			t.Errorf("%s = %v, want %v", k, got, want)
		}
	}
}

func TestThemesOfTheExample(t *testing.T) {
	if diff := cmp.Diff([]string{"default", "mono", "bright", "contrast", "light"}, theme.Names()); diff != "" {
		t.Errorf("the example names other themes than there are:\n%s", diff)
	}
}

func TestLoad(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	if _, note, err := Load(""); note != "" || err != nil {
		t.Errorf("no default file: %q, %v", note, err)
	}
	if _, _, err := Load(filepath.Join(home, "gone.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a named file that is not there: %v, want an error", err)
	}
	if err := os.MkdirAll(filepath.Dir(Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(Path(), []byte("theme: mono\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _, err := Load("")
	if err != nil || s.Theme != "mono" {
		t.Errorf("Load = %+v, %v, want the theme of the default file", s.Theme, err)
	}
}

// A file that nobody named does not keep plegtop from starting.
func TestLoadLeavesOutWhatCannotBeRead(t *testing.T) {
	file, home := filepath.Join(t.TempDir(), "file"), t.TempDir()
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.MkdirAll(filepath.Join(home, "plegtop", "config.yaml"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ home, note string }{{file, ""}, {home, "not a regular file"}} {
		t.Setenv("XDG_CONFIG_HOME", tt.home)
		s, note, err := Load("")
		if err != nil || !strings.Contains(note, tt.note) || (note == "") != (tt.note == "") {
			t.Errorf("%s: note %q, error %v, want %q", tt.home, note, err, tt.note)
		}
		if !reflect.DeepEqual(keymap.Default(), s.Keys) {
			t.Error("keys differ from the default")
		}
	}
	if _, _, err := Load("/dev/zero"); err == nil {
		t.Error("a device is read")
	}
}

// No text makes Parse panic, and every error names the file.
func FuzzParse(f *testing.F) {
	f.Add(example(f))
	f.Add("keys: {quit: [x, y], mark: z}\nperiod: 1h")
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Parse("f", []byte(text))
		if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.File != "f") {
			t.Errorf("Parse(%q) = %v", text, err)
		}
	})
}
