package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/theme"
)

var update = flag.Bool("update", false, "write the golden frames anew")

var sizes = []struct{ w, h int }{{40, 10}, {80, 24}, {120, 40}, {200, 50}}

// scenes are the states of the screen of which frames are kept.
var scenes = []struct {
	name   string
	config func(*Config)
	play   func(*stage)
}{
	{"healthy", nil, func(s *stage) {
		snap := healthyNode()
		events := someEvents(snap)
		s.show(snap, events...).press("j", "j", "j", "j", "j", "j", "j", "j", "j", "j", "space")
	}},
	{"hung-inspect", nil, func(s *stage) { s.find(hungFindings()[:1]...).show(hungNode()) }},
	{"hung-first-second", nil, func(s *stage) {
		snap := hungNode()
		snap.InFlight[0].Since, snap.Phase.Began = ago(700*time.Millisecond), ago(720*time.Millisecond)
		s.show(snap)
	}},
	{"unhealthy", nil, func(s *stage) { s.find(hungFindings()...).show(illNode()) }},
	{"list-failing", nil, func(s *stage) { s.show(failingNode()) }},
	{"paused", demo, func(s *stage) {
		snap := healthyNode()
		snap.Paused, snap.Phase.Step, snap.Health.ListedAt = true, engine.Stopped, ago(42*time.Second)
		s.show(snap, someEvents(snap)...)
	}},
	{"frozen", demo, func(s *stage) {
		snap := healthyNode()
		s.show(snap, someEvents(snap)...).press("Z")
	}},
	{"starting", nil, func(*stage) {}},
	{"refused", nil, func(s *stage) {
		snap := failingNode()
		snap.Pods, snap.Health, snap.Version = nil, engine.Health{Verdict: "pleg has yet to be successful"}, pleg.Version{}
		snap.Relists, snap.Counts, snap.Calls[4] = engine.Relists{Count: 0}, engine.Counts{}, engine.Calls{}
		s.show(snap)
	}},
	{"empty", nil, func(s *stage) {
		snap := healthyNode()
		snap.Pods = []*engine.Pod{}
		count(snap)
		s.show(snap)
	}},
	{"no-match", func(c *Config) { c.Filter = "nothing ns:shop" }, func(s *stage) { s.show(healthyNode()) }},
	{"mono", func(c *Config) { c.NoColor = true }, func(s *stage) {
		snap := healthyNode()
		s.show(snap, someEvents(snap)...)
	}},
	{"ascii", func(c *Config) { c.ASCII = true }, func(s *stage) {
		snap := hungNode()
		s.show(snap, someEvents(snap)...)
	}},
	{"events", nil, func(s *stage) {
		snap := healthyNode()
		s.show(snap, someEvents(snap)...).press("2", "k", "m", "k", "k")
		s.update(engine.Update{Snapshot: snap, Lost: 17})
	}},
	{"events-wrapped", nil, func(s *stage) {
		snap := healthyNode()
		s.show(snap, someEvents(snap)...).press("2", "w", "t", "t")
	}},
	{"calls", nil, func(s *stage) {
		w := sweepOf(330, true)
		w.Began, w.Ended = ago(3*time.Minute), ago(177*time.Second)
		snap := probed(w)
		snap.Calls[0], snap.Calls[3] = engine.Calls{}, engine.Calls{Op: call.ListContainers, InFlight: 1}
		s.find(hungFindings()...).show(snap).press("3", "G")
	}},
	{"findings", nil, func(s *stage) { s.find(hungFindings()...).show(unhealthyNode()).press("4", "j") }},
	{"findings-empty", nil, func(s *stage) { s.show(healthyNode()).press("4") }},
	{"findings-ended", nil, func(s *stage) {
		s.find(hungFindings()[1]).end(hungFindings()[0], hungFindings()[2]).show(healthyNode()).press("4", "j")
	}},
	{"findings-over", nil, func(s *stage) { s.end(hungFindings()[:1]...).show(healthyNode()).press("4") }},
	{"findings-ascii", func(c *Config) { c.ASCII = true }, func(s *stage) { s.find(hungFindings()...).show(unhealthyNode()).press("4") }},
	{"findings-mono", func(c *Config) { c.NoColor = true }, func(s *stage) { s.find(hungFindings()...).show(unhealthyNode()).press("4") }},
	{"findings-hostile", nil, func(s *stage) { s.find(hostileFindings()...).show(hostileNode()).press("4") }},
	{"finding", nil, func(s *stage) { s.find(hungFindings()...).show(unhealthyNode()).press("4", "enter") }},
	{"finding-hostile", nil, func(s *stage) { s.find(hostileFindings()...).show(hostileNode()).press("4", "enter") }},
	{"finding-over", nil, func(s *stage) {
		s.find(hungFindings()...).show(unhealthyNode()).press("4", "j", "enter").find().end(hungFindings()[2]).show(healthyNode())
	}},
	{"sweep", nil, func(s *stage) { s.find(hungFindings()[:1]...).show(probed(sweepOf(120, true))) }},
	{"sweep-done", nil, func(s *stage) { s.show(withSweepOf(sweepOf(330, false))) }},
	{"sweep-refused", nil, func(s *stage) {
		s.show(withSweepOf(&engine.Sweep{Began: ago(time.Second), Ended: ago(time.Second), Refused: "Version has been out for 3s: the runtime is too slow for it"}))
	}},
	{"node", nil, func(s *stage) { s.show(nodeOf(healthyNode())).report(looked()).press("v") }},
	{"node-ill", nil, func(s *stage) { s.show(illNode()).report(lookedInVain()).press("v") }},
	{"node-unknown", demo, func(s *stage) { s.press("v") }},
	{"detail", nil, func(s *stage) {
		snap := healthyNode()
		s.show(snap, someEvents(snap)...).press("G", "k", "enter")
	}},
	{"help", nil, func(s *stage) { s.show(healthyNode()).press("?") }},
	{"filter-prompt", nil, func(s *stage) { s.show(healthyNode()).press("/", "s", "h", "o", "p", " ", "a", "g", "e", "<", "x") }},
	{"namespaces", nil, func(s *stage) { s.show(healthyNode()).press("n", "down", "space") }},
	{"raw", nil, func(s *stage) { s.show(healthyNode()).press("y").run() }},
	{"confirm", nil, func(s *stage) { s.show(bigNode(30, 1)).press("R") }},
	{"wide-names", nil, func(s *stage) { s.show(renamed(healthyNode(), "日本語のポッド-")) }},
	{"hostile", nil, func(s *stage) { s.show(hostileNode()).press("space") }},
}

func demo(c *Config) {
	c.Source = Source{Kind: "demo", Node: "demo-node", Endpoint: "unix:///tmp/plegtop-1/cri.sock"}
}

func TestGoldenFrames(t *testing.T) {
	for _, sc := range scenes {
		for _, size := range sizes {
			name := fmt.Sprintf("%s-%dx%d", sc.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				s := newStage(t, size.w, size.h, func(c *Config) {
					if sc.config != nil {
						sc.config(c)
					}
				})
				sc.play(s)
				frame := s.m.frame()
				checkFrame(t, frame, size.w, size.h)
				compareGolden(t, name, frame)
			})
		}
	}
}

func compareGolden(t *testing.T, name, frame string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
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
			for _, s := range []theme.Style{s, th.Selected.With(s), th.Idle.With(s)} {
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
			s := newStage(t, 80, 24, func(c *Config) {
				if sc.config != nil {
					sc.config(c)
				}
			})
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
