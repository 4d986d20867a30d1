package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plegtop/plegtop/engine/call"
)

func TestLedgerSums(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(newClock(Config{Speed: 1}))
		start := time.Now()
		for i := range 100 {
			f, err := l.enter(t.Context(), Flight{Op: call.Status})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(i+1) * time.Millisecond)
			if i == 99 {
				err = unavailable(call.Status)
			}
			l.leave(f, call.Trace{RequestBytes: 1, ResponseBytes: int64(i)}, err)
		}
		_, calls, _ := l.read()
		want := Calls{
			Op: call.Status, Count: 100, Errors: 1, ByCode: []CodeCount{{"Unavailable", 1}},
			P50: 50 * time.Millisecond, P90: 90 * time.Millisecond, P99: 99 * time.Millisecond, Max: 100 * time.Millisecond, Last: 100 * time.Millisecond,
			RequestBytes: 100, ResponseBytes: 4950, LastResponseBytes: 99,
			LastOK: start.Add(4950 * time.Millisecond), LastErr: call.ErrUnavailable, LastErrAt: start.Add(5050 * time.Millisecond),
		}
		about := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= b/100 })
		if diff := cmp.Diff(want, calls[call.Status], about, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestLedgerKeepsLikeCallsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(newClock(Config{Speed: 1}))
		first, _ := l.enter(t.Context(), Flight{Op: call.ContainerStatus, ID: "a"})
		if _, err := l.enter(t.Context(), Flight{Op: call.ContainerStatus, ID: "b"}); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { l.leave(first, call.Trace{}, nil) })
		began := time.Now()
		if _, err := l.enter(t.Context(), Flight{Op: call.ContainerStatus, ID: "a"}); err != nil || time.Since(began) != time.Second {
			t.Errorf("entered after %v, %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.enter(ctx, Flight{Op: call.ContainerStatus, ID: "a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("enter returned %v", err)
		}
		flights, calls, _ := l.read()
		if len(flights) != 2 || flights[0].ID != "b" || calls[call.ContainerStatus].InFlight != 2 {
			t.Errorf("in flight = %+v", flights)
		}
	})
}

func TestCodesAreBounded(t *testing.T) {
	var s operationSum
	for i := range 1000 {
		s.add(time.Now(), 0, &call.Error{Code: fmt.Sprint("Code(", i, ")")})
	}
	sum := s.sum()
	if len(sum.ByCode) != maxCodes+1 || sum.ByCode[0] != (CodeCount{"Other", 1000 - maxCodes}) {
		t.Errorf("%d codes, first %v", len(sum.ByCode), sum.ByCode[0])
	}
}

func TestDurations(t *testing.T) {
	var d durations
	if a, b, c := d.quantiles(); a != 0 || b != 0 || c != 0 {
		t.Errorf("quantiles of nothing = %v, %v, %v", a, b, c)
	}
	d.add(-time.Second)
	d.add(5 * time.Hour)
	if _, _, p99 := d.quantiles(); d.max != 5*time.Hour || p99 < longest || p99 > longest*101/100 {
		t.Errorf("max %v, p99 %v", d.max, p99)
	}
}

func TestMeter(t *testing.T) {
	start := time.Unix(1000, 0)
	m := meter{began: start}
	if c := m.cost(start.Add(time.Millisecond)); c != (Cost{}) {
		t.Errorf("cost in the first second = %+v", c)
	}
	for i := range 60 {
		m.add(start.Add(time.Duration(i)*500*time.Millisecond), 10)
		if i == 3 {
			if c := m.cost(start.Add(2 * time.Second)); c != (Cost{2, 20}) {
				t.Errorf("cost after two seconds = %+v", c)
			}
		}
	}
	if c := m.cost(start.Add(29900 * time.Millisecond)); c != (Cost{2, 20}) {
		t.Errorf("cost = %+v, want the present second left out", c)
	}
	if c := m.cost(start.Add(30 * time.Second)); c != (Cost{2, 20}) {
		t.Errorf("cost = %+v, want 2 calls and 20 bytes", c)
	}
	if c := m.cost(start.Add(35 * time.Second)); c != (Cost{1, 10}) {
		t.Errorf("cost five idle seconds later = %+v, want half", c)
	}
	if c := m.cost(start.Add(time.Hour)); c != (Cost{}) {
		t.Errorf("cost after an idle hour = %+v", c)
	}
}

func TestRing(t *testing.T) {
	r := ring{size: 3}
	if events, lost := r.between(0, 0); events != nil || lost != 0 {
		t.Errorf("an empty ring has %v, lost %d", events, lost)
	}
	for range 7 {
		r.add(Event{})
	}
	tests := []struct {
		after, upto uint64
		first       uint64
		n           int
		lost        uint64
	}{
		{0, 7, 5, 3, 4}, {4, 7, 5, 3, 0}, {5, 7, 6, 2, 0}, {7, 7, 0, 0, 0},
		{0, 6, 5, 2, 4}, {1, 3, 0, 0, 2}, {6, 3, 0, 0, 0},
	}
	for _, tt := range tests {
		events, lost := r.between(tt.after, tt.upto)
		if len(events) != tt.n || lost != tt.lost || tt.n > 0 && events[0].Seq != tt.first {
			t.Errorf("between(%d, %d) = %v, lost %d", tt.after, tt.upto, events, lost)
		}
	}
}
