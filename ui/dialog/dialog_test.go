package dialog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/theme"
)

var update = flag.Bool("update", false, "write the golden files")

// presses returns the key presses that a terminal's bytes stand for.
func presses(bytes string) []tea.KeyPressMsg {
	var all []tea.KeyPressMsg
	for bytes != "" {
		var d uv.EventDecoder
		next := bytes
		if strings.HasPrefix(bytes, escape+escape) { // two presses, not one with alt
			next = escape
		}
		n, ev := d.Decode([]byte(next))
		if k, ok := ev.(uv.KeyPressEvent); ok {
			all = append(all, tea.KeyPressMsg(k))
		}
		bytes = bytes[n:]
	}
	return all
}

const (
	up, down, left, right = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C"
	home, end, pageDown   = "\x1b[H", "\x1b[F", "\x1b[6~"
	escape, enter, rub    = "\x1b", "\r", "\x7f"
)

// hostile is what a runtime may call a namespace.
const hostile = "a\x1b[31m\u009b1mb\n\u202Ec"

func press(in keymap.Scope, bytes string, key func(tea.KeyPressMsg, keymap.Action) Answer) Answer {
	var last Answer
	for _, k := range presses(bytes) {
		last = key(k, keymap.Default().Action(k, in))
	}
	return last
}

func TestGolden(t *testing.T) {
	rows := []Row{{"default", "12 pods", true}, {"kube-system", "9 pods", false}, {hostile, "1 pod", false}, {strings.Repeat("long-", 30), "3 pods", true}}
	raw := "{\n  \"id\": \"" + strings.Repeat("0123456789", 30) + "\",\n  \"name\": \"" + hostile + "日本語\"\n}\n"
	for name, lines := range map[string]func(w, h int, t theme.Theme) []string{
		"picker": NewPicker("Namespaces", rows, false).Lines,
		"narrowed": func(w, h int, t theme.Theme) []string {
			p := NewPicker("Faults", rows, true)
			press(keymap.Global, "kube ", p.Key)
			return p.Lines(w, h, t)
		},
		"help": NewHelp(keymap.Default()).Lines,
		"viewer": func(w, h int, t theme.Theme) []string {
			v := NewViewer("default/web", raw)
			v.Search("0123")
			return v.Lines(w, h, t)
		},
		"wrapped": func(w, h int, t theme.Theme) []string {
			v := NewViewer("default/web", raw)
			v.Lines(w, h, t)
			press(keymap.InViewer, "w", v.Key)
			return v.Lines(w, h, t)
		},
		"prompt": func(w, h int, t theme.Theme) []string {
			p := NewPrompt("filter", "ns:kube-* lat>fast", nil)
			p.Error = "column 15: want a duration, such as 500ms, not \"fast\""
			return []string{p.Line(w, t)}
		},
		"confirm": func(w, h int, t theme.Theme) []string {
			return []string{Confirm{"Inspect all 1203 pods again?"}.Line(w, t)}
		},
	} {
		for _, size := range []struct {
			w, h  int
			theme theme.Theme
		}{{80, 24, theme.Default()}, {200, 50, theme.Default()}, {40, 10, theme.Default().Plain()}, {7, 3, theme.Default()}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size.w, size.h), func(t *testing.T) {
				got := lines(size.w, size.h, size.theme)
				check(t, got, size.w, size.h)
				golden(t, strings.Join(got, "\n"))
			})
		}
	}
}

func TestSizesNobodyHas(t *testing.T) {
	for _, f := range []func(w, h int, t theme.Theme) []string{
		NewPicker("x", []Row{{Name: "a"}}, true).Lines, NewHelp(keymap.Default()).Lines, NewViewer("x", "a\nb").Lines, NewViewer("x", "").Lines,
	} {
		for w := range 5 {
			for h := range 4 {
				if got := f(w, h, theme.Default()); len(got) != h {
					t.Errorf("%dx%d: %d lines", w, h, len(got))
				}
			}
		}
	}
}

// check reports lines that are not exactly w cells wide or hold a control.
func check(t *testing.T, lines []string, w, h int) {
	t.Helper()
	if len(lines) != h && len(lines) != 1 {
		t.Errorf("%d lines, want %d", len(lines), h)
	}
	for i, l := range lines {
		if g, wc := ansi.StringWidth(l), ansi.StringWidthWc(l); g != w || wc != w {
			t.Errorf("line %d is %d or %d cells wide, want %d: %q", i, g, wc, w, l)
		}
		if plain := ansi.Strip(l); strings.ContainsAny(plain, "\x1b\r\n\t\u009b\u202E") {
			t.Errorf("line %d holds a control: %q", i, plain)
		}
	}
}

func golden(t *testing.T, got string) {
	t.Helper()
	file := filepath.Join("testdata", strings.ReplaceAll(t.Name(), "/", "-")+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPicker(t *testing.T) {
	rows := []Row{{"a", "", false}, {"b", "", true}, {"bc", "", false}, {"d", "", false}}
	for _, tt := range []struct {
		name, keys string
		live       bool
		answer     Answer
		on         string
		current    string
	}{
		{"starts on what is on", "", false, Open, "b", "b"},
		{"down", down, false, Open, "b", "bc"},
		{"past the end", down + down + down + down, false, Open, "b", "d"},
		{"switch off", " ", false, Toggled, "", "b"},
		{"switch two on", down + " " + down + " ", false, Toggled, "b bc d", "d"},
		{"accept what is on", down + enter, false, Accepted, "b", "bc"},
		{"accept the row when none is on", " " + down + enter, false, Accepted, "bc", "bc"},
		{"enter switches when live", down + enter, true, Toggled, "b bc", "bc"},
		{"typing narrows down", "bc", false, Changed, "b", "bc"},
		{"rubbing out widens", "bc" + rub, false, Changed, "b", "bc"},
		{"nothing matches", "zz" + enter, false, Accepted, "b", ""},
		{"esc ends a search first", "bc" + escape, false, Changed, "b", "bc"},
		{"then closes", "bc" + escape + escape, false, Closed, "b", "bc"},
		{"letters that move elsewhere are typed", "j", false, Changed, "b", ""},
	} {
		p := NewPicker("x", rows, tt.live)
		p.Lines(40, 10, theme.Default())
		answer := press(keymap.Global, tt.keys, p.Key)
		current, _ := p.Current()
		if on := strings.Join(p.On(), " "); answer != tt.answer || on != tt.on || current.Name != tt.current {
			t.Errorf("%s: answer %d, on %q, at %q; want %d, %q, %q", tt.name, answer, on, current.Name, tt.answer, tt.on, tt.current)
		}
	}
	if rows[0].On || !rows[1].On {
		t.Error("the picker changed the rows of its owner")
	}
}

func TestPickerShowsTheCursor(t *testing.T) {
	var rows []Row
	for i := range 100 {
		rows = append(rows, Row{Name: fmt.Sprintf("row%02d", i)})
	}
	p := NewPicker("x", rows, false)
	for _, keys := range []string{pageDown, end, up, home, strings.Repeat(down, 9)} {
		p.Lines(40, 10, theme.Default())
		press(keymap.Global, keys, p.Key)
		current, _ := p.Current()
		if shown := strings.Join(p.Lines(40, 10, theme.Default()), "\n"); !strings.Contains(shown, current.Name) {
			t.Errorf("after %q %s is not on the screen:\n%s", keys, current.Name, ansi.Strip(shown))
		}
	}
}

func TestPrompt(t *testing.T) {
	history := []string{"old", "new"}
	for _, tt := range []struct {
		name, keys string
		answer     Answer
		value      string
	}{
		{"type", "x y", Changed, "abx y"},
		{"in the middle", left + "x", Changed, "axb"},
		{"at the front", home + "日", Changed, "日ab"},
		{"rub out", rub, Changed, "a"},
		{"forward", home + "\x1b[3~", Changed, "b"},
		{"a word", " cd " + "\x17", Changed, "ab "},
		{"to the front", "c" + left + "\x15", Changed, "c"},
		{"to the end", left + "\x0b", Changed, "a"},
		{"moving changes nothing", left, Open, "ab"},
		{"history", up, Changed, "new"},
		{"older", up + up + up, Changed, "old"},
		{"and back", up + up + down + down, Changed, "ab"},
		{"accept", "c" + enter, Accepted, "abc"},
		{"close", "c" + escape, Closed, "abc"},
		{"rub out nothing", rub + rub + rub, Closed, ""},
	} {
		p := NewPrompt("filter", "ab", history)
		var answer Answer
		for _, k := range presses(tt.keys) {
			answer = p.Key(k)
		}
		if answer != tt.answer || p.Value() != tt.value {
			t.Errorf("%s: answer %d, value %q; want %d, %q", tt.name, answer, p.Value(), tt.answer, tt.value)
		}
	}
	p := NewPrompt("filter", "", nil)
	p.Paste("a\nb\x1b[31m" + strings.Repeat("x", 5000))
	if v := p.Value(); len(v) > limit || !strings.HasPrefix(v, "a b^[[31m") {
		t.Errorf("pasted %q", v[:min(len(v), 40)])
	}
	for w := range 60 {
		check(t, []string{p.Line(w, theme.Default())}, w, 1)
		if w > 3 && !strings.Contains(p.Line(w, theme.Default()), theme.Default().Selected.On) {
			t.Errorf("no cursor in %d cells", w)
		}
	}
}

func TestConfirm(t *testing.T) {
	for keys, want := range map[string]Answer{"y": Accepted, enter: Accepted, "n": Closed, escape: Closed, "q": Closed, "x": Open} {
		if got := (Confirm{"?"}).Key(presses(keys)[0]); got != want {
			t.Errorf("%q = %d, want %d", keys, got, want)
		}
	}
}

func TestHelpScrolls(t *testing.T) {
	h := NewHelp(keymap.Default())
	first := strings.Join(h.Lines(80, 10, theme.Default()), "\n")
	press(keymap.InViewer, end, h.Key)
	last := strings.Join(h.Lines(80, 10, theme.Default()), "\n")
	if !strings.Contains(first, "General") || !strings.Contains(last, "the next scenario") {
		t.Errorf("first and last page:\n%s\n%s", ansi.Strip(first), ansi.Strip(last))
	}
	for _, keys := range []string{"?", "q", escape, enter} {
		if press(keymap.InViewer, keys, h.Key) != Closed {
			t.Errorf("%q does not close the help", keys)
		}
	}
}

func TestViewer(t *testing.T) {
	var s strings.Builder
	for i := range 100 {
		fmt.Fprintf(&s, "line %02d of Many\r\n", i)
	}
	v := NewViewer("x", s.String())
	shown := func() string { return ansi.Strip(strings.Join(v.Lines(30, 11, theme.Default()), "\n")) }
	if got := shown(); !strings.Contains(got, "line 09") || strings.Contains(got, "line 10") {
		t.Errorf("first page:\n%s", got)
	}
	if n := v.Search("LINE 5"); n != 10 || !strings.Contains(shown(), "line 50") {
		t.Errorf("%d matches:\n%s", n, shown())
	}
	press(keymap.InViewer, "nnn", v.Key)
	if v.match != 53 {
		t.Errorf("three matches on: line %d, want 53", v.match)
	}
	press(keymap.InViewer, "NNNN", v.Key)
	if v.match != 59 || !strings.Contains(shown(), "line 59") {
		t.Errorf("round the front: line %d, want 59", v.match)
	}
	if v.Search("nowhere") != 0 || v.Search("") != 0 {
		t.Error("found what is not there")
	}
	press(keymap.InViewer, "G", v.Key)
	if !strings.Contains(shown(), "line 99") {
		t.Errorf("bottom:\n%s", shown())
	}
	for _, keys := range []string{"q", escape, "y"} {
		if press(keymap.InViewer, keys, v.Key) != Closed {
			t.Errorf("%q does not close the viewer", keys)
		}
	}
}

// A line of a megabyte is wrapped and scrolled without a noticeable pause, and
// nothing of it is lost.
func TestViewerLongLine(t *testing.T) {
	long := strings.Repeat("é0123456789日", 10_000)
	v := NewViewer("x", long)
	v.Lines(42, 10, theme.Default())
	press(keymap.InViewer, "w", v.Key)
	check(t, v.Lines(42, 10, theme.Default()), 42, 10)
	var whole strings.Builder
	for _, r := range v.rows {
		whole.WriteString(v.text[r.line][r.from:r.to])
	}
	if whole.String() != long {
		t.Errorf("wrapping %d bytes kept %d", len(long), whole.Len())
	}
	press(keymap.InViewer, "w"+right+right, v.Key)
	check(t, v.Lines(42, 10, theme.Default()), 42, 10)
}
