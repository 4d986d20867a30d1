package answers

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// written returns a value after it was encoded and decoded again.
func written[T any](t *testing.T, v T) (read T) {
	t.Helper()
	b, err := encoding.Marshal(v)
	if err == nil {
		err = cbor.Unmarshal(b, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestErrorsInACheckpoint(t *testing.T) {
	at := time.Unix(1000, 123456789)
	late := &call.Error{Op: call.ContainerStatus, Kind: call.ErrDeadline, Code: "DeadlineExceeded", Text: "late", Why: call.Expired}
	f := call.Flight{By: call.BySweep, Op: call.ContainerStatus, Pod: pleg.PodRef{UID: "u", Namespace: "ns", Name: "web"}, Container: "app", ID: "1", Since: at.Add(-time.Second)}
	bad := Outcome{Flight: f, At: at, Took: time.Second, Err: late, InRow: 3}
	good := Outcome{Flight: f, At: at, Took: time.Second}
	sweep := &Sweep{Total: 3, Done: 2, Began: at, Width: 4, Timeout: 2 * time.Second, Hung: []Outcome{bad}, Slowest: []Outcome{good}, GivenUp: "why"}
	failed := &Failure{Flight: f, Err: late, At: at, First: at.Add(-time.Minute), InRow: 7}
	for _, diff := range []string{
		cmp.Diff(bad, written(t, bad)),
		cmp.Diff(good, written(t, good)),
		cmp.Diff(sweep, written(t, sweep)),
		cmp.Diff(failed, written(t, failed)),
	} {
		if diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	wrapped := *failed
	wrapped.Err = fmt.Errorf("inspect: %w", late)
	if got := written(t, wrapped); !errors.Is(got.Err, call.ErrDeadline) || got.InRow != 7 {
		t.Errorf("a wrapped error: %+v", got)
	}
	if got := written(t, (*Failure)(nil)); got != nil {
		t.Errorf("no failure became %+v", got)
	}
}

// Sums that were encoded and decoded go on as they would have.
func TestSumsInACheckpoint(t *testing.T) {
	start := time.Unix(1000, 500)
	was := NewSums(start)
	end := func(s *Sums, op call.Operation, after, took time.Duration, err error) {
		at := start.Add(after)
		s.Began(op)
		s.Ended(call.Flight{Op: op, ID: fmt.Sprint(after), Since: at.Add(-took)}, at, call.Trace{RequestBytes: 10, ResponseBytes: 1000}, err)
	}
	for i := range 50 {
		n := time.Duration(i)
		end(&was, call.ContainerStatus, n*100*time.Millisecond, n*time.Millisecond, nil)
		end(&was, call.Status, n*100*time.Millisecond, n*time.Millisecond, &call.Error{Op: call.Status, Kind: call.ErrUnavailable, Code: "Unavailable"})
	}
	was.Began(call.ListContainers)
	var read Sums
	read.Restore(written(t, was.State()))
	for range 2 {
		if diff := cmp.Diff(was.Read(start.Add(time.Minute)), read.Read(start.Add(time.Minute))); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		for _, s := range []*Sums{&was, &read} {
			end(s, call.Status, 5*time.Second, time.Hour, &call.Error{Op: call.Status, Kind: call.ErrUnavailable, Code: "Unavailable"})
			end(s, call.ContainerStatus, 5*time.Second, 7*time.Millisecond, nil)
		}
	}
	if read.FoundNobody() != 52 {
		t.Errorf("%d calls found nobody, want 52", read.FoundNobody())
	}
}
