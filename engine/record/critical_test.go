package record

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// A file that is written only around what is critical has the 5 minutes before, all of it, and
// the 5 minutes after, of each time; and none of it twice.
func TestAFileOfWhatIsCritical(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	const begins, ends, again, over = 20 * time.Minute, 23 * time.Minute, 40 * time.Minute, 41 * time.Minute
	var start time.Time
	synctest.Test(t, func(t *testing.T) {
		start = time.Now()
		r := NewRecorder(Options{Critical: true})
		if err := r.WriteTo(path, 0); err != nil {
			t.Fatal(err)
		}
		n := newNode(5, 2)
		n.asked = func(call.Operation) {
			at := time.Since(start)
			if s := r.State(); at < begins-time.Minute && (!s.Waits || s.Written > 0) || at > begins+time.Minute && at < ends && !s.Writes() {
				t.Errorf("at %v: %+v", at, s)
			}
			r.Critical(time.Now(), at >= begins && at < ends || at >= again && at < over)
		}
		run{node: n, tape: r, changes: 1}.lasts(t, time.Hour)
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	all := playFile(t, path)
	var gaps [][2]time.Duration
	last := time.Duration(0)
	for _, s := range all {
		at := s.Snapshot.At.Sub(start)
		if at < last {
			t.Fatalf("%v comes after %v", at, last)
		}
		if at-last > 2*time.Second {
			gaps = append(gaps, [2]time.Duration{last, at})
		}
		last = at
	}
	const segment = segmentFor + 5*time.Second
	within := func(at, from, to time.Duration) bool { return at >= from && at <= to }
	if len(gaps) != 2 || !within(gaps[0][1], begins-around-segment, begins-around) ||
		!within(gaps[1][0], ends+around-5*time.Second, ends+around+5*time.Second) || !within(gaps[1][1], again-around-segment, again-around) ||
		!within(last, over+around-5*time.Second, over+around+5*time.Second) {
		t.Errorf("gaps %v, the end %v", gaps, last)
	}
}

// Without a ring, and where it begins at once, a file has what comes from then on.
func TestCriticalWithoutARing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	synctest.Test(t, func(t *testing.T) {
		r := NewRecorder(Options{Critical: true, Ring: -1})
		if err := r.WriteTo(path, 0); err != nil {
			t.Fatal(err)
		}
		n, start := newNode(5, 2), time.Now()
		n.asked = func(call.Operation) { r.Critical(time.Now(), time.Since(start) > time.Minute) }
		run{node: n, tape: r}.lasts(t, 2*time.Minute)
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	all := playFile(t, path)
	if span := all[len(all)-1].Snapshot.At.Sub(all[0].Snapshot.At); span < 55*time.Second || span > time.Minute {
		t.Errorf("it has %v", span)
	}
}

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
