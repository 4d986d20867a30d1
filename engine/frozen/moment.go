package frozen

import (
	"time"
	"unsafe"
)

// The parts of a time.Time as Go keeps them (package time, since Go 1.9): a time with a
// monotonic reading has the highest bit of wall set, then 33 bits of seconds since 1885 and 30
// of nanoseconds, and the reading in ext. There is no other way to make a time with both
// readings. TestMomentsAreGoTimes fails should Go change this.
type goTime struct {
	wall uint64
	ext  int64
	loc  *time.Location
}

const (
	hasMonotonic   = 1 << 63
	secondsIn1885  = 59453308800 // from year 1 to 1885
	secondsTo1970  = 62135596800 // from year 1 to 1970
	nanosecondBits = 30
)

// monotonic returns the monotonic reading of t in nanoseconds, and false if it has none.
func monotonic(t *time.Time) (int64, bool) {
	g := (*goTime)(unsafe.Pointer(t))
	return g.ext, g.wall&hasMonotonic != 0
}

// withMonotonic returns t, which has no monotonic reading, with that one; t itself if it is of
// a time in which Go keeps none.
func withMonotonic(t time.Time, reading int64) time.Time {
	seconds := t.Unix() + secondsTo1970 - secondsIn1885
	if seconds < 0 || seconds >= 1<<33 {
		return t
	}
	g := (*goTime)(unsafe.Pointer(&t))
	g.wall = hasMonotonic | uint64(seconds)<<nanosecondBits | uint64(t.Nanosecond())
	g.ext = reading
	return t
}

// The forms of a time in a stream, as bits of one byte.
const (
	isZero     = 1 << iota // nothing follows
	hasReading             // the monotonic one follows the wall clock's
	isUTC                  // else its offset follows
	isFar                  // of a year whose nanoseconds do not fit: seconds and nanoseconds follow
)

// A clock keeps the last times of a stream, one that has a monotonic reading and one that has
// none: a time is written as the difference to the one before, which is short.
type clock struct {
	wall      [2]int64 // of the last time without a reading, and of the last one with it
	monotonic int64
	zone      *time.Location // the last one that is neither UTC nor ours
	offset    int
}

// to returns how far a wall clock's time is from the last one of its form, and keeps it.
func (c *clock) to(reading bool, wall int64) (ran int64) {
	last := c.last(reading)
	ran, *last = wall-*last, wall
	return ran
}

func (c *clock) last(reading bool) *int64 {
	if reading {
		return &c.wall[1]
	}
	return &c.wall[0]
}

// inZone returns t, which is in UTC, where the clocks differ from UTC by so many seconds.
func (c *clock) inZone(t time.Time, offset int) time.Time {
	if local := t.Local(); offsetOf(local) == offset {
		return local
	}
	if c.zone == nil || c.offset != offset {
		c.zone, c.offset = time.FixedZone("", offset), offset
	}
	return t.In(c.zone)
}

func offsetOf(t time.Time) int {
	_, offset := t.Zone()
	return offset
}

func isNear(t time.Time) bool { y := t.Year(); return y >= 1700 && y <= 2250 }
