package fleet

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/quick"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/lines"
	"github.com/plegtop/plegtop/ui/theme"
)

var update = flag.Bool("update", false, "write the goldens anew")

func look() Look { return Look{Keys: keymap.Default(), Theme: theme.Default()} }

// golden compares text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s has changed (-want +got); look at it, then run with -update:\n%s", path, diff)
	}
}

// mixed is a round in which nodes are in every state.
func mixed(t *testing.T) Round {
	t.Helper()
	r := Round{At: time.Date(2026, 11, 20, 3, 14, 15, 0, time.UTC), Done: true}
	for i, name := range []string{"hung-update", "status-lock", "crashloop", "quiet", "quiet"} {
		r.Nodes = append(r.Nodes, &Node{Name: fmt.Sprintf("ip-10-0-1-%d.eu-west-1.compute.internal", i), Namespace: "kube-system", Pod: fmt.Sprintf("plegtop-%d", i)})
		s := &standIn{pods: named(1), check: func(int) reply { return reply{body: said(t, name)} }}
		got, err := s.serve(t, nil).look(t.Context(), func(Round) {})
		if err != nil {
			t.Fatal(err)
		}
		is, n := got.Nodes[0], r.Nodes[i]
		n.State, n.Headline, n.Severity, n.Culprit = is.State, is.Headline, is.Severity, is.Culprit
	}
	for _, of := range []struct {
		name, pod, why string
		is             State
	}{
		{"silent", "plegtop-f", "in 3s", NoAnswer},
		{"refusing", "plegtop-g", "error trying to reach service: dial tcp 10.0.0.5:9469: connect: connection refused", Refused},
		{"crashing", "plegtop-h", "CrashLoopBackOff", NotRunning},
		{"foreign", "plegtop-i", "HTTP 404: 404 page not found", NotPlegtop},
		{"control-plane", "", "", NoPod},
		{"", "plegtop-j", "Pending", NotRunning},
	} {
		n := &Node{Name: of.name, Pod: of.pod, Namespace: "kube-system"}
		n.miss(of.is, of.why)
		r.Nodes = append(r.Nodes, n)
	}
	r.sort()
	return r
}

// shown returns a model that shows a round.
func shown(t *testing.T, w, h int, r Round) *model {
	m := newModel(t.Context(), look(), kubectl{}, nil)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.Update(news{Round: r})
	return m
}

// typeKeys presses keys, and returns what the last one asks for.
func (m *model) typeKeys(keys ...string) (cmd tea.Cmd) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Text: k}
		switch k {
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "esc":
			msg = tea.KeyPressMsg{Code: tea.KeyEscape}
		case "backspace":
			msg = tea.KeyPressMsg{Code: tea.KeyBackspace}
		default:
			msg.Code = []rune(k)[0]
		}
		_, cmd = m.Update(msg)
	}
	return cmd
}

var styles = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// TestFrames holds what is drawn, and that every line has as many cells as the screen.
func TestFrames(t *testing.T) {
	r := mixed(t)
	far := Round{At: r.At, Nodes: append([]*Node{}, r.Nodes...)}
	far.Nodes[9] = &Node{Name: "slow", Pod: "plegtop-z", State: Asking}
	for _, tt := range []struct {
		name string
		w, h int
		play func(m *model)
	}{
		{"nodes", 160, 20, nil}, {"nodes", 100, 14, nil}, {"nodes", 40, 8, nil},
		{"first-round", 100, 14, func(m *model) { *m = *shown(t, 100, 14, far) }},
		{"again", 100, 14, func(m *model) { m.Update(news{Round: far}) }},
		{"error", 100, 14, func(m *model) { m.Update(news{Round: far, err: errors.New("list pods: connection refused")}) }},
		{"filter", 100, 14, func(m *model) { m.typeKeys("/", "h", "A", "n", "G") }},
		{"help", 100, 30, func(m *model) { m.typeKeys("?") }},
		{"no-pod", 100, 14, func(m *model) { m.typeKeys("/", "c", "o", "n", "t", "r", "enter", "enter") }},
		{"starting", 100, 14, func(m *model) {
			*m = *newModel(t.Context(), look(), kubectl{}, nil)
			m.Update(tea.WindowSizeMsg{Width: 100, Height: 14})
		}},
	} {
		m := shown(t, tt.w, tt.h, r)
		if tt.play != nil {
			tt.play(m)
		}
		frame := styles.ReplaceAllString(m.frame(), "")
		for y, line := range strings.Split(frame, "\n") {
			if got := ansi.StringWidth(line); got != tt.w {
				t.Errorf("%s: line %d has %d cells: %q", tt.name, y, got, line)
			}
		}
		golden(t, fmt.Sprintf("%s-%dx%d", tt.name, tt.w, tt.h), frame+"\n")
	}
}

// TestTable holds what a pipe gets.
func TestTable(t *testing.T) {
	golden(t, "table", string(appendTable(nil, mixed(t), theme.Unicode)))
}

// TestKeys holds that the cursor stays on its node, what ends, and what comes back.
func TestKeys(t *testing.T) {
	r := mixed(t)
	m := shown(t, 100, 14, r)
	m.typeKeys("j", "j")
	on, _ := m.table.Current()
	r.Nodes = append([]*Node{{Name: "new", State: Asking, Pod: "x"}}, r.Nodes...)
	m.Update(news{Round: r})
	if now, _ := m.table.Current(); now.Name != on.Name {
		t.Errorf("the cursor went from %s to %s", on.Name, now.Name)
	}
	m.typeKeys("/", "x", "y", "backspace", "backspace", "backspace")
	if m.typing || m.filter != "" {
		t.Errorf("rubbed out, and %q is typed", m.filter)
	}
	m.typeKeys("/", "q", "enter")
	if m.filter != "q" || m.table.Len() != 0 {
		t.Errorf("filter %q", m.filter)
	}
	if m.typeKeys("esc"); m.filter != "" || m.table.Len() != len(r.Nodes) {
		t.Errorf("after esc: filter %q, %d rows", m.filter, m.table.Len())
	}
	if m.typeKeys("?", "q"); m.doc != nil {
		t.Error("q does not close the help")
	}
	if cmd := m.typeKeys("q"); cmd == nil || cmd() != tea.Quit() {
		t.Error("q does not quit")
	}
	m.Update(returned{"a", errors.New("exit status 1"), "error: unable to upgrade connection: \x1b[2Jforbidden"})
	if want := "the screen on a ended: exit status 1 error: unable"; !strings.Contains(m.frame(), want) || strings.Contains(m.frame(), "\x1b[2J") {
		t.Errorf("want %q in:\n%s", want, m.frame())
	}
}

// TestFirstErrorEnds holds that nobody looks at an empty screen: the error is told, and that is all.
func TestFirstErrorEnds(t *testing.T) {
	m := newModel(t.Context(), look(), kubectl{}, nil)
	if _, cmd := m.Update(news{err: errors.New("forbidden")}); cmd == nil || cmd() != tea.Quit() {
		t.Error("it goes on")
	}
}

// TestJSONFollowsTheSchema holds the contract.
func TestJSONFollowsTheSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/fleet.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(object []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(object))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}
	good := appendJSON(nil, mixed(t))
	if err := valid(good); err != nil {
		t.Error(err)
	}
	for old, bad := range map[string]string{
		"plegtop/fleet/1": "plegtop/fleet/2", `"state":"no-pod"`: `"state":"gone"`, `"counts":`: `"accounts":`, `"state":"no-answer"`: `"state":"answered"`,
		`"severity":"critical"`: `"severity":"fatal"`, `"why":"in 3s"`: `"why":"\u001b[2J"`, `"culprit":`: `"culprits":`,
	} {
		if b := bytes.Replace(good, []byte(old), []byte(bad), 1); bytes.Equal(b, good) || valid(b) == nil {
			t.Errorf("%s for %s is valid, or was not there", bad, old)
		}
	}
	hostile := func(a, b string, raw []byte) bool {
		r := mixed(t)
		h := *r.Nodes[0].Headline
		h.Word, h.Text, h.Clock.What = "W"+a, b, "x"+string(raw)
		r.Nodes[0].Headline, r.Nodes[0].Culprit, r.Nodes[1].Name, r.Nodes[2].Why = &h, a, string(raw), b+"\x1b[2J\u202e"
		harmful := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }
		m := shown(t, 100, 14, r)
		return valid(appendJSON(nil, r)) == nil && !strings.ContainsFunc(string(appendTable(nil, r, theme.Unicode)), harmful) &&
			!strings.ContainsFunc(styles.ReplaceAllString(m.frame(), ""), harmful)
	}
	if err := quick.Check(hostile, &quick.Config{MaxCount: 20}); err != nil {
		t.Error(err)
	}
}

// TestCode holds the exit code of what no single node shows.
func TestCode(t *testing.T) {
	sound, silent, bare := &Node{Headline: new(diagnose.Headline), State: Answered}, new(Node), new(Node)
	silent.miss(NoAnswer, "")
	bare.miss(NoPod, "")
	for _, tt := range []struct {
		nodes []*Node
		want  int
	}{
		{[]*Node{sound, bare}, lines.ExitOK}, {[]*Node{sound, silent}, lines.ExitWarning}, {[]*Node{silent, bare}, lines.ExitCannotTell}, {nil, lines.ExitCannotTell},
	} {
		if got := (&Round{Nodes: tt.nodes}).code(); got != tt.want {
			t.Errorf("%+v: %d, want %d", tt.nodes, got, tt.want)
		}
	}
}
