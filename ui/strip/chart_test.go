package strip

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// charted draws a chart of 15 columns of two seconds each, of calls that took so long each of
// which returned so many seconds before noon.
func charted(th theme.Theme, h int, took map[int]time.Duration, failed int, out ...call.Flight) []string {
	v := viewAt(noon, th)
	v.Started = at(29)
	calls := answers.Calls{Op: call.Version, P50: time.Millisecond}
	for i := range 30 {
		if d, made := took[29-i]; made {
			calls.Seconds = append(calls.Seconds, answers.Second{At: at(float64(29 - i)), Slowest: d, Count: 1})
			if 29-i == failed {
				calls.Seconds[len(calls.Seconds)-1].Errors = 1
			}
		}
	}
	v.Calls, v.InFlight = []answers.Calls{calls}, out
	see(v)
	var c Chart
	c.Read(v, call.Version, labelCells+15, h)
	var lines []string
	for y := range h + 1 {
		lines = append(lines, strings.TrimRight(drawn(v, labelCells+15, func(l *text.Line) { c.Draw(l, v.Pen(), y) }), " |"))
	}
	return lines
}

func TestChart(t *testing.T) {
	const now, ms = "|                   now", time.Millisecond
	quick := map[int]time.Duration{28: 0, 27: ms / 10, 24: ms, 20: 3 * ms, 19: 10 * ms, 12: 2 * ms}
	for name, tt := range map[string]struct {
		th     theme.Theme
		h      int
		took   map[int]time.Duration
		failed int
		out    []call.Flight
		want   []string
	}{
		"where all is well": {theme.Default(), 4, quick, -1, nil, []string{
			"|  10ms│    ⢀⡇", "|   1ms│  ⢠ ⢸⡇  ⢸", "| 0.1ms│⢀⡀⢸ ⢸⡇  ⢸", now, ""}},
		"a failure stands on top": {theme.Default(), 4, quick, 20, nil, []string{
			"|  10ms│    ✕⡇", "|   1ms│  ⢠ ⢸⡇  ⢸", "| 0.1ms│⢀⡀⢸ ⢸⡇  ⢸", now, ""}},
		"in ASCII": {theme.Default().Plain(), 4, quick, 12, nil, []string{
			"|  10ms|    .#", "|   1ms|  : ##  x", "| 0.1ms|..# ##  #", now, ""}},
		"what is out climbs": {theme.Default(), 5, quick, -1, []call.Flight{{Op: call.Version, Since: at(14)}}, []string{
			"|   30s│        ╱╱╱╱╱╱╱", "|    1s│       ╱╱╱╱╱╱╱╱", "|  10ms│    ⢀⡄ ╱╱╱╱╱╱╱╱", "|   1ms│⢀⡀⢰ ⢸⡇ ╱╱╱╱╱╱╱╱", now, ""}},
		"nothing was made": {theme.Default(), 3, nil, -1, nil, []string{"|  10ms│", "|   1ms│", now, ""}},
		"no room":          {theme.Default(), 1, quick, -1, nil, []string{"", ""}},
	} {
		if got := charted(tt.th, tt.h, tt.took, tt.failed, tt.out...); !slices.Equal(got, tt.want) {
			t.Errorf("%s: drew\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// A column has the look of how long its slowest call took, by the bounds that diagnosis has.
func TestChartIsGraded(t *testing.T) {
	v := viewAt(noon, theme.Default())
	v.Calls = []answers.Calls{{Op: call.Version, Seconds: []answers.Second{
		{At: at(15), Slowest: 900 * time.Millisecond, Count: 1}, {At: at(10), Slowest: time.Second, Count: 1}, {At: at(5), Slowest: 5 * time.Second, Count: 1},
	}}}
	see(v)
	var c Chart
	c.Read(v, call.Version, 40, 13)
	var l text.Line
	for y := range 12 {
		l.Begin(40)
		c.Draw(&l, v.Pen(), y)
	}
	for name, st := range map[string]theme.Style{"good": v.Theme.Good, "slow": v.Theme.Warn, "much too slow": v.Theme.Bad} {
		if !strings.Contains(string(l.Buf), st.On) {
			t.Errorf("nothing looks %s in %q", name, l.Buf)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		l.Buf = l.Buf[:0]
		for y := range 13 {
			l.Begin(40)
			c.Draw(&l, v.Pen(), y)
		}
	}); n != 0 {
		t.Errorf("drawing it costs %v allocations", n)
	}
}

// The legend has all signs that a chart uses, and cuts none.
func TestLegend(t *testing.T) {
	v := viewAt(noon, theme.Default())
	all := NewLegend(v.Pen())
	for w, want := range map[int]string{
		120: "|⣾ slowest call  ⣾ from 1s  ⣾ from 5s  ✕ failed  ╱ no answer yet    LATENCY  ░ <100ms  ▒ <1s  ▓ <10s  █ longer|",
		33:  "|⣾ slowest call  ⣾ from 1s|",
	} {
		got := strings.TrimRight(strings.TrimSuffix(drawn(v, w, func(l *text.Line) { all.Draw(l) }), "|"), " ") + "|"
		if got != want {
			t.Errorf("in %d cells\n%s, want\n%s", w, got, want)
		}
	}
}
