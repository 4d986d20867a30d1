package frozen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
	"unsafe"
)

var errCut = fault{fmt.Errorf("cut off: %w", io.ErrUnexpectedEOF)}

func (r *Reader) byte() byte { return r.bytes(1)[0] }

func (r *Reader) bytes(n int) []byte {
	if n > len(r.in) {
		panic(errCut)
	}
	b := r.in[:n]
	r.in = r.in[n:]
	return b
}

func (r *Reader) number() uint64 {
	n, took := binary.Uvarint(r.in)
	return r.took(n, took)
}

func (r *Reader) signed() int64 {
	n, took := binary.Varint(r.in)
	r.took(0, took)
	return n
}

func (r *Reader) took(n uint64, took int) uint64 {
	if took < 0 {
		panic(fault{errors.New("a number is too large")})
	}
	if took == 0 {
		panic(errCut)
	}
	r.in = r.in[took:]
	return n
}

// length returns how many things follow that take so many bytes each at least.
func (r *Reader) length(least int) int {
	n := r.number()
	if n > uint64(len(r.in)/least) {
		panic(errCut)
	}
	return int(n)
}

// present returns how many elements follow, and false for nil.
func (r *Reader) present(least int) (int, bool) {
	n := r.number()
	if n == 0 {
		return 0, false
	}
	if n-1 > uint64(len(r.in)/least) {
		panic(errCut)
	}
	return int(n - 1), true
}

func (r *Reader) octets() []byte {
	n, ok := r.present(1)
	if !ok {
		return nil
	}
	r.spend(n, 1)
	return append(make([]byte, 0, n), r.bytes(n)...)
}

func (r *Reader) text() string {
	n := r.number()
	if n&1 == 1 {
		s := r.string(n >> 1)
		if kept(s) && len(r.texts) < mostTexts {
			r.texts = append(r.texts, s)
		}
		return s
	}
	if n == 0 {
		return ""
	}
	if n/2-1 >= uint64(len(r.texts)) {
		fail("text %d is not there", n/2-1)
	}
	return r.texts[n/2-1]
}

func (r *Reader) literal() string { return r.string(r.number() >> 1) }

func (r *Reader) string(n uint64) string {
	if n > uint64(len(r.in)) {
		panic(errCut)
	}
	r.spend(int(n), 1)
	return string(r.bytes(int(n)))
}

func (r *Reader) moment() time.Time {
	form := r.byte()
	if form&isZero != 0 {
		return time.Time{}
	}
	var t time.Time
	reading, has := int64(0), form&hasReading != 0
	if form&isFar != 0 {
		t = time.Unix(r.signed(), int64(r.number()%1e9)).UTC()
	} else {
		ran := r.signed()
		last := r.clock.last(has)
		*last += ran
		t = time.Unix(0, *last).UTC()
		if has {
			r.clock.monotonic += r.signed() + ran
			reading = r.clock.monotonic
		}
	}
	if form&isUTC == 0 {
		t = r.clock.inZone(t, int(r.signed()%(24*3600)))
	}
	if has {
		t = withMonotonic(t, reading)
	}
	return t
}

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
