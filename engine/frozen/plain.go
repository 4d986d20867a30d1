package frozen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
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
