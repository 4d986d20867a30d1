package widget

import (
	"bytes"
	"slices"
	"time"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// zooms are the widths that an axis can have.
var zooms = []time.Duration{
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
}

// An Axis is the scale of time that all strips share: its newest cell is at the right.
// It moves on by whole cells that begin at round times, so that a cell keeps what it
// shows while it moves, and at most once a second.
type Axis struct {
	End   time.Time     // within the newest cell
	Width time.Duration // of all cells together
}

// NewAxis returns an axis of two minutes. It has no time yet.
func NewAxis() *Axis { return &Axis{Width: 2 * time.Minute} }

// Follow moves the axis on to a moment.
func (a *Axis) Follow(at time.Time) { a.End = floor(at, time.Second) }

// Zoom has the axis show more time by so many steps, or less of it if they are negative,
// and reports whether it could.
func (a *Axis) Zoom(by int) bool {
	i, _ := slices.BinarySearch(zooms, a.Width)
	j := min(max(i+by, 0), len(zooms)-1)
	a.Width = zooms[j]
	return i != j
}

// PerCell returns how much time each of w cells shows.
func (a *Axis) PerCell(w int) time.Duration {
	return max(a.Width/time.Duration(max(w, 1)), time.Millisecond)
}

// Cell returns what time cell i of w shows: from its beginning up to, and without, its
// end. Cell 0 is the oldest; one beyond w is in the future.
func (a *Axis) Cell(w, i int) (from, to time.Time) {
	d := a.PerCell(w)
	from = floor(a.End, d).Add(time.Duration(i-w+1) * d)
	return from, from.Add(d)
}

// Index returns which of w cells shows a moment: less than 0 for one before the
// oldest, w and more for one after the newest.
func (a *Axis) Index(w int, at time.Time) int {
	oldest, _ := a.Cell(w, 0)
	d, since := a.PerCell(w), at.Sub(oldest)
	i := int(since / d)
	if since < 0 && since%d != 0 {
		i--
	}
	return i
}

// floor returns the last moment before at, or at itself, that is round by the clock. It
// keeps the monotonic reading, which Truncate takes away.
func floor(at time.Time, d time.Duration) time.Time {
	return at.Add(at.Truncate(d).Sub(at))
}

// marks are the distances that marks on a scale may have.
var marks = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
}

// apart returns the least distance of marks with so many cells between two.
func (a *Axis) apart(w, cells int) time.Duration {
	least := time.Duration(cells) * a.PerCell(w)
	for _, d := range marks {
		if d >= least {
			return d
		}
	}
	return a.Width
}

// Ago returns how long ago cells of w are, where that is a round time: a mark begins at
// its cell. It is plain ASCII and does not change while the axis moves.
func (a *Axis) Ago(w int) string {
	line := blank(w)
	apart := a.apart(w, 10)
	place(line, w-len("now"), "now")
	for ago := apart; ago < a.Width; ago += apart {
		place(line, w-1-int(ago/a.PerCell(w)), "-"+text.Age(ago))
	}
	return string(line)
}

// Clock is [Axis.Ago] with times of day.
func (a *Axis) Clock(w int) string {
	line := blank(w)
	apart := a.apart(w, 14)
	layout := theme.When(apart < time.Minute, "15:04:05", "15:04")
	_, end := a.Cell(w, w-1)
	for at := floor(end, apart); ; at = at.Add(-apart) {
		i := a.Index(w, at)
		if i < 0 {
			return string(line)
		}
		place(line, i, at.Local().Format(layout))
	}
}

func blank(w int) []byte { return bytes.Repeat([]byte(" "), max(w, 0)) }

// place writes a mark, or leaves it out where there is no room.
func place(line []byte, at int, mark string) {
	if at >= 0 && at+len(mark) <= len(line) {
		copy(line[at:], mark)
	}
}

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
