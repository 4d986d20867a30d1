package widget

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestAxisMovesAtMostOnceASecond(t *testing.T) {
	a := &Axis{Width: 10 * time.Second}
	moved := 0
	var last time.Time
	for at := noon; at.Before(noon.Add(10 * time.Second)); at = at.Add(100 * time.Millisecond) {
		a.Follow(at)
		if _, to := a.Cell(100, 99); !to.Equal(last) {
			moved, last = moved+1, to
		}
	}
	if moved != 10 {
		t.Errorf("moved %d times in 10s, want 10", moved)
	}
}

func TestAxisZoom(t *testing.T) {
	a := NewAxis()
	for a.Zoom(-2) {
	}
	if a.Width != 10*time.Second {
		t.Errorf("narrowest is %v", a.Width)
	}
	for a.Zoom(1) {
	}
	if a.Width != 30*time.Minute {
		t.Errorf("widest is %v, want half an hour", a.Width)
	}
}

func TestStrip(t *testing.T) {
	a := &Axis{Width: 8 * time.Second}
	a.Follow(noon)
	th := theme.Default()
	for _, tt := range []struct {
		th   theme.Theme
		want string
	}{{th, "  ▁▂▄▅▆█"}, {th.Plain(), "  _.-=+#"}} {
		p := Pen{Theme: &tt.th, At: noon}
		var l text.Line
		l.Begin(10)
		took := []time.Duration{0, 0, 29 * time.Millisecond, 30 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, time.Minute}
		i := -1
		Strip(&l, a, 8, func(from, to time.Time) (string, theme.Style) {
			if i++; took[i] == 0 {
				return "", theme.Style{}
			}
			return p.Height(took[i]), theme.Style{}
		})
		if string(l.Buf) != tt.want || l.Left() != 2 {
			t.Errorf("drew %q, want %q", l.Buf, tt.want)
		}
	}
}

func TestShade(t *testing.T) {
	th := theme.Default()
	p := Pen{Theme: &th}
	got := p.Shade(0) + p.Shade(100*time.Millisecond) + p.Shade(time.Second) + p.Shade(time.Minute)
	if got != "░▒▓█" {
		t.Errorf("shades %q", got)
	}
}
