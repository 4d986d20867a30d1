package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
	{"hung-inspect", nil, func(s *stage) { s.show(hungNode()) }},
	{"unhealthy", nil, func(s *stage) { s.show(unhealthyNode()) }},
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
		s.send(updateMsg(engine.Update{Snapshot: snap, Lost: 17}))
	}},
	{"events-wrapped", nil, func(s *stage) {
		snap := healthyNode()
		s.show(snap, someEvents(snap)...).press("2", "w", "t", "t")
	}},
	{"calls", nil, func(s *stage) { s.show(hungNode()).press("3") }},
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

func hungNode() *engine.Snapshot {
	s := healthyNode()
	p := find(s, "nfs-client")
	s.Health.ListedAt, s.Health.SettledAt = ago(47*time.Second), ago(49*time.Second)
	s.Phase = engine.Phase{Step: engine.Inspecting, Began: ago(47 * time.Second), ListTook: 12 * time.Millisecond, Done: 3, Total: 17}
	s.InFlight = []engine.Flight{{Op: call.ContainerStatus, Pod: p.PodRef, Container: "app", ID: p.Current.Containers[0].ID, Since: ago(47 * time.Second)}}
	s.Calls[5].InFlight = 1
	return s
}

func unhealthyNode() *engine.Snapshot {
	s := hungNode()
	s.Health = engine.Health{
		Verdict:  "pleg was last seen active 3m12.481s ago; threshold is 3m0s",
		ListedAt: ago(192481 * time.Millisecond), SettledAt: ago(194 * time.Second), Since: ago(12 * time.Second), Flips: 3,
	}
	s.Phase.Began, s.InFlight[0].Since = ago(192*time.Second), ago(72*time.Second)
	p := find(s, "nfs-client")
	p.Status, p.StatusErr, p.Failures, p.FailingSince, p.Reinspect = nil, errHung, 2, ago(100*time.Second), true
	s.Calls[5].Errors, s.Calls[5].ByCode, s.Calls[5].LastErr, s.Calls[5].LastErrAt = 2, []engine.CodeCount{{Code: "DeadlineExceeded", Count: 2}}, errHung, ago(72*time.Second)
	s.Channel.Discarded, s.Channel.Len = 12, 1000
	s.Anomalies.NoMetadata = 3
	return s
}

func failingNode() *engine.Snapshot {
	s := healthyNode()
	s.Health.ListedAt, s.Health.SettledAt = ago(104*time.Second), ago(104*time.Second)
	s.Failure = &engine.Failure{Flight: engine.Flight{Op: call.ListPodSandbox}, Err: fmt.Errorf("list pods: %w", errRefused), At: ago(time.Second), First: ago(103 * time.Second), InRow: 101}
	s.StatusErr = &engine.Failure{Flight: engine.Flight{Op: call.Status}, Err: errRefused, At: ago(time.Second), First: ago(time.Second), InRow: 1}
	s.Conditions = []pleg.Condition{{Type: "NetworkReady", Reason: "NetworkPluginNotReady", Message: "cni plugin not initialized"}}
	s.Relists.Failed = 101
	for i := range 60 {
		s.Relists.History[60+i].Failed = true
	}
	s.Calls[2].Errors, s.Calls[2].ByCode, s.Calls[2].LastErr, s.Calls[2].LastErrAt = 101, []engine.CodeCount{{Code: "Unavailable", Count: 101}}, errRefused, ago(time.Second)
	return s
}

func renamed(s *engine.Snapshot, prefix string) *engine.Snapshot {
	for _, p := range s.Pods {
		p.Name = prefix + p.Name
	}
	return s
}

const nasty = "a\x1b[31mX\x1b]0;own\x07\u009b2J\x9b3m\r\n\tb\u202Egnp\u200B\x7f\xff\u2066"

// hostileNode has hostile text in every field that a runtime fills.
func hostileNode() *engine.Snapshot {
	s := unhealthyNode()
	long := nasty + strings.Repeat("日", 4000)
	s.Version = pleg.Version{RuntimeName: nasty, RuntimeVersion: nasty, APIVersion: nasty}
	s.Health.Verdict = nasty
	s.Conditions = []pleg.Condition{{Type: "NetworkReady", Reason: nasty, Message: long}}
	s.Failure = &engine.Failure{Flight: engine.Flight{Pod: pleg.PodRef{Name: nasty}, Container: nasty}, Err: &call.Error{Code: nasty, Text: long, Kind: call.ErrOther}, InRow: 3, First: ago(time.Minute)}
	for i, p := range s.Pods {
		p.PodRef = pleg.PodRef{UID: pleg.UID(fmt.Sprint(i, nasty)), Namespace: nasty, Name: nasty + p.Name}
		if i%2 == 1 {
			p.Name = long
		}
		for j := range p.Current.Containers {
			c := &p.Current.Containers[j]
			c.Name, c.Image, c.ID = nasty, long, fmt.Sprint(j, nasty)
		}
		for j := range p.Current.Sandboxes {
			p.Current.Sandboxes[j].ID = fmt.Sprint(j, "s", nasty)
		}
		if p.Status != nil {
			for j := range p.Status.Containers {
				st := &p.Status.Containers[j]
				st.ID, st.Name, st.Reason, st.Message, st.Image = fmt.Sprint(j, nasty), nasty, nasty, long, long
			}
			p.Status.IPs = []string{nasty}
		}
		if p.StatusErr != nil {
			p.StatusErr = &call.Error{Code: nasty, Text: long, Kind: call.ErrOther}
		}
		p.LastEvent.Pod, p.LastEvent.Container = p.PodRef, nasty
	}
	s.InFlight[0].Pod, s.InFlight[0].Container, s.InFlight[0].ID = s.Pods[0].PodRef, nasty, nasty
	for i := range s.Calls {
		s.Calls[i].ByCode = []engine.CodeCount{{Code: nasty, Count: 3}}
		s.Calls[i].Errors, s.Calls[i].LastErr = 3, s.Failure.Err
	}
	return s
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
		for _, s := range th.Styles() {
			if s.On != "" {
				out = append(out, s.On, "")
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
