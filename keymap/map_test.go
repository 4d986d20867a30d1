package keymap

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the key table into docs/keys.md")

// press is a key by its name.
type press string

func (p press) String() string { return string(p) }

// sent holds what an xterm sends for the keys that are no plain character.
var sent = map[string]string{
	"esc": "\x1b", "tab": "\t", "shift+tab": "\x1b[Z", "enter": "\r", "space": " ", "backspace": "\x7f",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"home": "\x1b[H", "end": "\x1b[F", "pgup": "\x1b[5~", "pgdown": "\x1b[6~", "f1": "\x1bOP",
}

func bytesOf(k string) string {
	if s, ok := sent[k]; ok {
		return s
	}
	if c, ok := strings.CutPrefix(k, "ctrl+"); ok && len(c) == 1 {
		return string(c[0] & 0x1f)
	}
	return k
}

// What a terminal sends for a key has, in Bubble Tea, the name that we bind.
func TestBoundKeysExist(t *testing.T) {
	for _, e := range Default().entries {
		for _, k := range e.Binding.Keys() {
			var d uv.EventDecoder
			_, ev := d.Decode([]byte(bytesOf(k)))
			pressed, ok := ev.(uv.KeyPressEvent)
			if !ok {
				t.Errorf("%v: %q is decoded as %T, not as a key press", e.Action, k, ev)
				continue
			}
			if got := tea.KeyPressMsg(pressed).String(); got != k {
				t.Errorf("%v: bound to %q, but the terminal's %q is called %q", e.Action, k, bytesOf(k), got)
			}
			if err := checkKey(k); err != nil {
				t.Errorf("%v: %v", e.Action, err)
			}
		}
	}
}

func TestEveryActionIsBoundOnce(t *testing.T) {
	seen := map[Action]int{}
	for _, e := range Default().entries {
		seen[e.Action]++
	}
	source, err := os.ReadFile("action.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`Action = "(.+)"`).FindAllStringSubmatch(string(source), -1) {
		if n := seen[Action(name[1])]; n != 1 {
			t.Errorf("%s is bound %d times, want once", name[1], n)
		}
		delete(seen, Action(name[1]))
	}
	for n := range mostPanes {
		if a := Pane(n + 1); seen[a] != 1 || a.Pane() != n+1 {
			t.Errorf("%s is bound %d times and goes to pane %d", a, seen[a], a.Pane())
		}
		delete(seen, Pane(n+1))
	}
	if len(seen) > 0 {
		t.Errorf("no constants: %v", seen)
	}
}

func TestDefaultHasNoConflict(t *testing.T) {
	m := Default()
	for _, e := range m.entries {
		if err := m.conflict(string(e.Action)); err != nil {
			t.Errorf("%v: %v", e.Action, err)
		}
	}
}

// TestOneKeyOneIdea holds that no key means two things by the place where it is pressed, but
// for those that are the same idea.
func TestOneKeyOneIdea(t *testing.T) {
	ideas := [][]Action{
		{Fold, Toggle, PageDown, Play}, // space: on with what is there
		{Detail, Accept}, {Slower, PlaySlower}, {Faster, PlayFaster},
	}
	same := func(a, b Action) bool {
		return slices.ContainsFunc(ideas, func(i []Action) bool { return slices.Contains(i, a) && slices.Contains(i, b) })
	}
	first := map[string]Action{}
	for _, e := range Default().entries {
		for _, k := range e.Binding.Keys() {
			if was, taken := first[k]; taken && !same(was, e.Action) {
				t.Errorf("%s is %s, and elsewhere %s", k, was, e.Action)
			}
			first[k] = e.Action
		}
	}
}

func TestElsewhere(t *testing.T) {
	for _, tt := range []struct {
		key  string
		in   Scope
		want string
	}{
		{"F", Folding, "follow (events)"},
		{"F", Following, ""},
		{"P", Matching, "world (director)"},
		{"p", Folding, ""},
		{"X", Folding, ""},
	} {
		e, ok := Default().Elsewhere(press(tt.key), tt.in)
		if got := string(e.Action) + e.Where(); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %q, want %q", tt.key, got, tt.want)
		}
	}
}

func TestWithout(t *testing.T) {
	m := Default().Without(Demo)
	if got := m.Action(press("D"), Folding); got != None {
		t.Errorf("D = %v, want none", got)
	}
	if got := m.Entries([]Action{Help, World, Quit, Director}); len(got) != 2 || got[0].Action != Help || got[1].Action != Quit {
		t.Errorf("%v are named; want what was left, in its order", got)
	}
	if Default().Action(press("D"), Folding) != Director {
		t.Error("Without changed the map it was called on")
	}
}

func TestRebind(t *testing.T) {
	m, err := Default().Rebind(map[string][]string{"pause-relist": {"X", "ctrl+p"}, "full-screen": {"p"}, "copy": {}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Action{}
	for _, k := range []string{"p", "X", "ctrl+p", "f", "c"} {
		got[k] = m.Action(press(k), Folding)
	}
	want := map[string]Action{"p": FullScreen, "X": PauseRelist, "ctrl+p": PauseRelist, "f": None, "c": None}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after rebinding (-want +got):\n%s", diff)
	}
	if got := m.Keys(PauseRelist); got != "X ^p" {
		t.Errorf("help shows %q, want the new keys", got)
	}
	if Default().Action(press("p"), Folding) != PauseRelist {
		t.Error("the default map was changed")
	}
}

// The digits beyond the last pane are free for other actions, and the help names each
// pane.
func TestPanes(t *testing.T) {
	m, err := Default().Rebind(map[string][]string{"pause-relist": {"9", "2"}, "pane-1": {"X"}})
	if err != nil {
		t.Fatal(err)
	}
	m = m.WithPanes([]string{"Pods", "Events", "Calls"})
	got := map[string]Action{}
	for _, k := range []string{"X", "1", "2", "3", "4", "9"} {
		got[k] = m.Action(press(k), Folding)
	}
	want := map[string]Action{"X": Pane(1), "1": None, "2": PauseRelist, "3": Pane(3), "4": None, "9": PauseRelist}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys of panes (-want +got):\n%s", diff)
	}
	e, _ := m.Entry(Pane(1))
	if got := []string{e.Short, e.Binding.Help().Desc, m.Keys(Pane(1)), m.Keys(Pane(2))}; !cmp.Equal(got, []string{"pods", "go to the pods", "X", ""}) {
		t.Errorf("pane 1 is told as %q", got)
	}
	if _, err := Default().Rebind(map[string][]string{"pane-2": {"p"}}); err == nil {
		t.Error("a pane took the key of another action")
	}
}

// A key that quits closes what is open, whatever key that is.
func TestQuitRebound(t *testing.T) {
	m, err := Default().Rebind(map[string][]string{"quit": {"X", "ctrl+q"}})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]Action{"X": Back, "ctrl+q": Quit, "q": None} {
		if got := m.Action(press(k), Over); got != want {
			t.Errorf("%s = %q, want %q", k, got, want)
		}
	}
}

func TestRebindErrors(t *testing.T) {
	for _, tt := range []struct{ name, key, want string }{
		{"pause-relst", "x", `action "pause-relst": no such action; did you mean pause-relist?`},
		{"pause", "x", `action "pause": no such action; did you mean pause-relist?`},
		{"xyzzyxyzzy", "x", `action "xyzzyxyzzy": no such action; docs/keys.md lists them all`},
		{"freeze", "p", `action "freeze": key "p" is taken by "pause-relist"; give that another one as well`},
		{"copy", "p", `action "copy": key "p" is taken by "pause-relist"; give that another one as well`},
		{"copy", "Ctrl-P", `action "copy": key "Ctrl-P": want one character (x, X, ?), a name (enter, space, pgdown, f5) or ctrl+x, alt+x, shift+tab`},
		{"copy", "ctrl+P", `action "copy": key "ctrl+P": want one character (x, X, ?), a name (enter, space, pgdown, f5) or ctrl+x, alt+x, shift+tab`},
		{"copy", " ", `action "copy": key " ": want one character (x, X, ?), a name (enter, space, pgdown, f5) or ctrl+x, alt+x, shift+tab`},
		{"copy", "", `action "copy": key "": want one character (x, X, ?), a name (enter, space, pgdown, f5) or ctrl+x, alt+x, shift+tab`},
	} {
		m, err := Default().Rebind(map[string][]string{tt.name: {tt.key}})
		if err == nil || err.Error() != tt.want {
			t.Errorf("Rebind(%q, %q) = %v\nwant %s", tt.name, tt.key, err, tt.want)
		}
		if m.Action(press("p"), Folding) != PauseRelist {
			t.Errorf("Rebind(%q, %q) failed and gave back another map", tt.name, tt.key)
		}
	}
	if _, err := Default().Rebind(map[string][]string{"quit": nil}); err == nil {
		t.Error("quit could be left without a key")
	}
	// What a pane binds for itself may hide what is bound everywhere.
	if _, err := Default().Rebind(map[string][]string{"follow": {"p"}}); err != nil {
		t.Error(err)
	}
	if _, err := Default().Rebind(map[string][]string{"wrap": {"n"}}); err == nil {
		t.Error("two actions of a text share a key")
	}
}

func TestKeysInDocs(t *testing.T) {
	const file, begin, end = "../docs/keys.md", "<!-- keys -->\n", "<!-- /keys -->"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	table, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s: want the key table between %q and %q", file, begin, end)
	}
	want := Default().Markdown()
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != want {
		t.Errorf("the key table of %s is stale; go test ./keymap -update writes it again (-want +got):\n%s", file, cmp.Diff(want, table))
	}
}
