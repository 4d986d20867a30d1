package record

import (
	"testing"
	"testing/synctest"
	"time"
)

// A ring keeps the time that it is to keep, and a segment more, and so many bytes.
func TestRingBounds(t *testing.T) {
	for _, tt := range []struct {
		name        string
		o           Options
		least, most time.Duration
		bytes       int64
	}{
		{"time", Options{Ring: 10 * time.Minute}, 10 * time.Minute, 10*time.Minute + segmentFor + time.Second, RingBytes},
		{"bytes", Options{Ring: 10 * time.Hour, Bytes: 100 << 10, Segments: time.Minute}, time.Minute, 59 * time.Minute, 200 << 10},
		{"none", Options{Ring: -1}, 0, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := NewRecorder(tt.o)
			run{node: newNode(5, 2), tape: r, changes: 1}.lasts(t, time.Hour)
			s := r.State()
			if s.Span < tt.least || s.Span > tt.most || s.Kept > tt.bytes || s.Ended != "" {
				t.Errorf("%s: %+v", tt.name, s)
			}
			if all, err := play(r.Recording()); err != nil || len(all) == 0 != (tt.most == 0) {
				t.Errorf("%s: %d moments, %v", tt.name, len(all), err)
			}
		})
	}
}
