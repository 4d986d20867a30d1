package widget

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestAxisCells(t *testing.T) {
	a := &Axis{Width: time.Minute}
	a.Follow(noon.Add(700 * time.Millisecond))
	for _, tt := range []struct {
		w, i     int
		from, to time.Duration
	}{
		{60, 59, 0, time.Second},
		{60, 0, -59 * time.Second, -58 * time.Second},
		{20, 19, 0, 3 * time.Second},
		{20, 18, -3 * time.Second, 0},
		{120, 119, 0, 500 * time.Millisecond},
	} {
		from, to := a.Cell(tt.w, tt.i)
		if from.Sub(noon) != tt.from || to.Sub(noon) != tt.to {
			t.Errorf("cell %d of %d = %v to %v, want %v to %v", tt.i, tt.w, from.Sub(noon), to.Sub(noon), tt.from, tt.to)
		}
	}
}

// Whatever the width, a moment lies in the cell that Index says, the newest cell is the
// one of the present, and a cell that was there a while ago is there still.
func TestAxisIsSteady(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a := &Axis{Width: zooms[r.IntN(len(zooms))]}
		w := 1 + r.IntN(200)
		at := noon.Add(time.Duration(r.Int64N(int64(time.Hour))))
		a.Follow(at)
		i := r.IntN(w)
		from, to := a.Cell(w, i)
		for _, m := range []time.Time{from, from.Add(to.Sub(from) / 2), to.Add(-1)} {
			if got := a.Index(w, m); got != i {
				t.Fatalf("%v over %d cells: %v is in cell %d, want %d of %v to %v", a.Width, w, m, got, i, from, to)
			}
		}
		if a.Index(w, a.End) != w-1 || at.Sub(a.End) >= time.Second || at.Before(a.End) {
			t.Fatalf("%v over %d cells: the newest cell is not that of %v", a.Width, w, at)
		}
		a.Follow(at.Add(time.Duration(r.Int64N(int64(5 * time.Second)))))
		if j := a.Index(w, from); j >= 0 {
			if f, e := a.Cell(w, j); !f.Equal(from) || !e.Equal(to) {
				t.Fatalf("%v over %d cells: %v to %v has become %v to %v", a.Width, w, from, to, f, e)
			}
		}
	}
}

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
