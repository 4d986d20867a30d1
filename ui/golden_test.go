package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/calls"
	"github.com/plegtop/plegtop/ui/events"
	"github.com/plegtop/plegtop/ui/findings"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/pods"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/timeline"
	"github.com/plegtop/plegtop/ui/workers"
)

// A size is how many cells a screen has across and down.
type size struct{ w, h int }

// The sizes of which whole frames are kept.
var (
	sizes    = []size{{40, 10}, {80, 24}, {120, 40}, {200, 50}}
	atUsual  = sizes[1:2]
	atMiddle = sizes[2:3]
)

// scenes are the states of the screen that every size has to have room for. Whole frames
// are kept of those that show what only the screen does: header, alerts, layout, titles,
// footer, looks. What a pane draws is held by the goldens of its own package.
var scenes = []struct {
	name   string
	kept   []size // as whole frames
	config func(*Config)
	play   func(*stage)
}{
	{"healthy", sizes, nil, func(s *stage) {
		snap := Healthy()
		events := Events(snap)
		s.show(snap, events...).press("j", "j", "j", "j", "j", "j", "j", "j", "j", "j", "space")
	}},
	{"hung-inspect", slices.Delete(slices.Clone(sizes), 2, 3), nil, func(s *stage) { s.find(Findings()[:1]...).show(Hung()) }},
	{"hung-first-second", nil, nil, func(s *stage) {
		snap := Hung()
		snap.InFlight[0].Since, snap.Phase.Began = Ago(700*time.Millisecond), Ago(720*time.Millisecond)
		s.show(snap)
	}},
	{"unhealthy", nil, nil, func(s *stage) { s.find(Findings()...).show(Ill()) }},
	{"list-failing", nil, nil, func(s *stage) { s.show(Failing()) }},
	{"paused", atUsual, demo, func(s *stage) {
		snap := Healthy()
		snap.Paused, snap.Phase.Step, snap.Health.ListedAt = true, engine.Stopped, Ago(42*time.Second)
		s.show(snap, Events(snap)...)
	}},
	{"frozen", nil, demo, func(s *stage) {
		snap := Healthy()
		s.show(snap, Events(snap)...).press("Z")
	}},
	{"starting", atUsual, nil, func(*stage) {}},
	{"refused", nil, nil, func(s *stage) {
		snap := Failing()
		snap.Pods, snap.Health, snap.Version = nil, kubelet.Health{Verdict: "pleg has yet to be successful"}, pleg.Version{}
		snap.Relists, snap.Counts, snap.Calls[4] = engine.Relists{Count: 0}, engine.Counts{}, answers.Calls{}
		s.show(snap)
	}},
	{"empty", nil, nil, func(s *stage) {
		snap := Healthy()
		snap.Pods = []*engine.Pod{}
		Count(snap)
		s.show(snap)
	}},
	{"no-match", nil, func(c *Config) { c.Filter = "nothing ns:shop" }, func(s *stage) { s.show(Healthy()) }},
	{"mono", nil, func(c *Config) { c.NoColor = true }, func(s *stage) {
		snap := Healthy()
		s.show(snap, Events(snap)...)
	}},
	{"ascii", atMiddle, func(c *Config) { c.ASCII = true }, func(s *stage) {
		snap := Hung()
		s.show(snap, Events(snap)...)
	}},
	{"events", nil, nil, func(s *stage) {
		snap := Healthy()
		s.show(snap, Events(snap)...).press("2", "k", "k", "k")
		s.update(engine.Update{Snapshot: snap, Lost: 17})
	}},
	{"calls", nil, nil, func(s *stage) {
		w := SweepOf(330, true)
		w.Began, w.Ended = Ago(3*time.Minute), Ago(177*time.Second)
		snap := Probed(w)
		snap.Calls[0], snap.Calls[3] = answers.Calls{}, answers.Calls{Op: call.ListContainers, InFlight: 1}
		s.find(Findings()...).show(snap).press("3", "G")
	}},
	{"streams-calls", nil, nil, func(s *stage) { s.show(Streamed()).press("3") }},
	{"streams-events", nil, nil, func(s *stage) {
		snap := Streamed()
		s.show(snap, StreamEvents(snap)...).press("2", "k")
	}},
	{"streams-timeline", nil, nil, func(s *stage) {
		snap := Streamed()
		s.show(snap, StreamEvents(snap)...).press("5")
	}},
	{"streams-node", nil, demo, func(s *stage) {
		s.show(WithNode(FellBack())).report(Looked()).press("v", "ctrl+f")
	}},
	{"findings", nil, nil, func(s *stage) { s.find(Findings()...).show(Unhealthy()).press("4", "j") }},
	{"findings-empty", nil, nil, func(s *stage) { s.show(Healthy()).press("4") }},
	{"findings-ended", nil, nil, func(s *stage) {
		s.find(Findings()[1]).end(Findings()[0], Findings()[2]).show(Healthy()).press("4", "j")
	}},
	{"findings-over", nil, nil, func(s *stage) { s.end(Findings()[:1]...).show(Healthy()).press("4") }},
	{"findings-ascii", nil, func(c *Config) { c.ASCII = true }, func(s *stage) { s.find(Findings()...).show(Unhealthy()).press("4") }},
	{"findings-mono", nil, func(c *Config) { c.NoColor = true }, func(s *stage) { s.find(Findings()...).show(Unhealthy()).press("4") }},
	{"findings-hostile", nil, nil, func(s *stage) { s.find(HostileFindings()...).show(Hostile()).press("4") }},
	{"finding", nil, nil, func(s *stage) { s.find(Findings()...).show(Unhealthy()).press("4", "enter") }},
	{"finding-hostile", nil, nil, func(s *stage) { s.find(HostileFindings()...).show(Hostile()).press("4", "enter") }},
	{"finding-chain", nil, nil, func(s *stage) { s.find(Chained()...).show(Unhealthy()).press("4", "enter") }},
	{"finding-chain-ascii", nil, func(c *Config) { c.ASCII = true }, func(s *stage) { s.find(Chained()...).show(Unhealthy()).press("4", "enter") }},
	{"findings-chain", nil, nil, func(s *stage) { s.find(Chained()...).show(Unhealthy()).press("4", "space") }},
	{"finding-over", nil, nil, func(s *stage) {
		s.find(Findings()...).show(Unhealthy()).press("4", "j", "enter").find().end(Findings()[2]).show(Healthy())
	}},
	{"sweep", atUsual, nil, func(s *stage) { s.find(Findings()[:1]...).show(Probed(SweepOf(120, true))) }},
	{"sweep-done", nil, nil, func(s *stage) { s.show(WithSweep(SweepOf(330, false))) }},
	{"sweep-refused", nil, nil, func(s *stage) {
		s.show(WithSweep(&answers.Sweep{Began: Ago(time.Second), Ended: Ago(time.Second), Refused: "Version: no reply for 3s: the runtime is too slow for it"}))
	}},
	{"node", nil, nil, func(s *stage) { s.show(WithNode(Healthy())).report(Looked()).press("v") }},
	{"node-ill", nil, nil, func(s *stage) { s.show(Ill()).report(LookedInVain()).press("v") }},
	{"node-hangs", nil, nil, func(s *stage) {
		s.show(Ill()).report(LookedDeep()).press("v", "/", "W", "h", "o", " ", "h", "o", "enter")
	}},
	{"node-unknown", nil, demo, func(s *stage) { s.press("v") }},
	{"detail", atMiddle, nil, func(s *stage) {
		snap := Healthy()
		s.show(snap, Events(snap)...).press("G", "k", "enter")
	}},
	{"help", nil, nil, func(s *stage) { s.show(Healthy()).press("?") }},
	{"filter-prompt", nil, nil, func(s *stage) {
		s.show(Healthy()).press("/", "s", "h", "o", "p", " ", "a", "g", "e", "<", "x")
	}},
	{"namespaces", nil, nil, func(s *stage) { s.show(Healthy()).press("o", "down", "space") }},
	{"raw", nil, nil, func(s *stage) { s.show(Healthy()).press("y").run() }},
	{"confirm", nil, nil, func(s *stage) { s.show(Big(30, 1)).press("R") }},
	{"wide-names", atUsual, nil, func(s *stage) {
		wide := Healthy()
		for _, p := range wide.Pods {
			p.Name = "日本語のポッド-" + p.Name
		}
		s.show(wide)
	}},
	{"hostile", atMiddle, nil, func(s *stage) { s.show(Hostile()).press("space") }},
}

func demo(c *Config) {
	c.Source = pane.Source{Kind: "demo", Node: "demo-node", Endpoint: "unix:///tmp/plegtop-1/cri.sock"}
}

// goldenPanes are those of the whole frames. They are listed here once more, so that a new
// pane changes no golden.
var goldenPanes = []func(pane.Settings) pane.Pane{pods.New, events.New, calls.New, findings.New, timeline.New, workers.New}

func TestGoldenFrames(t *testing.T) {
	for _, sc := range scenes {
		for _, size := range sc.kept {
			name := fmt.Sprintf("%s-%dx%d", sc.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				s := stageOf(t, size.w, size.h, goldenPanes, sc.config)
				sc.play(s)
				frame := s.m.frame()
				checkFrame(t, frame, size.w, size.h)
				compareGolden(t, name, withoutStyles(frame))
				if name == "hung-inspect-80x24" {
					compareGolden(t, "styles-80x24", frame)
				}
			})
		}
	}
}

func compareGolden(t *testing.T, name, frame string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *Update {
		if err := os.WriteFile(path, []byte(frame+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(frame+"\n", "\n")); diff != "" {
		t.Errorf("the frame has changed (-want +got); look at it, then run with -update:\n%s", diff)
	}
}

// checkFrame fails unless frame has exactly h lines of exactly w cells and no
// control but line feeds and our own styles.
func checkFrame(t *testing.T, frame string, w, h int) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		t.Errorf("%d lines, want %d", len(lines), h)
	}
	for y, line := range lines {
		if got, wc := ansi.StringWidth(line), ansi.StringWidthWc(line); got != w || wc != w {
			t.Errorf("line %d has %d cells (%d by runes), want %d: %q", y, got, wc, w, line)
		}
		if !utf8.ValidString(line) {
			t.Errorf("line %d is not UTF-8: %q", y, line)
		}
		for _, r := range withoutStyles(line) {
			if unicode.IsControl(r) || unicode.In(r, unicode.Cf) {
				t.Errorf("line %d holds %U: %q", y, r, line)
				break
			}
		}
	}
}

// withoutStyles takes the styles of all themes out of a line, and nothing else.
func withoutStyles(line string) string {
	return styles.Replace(line)
}

var styles = func() *strings.Replacer {
	out := []string{"\x1b[m", ""}
	for _, name := range theme.Names() {
		th, _ := theme.Named(name)
		for _, field := range reflect.ValueOf(th.Looks).Fields() {
			s := field.Interface().(theme.Style)
			for _, s := range []theme.Style{s, th.Selected.With(s), th.Idle.With(s), th.Cursor.With(s)} {
				if s.On != "" {
					out = append(out, s.On, "")
				}
			}
		}
	}
	return strings.NewReplacer(out...)
}()

var (
	widths  = []int{20, 21, 33, 47, 59, 60, 64, 79, 80, 89, 90, 101, 120, 133, 159, 160, 161, 200, 250}
	heights = []int{5, 7, 9, 13, 14, 18, 23, 24, 31, 32, 40, 50, 70}
)

func TestEverySizeIsFilledExactly(t *testing.T) {
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			s := stageOf(t, 80, 24, panes, sc.config)
			sc.play(s)
			for i := range 2 * len(widths) {
				w, h := widths[i%len(widths)], heights[i*5%len(heights)]
				checkFrame(t, s.send(sizeOf(w, h)).m.frame(), w, h)
				if t.Failed() {
					t.Fatalf("at %dx%d", w, h)
				}
			}
			for _, size := range [][2]int{{0, 0}, {1, 1}, {3, 2}, {19, 3}, {60, 14}, {59, 14}, {60, 13}} {
				checkFrame(t, s.send(sizeOf(size[0], size[1])).m.frame(), size[0], max(1, size[1]))
			}
		})
	}
}
