package strip

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

func TestLatency(t *testing.T) {
	for _, tt := range []struct {
		th   theme.Theme
		want string
	}{{theme.Default(), "|          ░ ▒ ▓ █ ✕   ╱╱╱╱╱╱╱╱|"}, {theme.Default().Plain(), "|          . : + # x   ////////|"}} {
		v := viewAt(noon, tt.th)
		v.Started = at(29)
		took := map[int]time.Duration{10: time.Millisecond, 12: 200 * time.Millisecond, 14: 2 * time.Second, 16: time.Minute, 18: time.Millisecond}
		calls := answers.Calls{Op: call.Version, P50: time.Millisecond}
		for i := range 30 {
			if took[i] > 0 {
				n := answers.Second{At: at(29 - float64(i)), Slowest: took[i], Count: 1}
				if i == 18 {
					n.Errors = 1
				}
				calls.Seconds = append(calls.Seconds, n)
			}
		}
		v.Calls = []answers.Calls{calls}
		v.InFlight = []call.Flight{{Op: call.Version, Since: at(7)}}
		see(v)
		if got := drawn(v, 30, func(l *text.Line) { Latency(l, v, call.Version, 30) }); got != tt.want {
			t.Errorf("drew\n%s, want\n%s", got, tt.want)
		}
	}
}

// TestNames holds that the containers that a pod had are named as long as an event of the axis is
// about them, the one of the newest first, and no more of them than people name.
func TestNames(t *testing.T) {
	v := viewAt(noon, theme.Default())
	seq := uint64(0)
	happen := func(seen float64, names ...string) string {
		var all []engine.Event
		for _, name := range names {
			seq++
			e := happened(seq, seen, 0, pleg.Started, "c-"+name, pleg.Running)
			e.Pod, e.Container = web, name
			all = append(all, e)
		}
		see(v, all...)
		return strings.Join(Names(v, model.NewPod(&engine.Pod{PodRef: web}), []string{"app"}), " ")
	}
	outside := v.Axis.Width.Seconds() + 1
	if got := happen(outside, "old"); got != "app" {
		t.Errorf("before the axis: %s", got)
	}
	if got := happen(1, "a", "b", "", "a"); got != "app a b" {
		t.Errorf("of the axis: %s", got)
	}
	var many []string
	for i := range namesMost + 1 {
		many = append(many, fmt.Sprint(i))
	}
	want := slices.Clone(many[1:])
	slices.Reverse(want)
	if got := happen(0.5, many...); got != "app "+strings.Join(want, " ") {
		t.Errorf("of too many: %s", got)
	}
}

// The sheet of a pod has the scale, the sandbox, and each container, also one that is not
// listed any more.
func TestLanesOfAPod(t *testing.T) {
	v := viewAt(at(0.1), theme.Default())
	steady(v, 32.5, 0.5)
	p := status(pleg.ContainerStatus{State: pleg.Running, CreatedAt: at(20), StartedAt: at(20)})
	p.Current = &pleg.Pod{PodRef: web, Containers: []pleg.Container{{ID: "c0", Name: "app", State: pleg.Running}}}
	p.Status.Sandboxes = []pleg.SandboxStatus{{ID: "s", CreatedAt: at(25)}}
	init := removed(1, 9.5, "i")
	init.Container = "init"
	see(v, init)
	n, line := new(Story).Lanes(v, model.NewPod(p), 54)
	want := []string{
		"|                             -20s        -10s      now|",
		"|  sandbox               ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━|",
		"|  app                         ━━━━━━━━━━━━━━━━━━━━━━━━|",
		"|  init                                     −          |",
	}
	if n != len(want) {
		t.Fatalf("%d lines, want %d", n, len(want))
	}
	for i := range n {
		got := drawn(v, 54, func(l *text.Line) {
			for _, s := range line(i) {
				if s.Width > 0 {
					l.Cell(s.Style, s.Text, s.Width)
				} else {
					l.Put(s.Style, s.Text)
				}
			}
		})
		if got != want[i] {
			t.Errorf("line %d is\n%s, want\n%s", i, got, want[i])
		}
	}
}
