package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plegtop/plegtop/engine/call"
)

func TestSums(t *testing.T) {
	start := time.Unix(1000, 0)
	c := calls{sums: newSums(start), work: new(Work)}
	now := start
	for i := range 100 {
		c.want(now, callSpec{Flight: Flight{Op: call.Status}, timeout: time.Minute})
		c.advance(&machine{now: now})
		now = now.Add(time.Duration(i+1) * time.Millisecond)
		r := Returned{ID: CallID(i + 1), At: now, Trace: call.Trace{RequestBytes: 1, ResponseBytes: int64(i)}}
		switch i {
		case 98:
			r.Err = call.ErrorOf(call.Status, notFound(call.Status))
		case 99:
			r.Err = call.ErrorOf(call.Status, unavailable(call.Status))
		}
		c.returned(r)
	}
	want := Calls{
		Op: call.Status, Count: 100, Errors: 1, Gone: 1, ByCode: []CodeCount{{"Unavailable", 1}},
		P50: 50 * time.Millisecond, P90: 90 * time.Millisecond, P99: 99 * time.Millisecond, Max: 100 * time.Millisecond, Last: 100 * time.Millisecond,
		RequestBytes: 100, ResponseBytes: 4950, LastResponseBytes: 99,
		LastOK: start.Add(4950 * time.Millisecond), LastErr: call.ErrUnavailable, LastErrAt: start.Add(5050 * time.Millisecond),
	}
	about := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= b/100 })
	if diff := cmp.Diff(want, c.sums.read(now)[call.Status], about, cmpopts.IgnoreFields(Calls{}, "Seconds"), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestSecondsOfCalls(t *testing.T) {
	start := time.Unix(1000, 500)
	s := newSums(start)
	at := func(after time.Duration, took time.Duration, err error) {
		f := Flight{Op: call.Status, Since: start.Add(after - took)}
		s.leave(f, Returned{At: start.Add(after), Err: call.ErrorOf(f.Op, err)})
	}
	at(100*time.Millisecond, 20*time.Millisecond, nil)
	at(900*time.Millisecond, 70*time.Millisecond, unavailable(call.Status))
	if got := s.read(start.Add(950 * time.Millisecond))[call.Status].Seconds; got != nil {
		t.Errorf("a second that is not over shows: %v", got)
	}
	want := []Second{{start, 70 * time.Millisecond, 2, 1}}
	early := s.read(start.Add(time.Second))[call.Status].Seconds
	if diff := cmp.Diff(want, early); diff != "" {
		t.Errorf("when it is over (-want +got):\n%s", diff)
	}
	at(7*time.Second, time.Second, notFound(call.Status))
	want = append(want, Second{start.Add(7 * time.Second), time.Second, 1, 0})
	if diff := cmp.Diff(want, s.read(start.Add(8 * time.Second))[call.Status].Seconds); diff != "" {
		t.Errorf("with another second (-want +got):\n%s", diff)
	}
	at(7900*time.Millisecond, 2*time.Second, nil) // heard of when its second is over
	want = append(want, Second{start.Add(8 * time.Second), 2 * time.Second, 1, 0})
	if diff := cmp.Diff(want, s.read(start.Add(9 * time.Second))[call.Status].Seconds); diff != "" {
		t.Errorf("with a call that is heard of late (-want +got):\n%s", diff)
	}
	for i := range 2 * secondsKept {
		at(time.Duration(10+i)*time.Second, 0, nil)
	}
	if got := s.read(start.Add(time.Hour))[call.Status].Seconds; len(got) != secondsKept || got[0].Count != 1 || cmp.Diff(want[:1], early) != "" {
		t.Errorf("%d seconds are kept, want %d, and what was read before unchanged", len(got), secondsKept)
	}
}

func TestCodesAreBounded(t *testing.T) {
	var s operationSum
	for i := range 1000 {
		s.add(time.Now(), 0, &call.Error{Code: fmt.Sprint("Code(", i, ")")})
	}
	sum := s.read()
	if len(sum.ByCode) != maxCodes+1 || sum.ByCode[0] != (CodeCount{"Other", 1000 - maxCodes}) {
		t.Errorf("%d codes, first %v", len(sum.ByCode), sum.ByCode[0])
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
	for i := range 7 {
		r.add(Event{Seq: uint64(i + 1)})
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
