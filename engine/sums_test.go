package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

func TestSums(t *testing.T) {
	start := time.Unix(1000, 0)
	c := calls{sums: answers.NewSums(start), work: new(Work)}
	now := start
	for i := range 100 {
		c.want(now, callSpec{Flight: call.Flight{Op: call.Status}, timeout: time.Minute})
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
	want := answers.Calls{
		Op: call.Status, Count: 100, Errors: 1, Gone: 1, ByCode: []answers.CodeCount{{Code: "Unavailable", Count: 1}},
		P50: 50 * time.Millisecond, P90: 90 * time.Millisecond, P99: 99 * time.Millisecond, Max: 100 * time.Millisecond, Last: 100 * time.Millisecond,
		RequestBytes: 100, ResponseBytes: 4950, LastResponseBytes: 99,
		LastOK: start.Add(4950 * time.Millisecond), LastErr: call.ErrUnavailable, LastErrAt: start.Add(5050 * time.Millisecond),
	}
	for i := range 100 {
		want.Histogram.Add(time.Duration(i+1) * time.Millisecond)
	}
	about := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= b/100 })
	if diff := cmp.Diff(want, c.sums.Read(now)[call.Status], about, cmpopts.IgnoreFields(answers.Calls{}, "Seconds", "Took"), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
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
