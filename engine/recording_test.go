package engine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/frozen"
	"github.com/plegtop/plegtop/engine/pleg"
)

// readAgain returns a log as it is after it was written down and read again.
func readAgain(t *testing.T, log []logged) []logged {
	t.Helper()
	w, r := frozen.NewWriter(nil), frozen.NewReader(1<<30)
	read := make([]logged, len(log))
	for i, l := range log {
		rest, err := frozen.Read(r, frozen.Append(w, nil, &l), &read[i])
		if err != nil || len(rest) > 0 {
			t.Fatalf("%T: %v, %d bytes are left", l.in, err, len(rest))
		}
	}
	return read
}

// withoutReadings returns a log whose times have no monotonic reading, as those of JSON.
func withoutReadings(t *testing.T, log []logged) []logged {
	t.Helper()
	read := make([]logged, len(log))
	for i, l := range log {
		value := reflect.New(reflect.TypeOf(l.in))
		in, err := json.Marshal(l.in)
		if err == nil {
			err = json.Unmarshal(in, value.Interface())
		}
		if err != nil {
			t.Fatal(err)
		}
		read[i] = logged{at: l.at.Round(0), in: value.Elem().Interface().(Input)}
	}
	return read
}

// A replay is what a machine makes of a log.
type replay struct {
	works     []Work
	snapshots []*Snapshot // now and then
}

func replayed(t *testing.T, c Config, p answers.Policy, start time.Time, log []logged) (r replay) {
	t.Helper()
	m := newMachine(c, p, start)
	for i, l := range log {
		r.works = append(r.works, m.step(l.at, l.in))
		if i%50 == 0 {
			r.snapshots = append(r.snapshots, m.snapshot(l.at))
		}
	}
	return r
}

// same fails the test where two replays differ.
func (r replay) same(t *testing.T, log []logged, other replay) {
	t.Helper()
	sameError := cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
	compare := cmp.Options{sameError, cmp.AllowUnexported(reply{})}
	for i := range r.works {
		if diff := difference(r.works[i], other.works[i], compare); diff != "" {
			t.Fatalf("step %d, %T: work differs:\n%s", i, log[i].in, diff)
		}
	}
	for i := range r.snapshots {
		if diff := difference(r.snapshots[i], other.snapshots[i], compare); diff != "" {
			t.Fatalf("snapshot %d differs:\n%s", i, diff)
		}
	}
}

// A run whose times have a monotonic reading, as those of a clock have, is what its
// recording gives, whose times have none.
func TestNothingGoesByMonotonicReadings(t *testing.T) {
	start := time.Now()
	if start.String() == start.Round(0).String() {
		t.Fatal("the clock has no monotonic reading")
	}
	for seed := range uint64(3) {
		w := newWorldAt(t, start, seed, Config{Streams: worldStreams(), Mode: pleg.Mode(seed % 2)}, answers.Policy{})
		w.recorded(t, 1000)
	}
	once := newWorldAt(t, start, 1, Config{}, Examination{}.policy())
	once.recorded(t, 100)
}

// recorded lets so many things happen, and holds that the recording of it gives the same.
func (w *world) recorded(t *testing.T, steps int) replay {
	t.Helper()
	start := w.now
	for range steps {
		w.step(w.next(w.m.due()))
	}
	c, p := w.m.config, w.m.policy.Policy
	run := replayed(t, c, p, start, w.log)
	run.same(t, w.log, replayed(t, c, p, start, readAgain(t, w.log)))
	bare := withoutReadings(t, w.log)
	run.same(t, w.log, replayed(t, c, p, start.Round(0), bare))
	for i := range bare { // what was read, at the times of a clock
		bare[i].at = w.log[i].at
	}
	run.same(t, w.log, replayed(t, c, p, start, bare))
	run.same(t, w.log, thawed(t, c, p, start, w.log))
	return run
}

// thawed is what a machine makes of a log that is frozen now and then, and goes on as what
// was read.
func thawed(t *testing.T, c Config, p answers.Policy, start time.Time, log []logged) (r replay) {
	t.Helper()
	m := newMachine(c, p, start)
	for i, l := range log {
		if i%37 == 36 {
			again, rest, err := Thaw(m.Start(), frozen.NewReader(1<<30), m.Freeze(frozen.NewWriter(nil), nil))
			if err != nil || len(rest) > 0 {
				t.Fatalf("step %d: %v, %d bytes are left", i, err, len(rest))
			}
			m = again.machine
		}
		r.works = append(r.works, m.step(l.at, l.in))
		if i%50 == 0 {
			r.snapshots = append(r.snapshots, m.snapshot(l.at))
		}
	}
	return r
}

// BenchmarkFreeze is what a key frame costs the goroutine that relists, and what a seek costs
// before the first step; B/state is its size before compression.
func BenchmarkFreeze(b *testing.B) {
	for _, pods := range []int{110, 1000} {
		s := node(b, pods)
		s.relist()
		s.snapshot(s.now)
		state := s.machine.Freeze(frozen.NewWriter(nil), nil)
		b.Run(fmt.Sprintf("%dx3", pods), func(b *testing.B) {
			b.ReportMetric(float64(len(state)), "B/state")
			for b.Loop() {
				state = s.machine.Freeze(frozen.NewWriter(nil), state[:0]) // in another order each time
			}
		})
		b.Run(fmt.Sprintf("thaw/%dx3", pods), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Thaw(s.machine.Start(), frozen.NewReader(1<<30), state); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
