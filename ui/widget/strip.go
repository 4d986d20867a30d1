package widget

import (
	"time"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// Strip draws w cells of time, the newest at the right. Each shows what look returns for
// its time: a symbol of one cell, or nothing.
func Strip(l *text.Line, a *Axis, w int, look func(from, to time.Time) (symbol string, st theme.Style)) {
	w = min(w, l.Left())
	if w <= 0 {
		return
	}
	from, to := a.Cell(w, 0)
	for d := to.Sub(from); w > 0; w-- {
		symbol, st := look(from, to)
		l.Sign(st, symbol)
		from, to = to, to.Add(d)
	}
}

// barSteps are the times at which a bar grows by one: by factors of about three, always
// the same, so that a bar means the same on every node and does not change when a slower
// one comes. What is quicker than the first is all alike: it is well.
var barSteps = [...]time.Duration{
	30 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond,
	time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second,
}

// ShadeSteps are the times at which a shade becomes darker.
var ShadeSteps = [...]time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second}

// Height returns a bar as high as d is long, by a logarithmic scale.
func (p Pen) Height(d time.Duration) string { return p.Symbols.Spark[step(barSteps[:], d)] }

// Shade returns a cell that is the darker the longer d is.
func (p Pen) Shade(d time.Duration) string { return p.Symbols.Shades[step(ShadeSteps[:], d)] }

// step returns how many of the steps d has reached.
func step(steps []time.Duration, d time.Duration) int {
	n := 0
	for n < len(steps) && d >= steps[n] {
		n++
	}
	return n
}

// Meets reports whether any of the time from began until ended lies in a cell. A moment
// is a span that ends where it begins.
func Meets(began, ended, from, to time.Time) bool {
	return began.Before(to) && (ended.After(from) || ended.Equal(from) && began.Equal(from))
}
