package widget

import (
	"slices"
	"time"
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
