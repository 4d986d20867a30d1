package record

import (
	"slices"
	"time"
	"unsafe"

	"github.com/plegtop/plegtop/engine"
)

// A clock turns moments of an engine's clock into the time since the engine's start, and back.
// That time is monotonic. The wall clock is not, so the recorder writes down when it was set. A
// replay shows the recorded wall clock and still measures the recorded durations.
type clock struct {
	start time.Time
	steps []step
}

// A step says, from a moment on, how far the wall clock is ahead of its start plus the time
// since the start.
type step struct{ After, By time.Duration }

// since returns the time since the start. If the wall clock was set, it also returns how far
// that clock is ahead from now on; else nil.
func (c *clock) since(at time.Time) (d time.Duration, ahead *time.Duration) {
	d = at.Sub(c.start)
	by := at.Round(0).Sub(c.start.Round(0)) - d
	if (by - c.ahead(d)).Abs() < engine.LeastStep {
		return d, nil
	}
	c.steps = append(slices.Clip(c.steps), step{d, by})
	return d, &by
}

// ahead returns how far the wall clock was ahead at d after the start.
func (c *clock) ahead(d time.Duration) (by time.Duration) {
	for _, s := range c.steps {
		if s.After <= d {
			by = s.By
		}
	}
	return by
}

// at returns the moment at d after the start, with a monotonic reading.
func (c *clock) at(d time.Duration) time.Time {
	return withReading(time.Unix(0, c.start.UnixNano()).Add(d+c.ahead(d)), int64(d))
}

// epoch stands for the start of the engine in a recorded value. A time of the engine's clock is
// written as epoch plus the time since the start; no other clock shows a year before 1500.
var (
	epoch   = time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)
	earlier = time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)
)

// written returns a time as it stands in a recording. Only the engine's own times have a
// monotonic reading.
func (c *clock) written(t time.Time) time.Time {
	switch {
	case measured(t):
		return epoch.Add(t.Sub(c.start))
	case t.Before(earlier) || t.Year() > 9999: // no real time; CBOR's form has four digits for the year
		return time.Time{}
	}
	return t
}

// read undoes written.
func (c *clock) read(t time.Time) time.Time {
	if t.IsZero() || !t.Before(earlier) {
		return t
	}
	return c.at(t.Sub(epoch))
}

// goTime is a time.Time as Go keeps it (package time, since Go 1.9): a time with a monotonic
// reading has the highest bit of wall set, then 33 bits of seconds since 1885 and 30 bits of
// nanoseconds, and the reading in ext. There is no other way to make a time whose wall clock was
// set after the reading began. TestReadingsAreGos fails if Go changes this.
type goTime struct {
	wall uint64
	ext  int64
	loc  *time.Location
}

const (
	hasReading     = 1 << 63
	secondsTo1885  = -2682288000 // from 1970
	nanosecondBits = 30
)

// measured reports whether a time has a monotonic reading.
func measured(t time.Time) bool { return (*goTime)(unsafe.Pointer(&t)).wall&hasReading != 0 }

// withReading returns t with a monotonic reading; t itself if Go keeps none for such a year.
func withReading(t time.Time, reading int64) time.Time {
	seconds := t.Unix() - secondsTo1885
	if seconds < 0 || seconds >= 1<<33 {
		return t
	}
	t = t.Round(0)
	g := (*goTime)(unsafe.Pointer(&t))
	g.wall = hasReading | uint64(seconds)<<nanosecondBits | uint64(t.Nanosecond())
	g.ext = reading
	return t
}
