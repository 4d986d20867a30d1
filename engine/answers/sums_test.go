package answers

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestSecondsOfCalls(t *testing.T) {
	start := time.Unix(1000, 500)
	s := NewSums(start)
	at := func(after time.Duration, took time.Duration, err error) {
		f := call.Flight{Op: call.Status, Since: start.Add(after - took)}
		s.Ended(f, start.Add(after), call.Trace{}, err)
	}
	at(100*time.Millisecond, 20*time.Millisecond, nil)
	at(900*time.Millisecond, 70*time.Millisecond, call.ErrUnavailable)
	if got := s.Read(start.Add(950 * time.Millisecond))[call.Status].Seconds; got != nil {
		t.Errorf("a second that is not over shows: %v", got)
	}
	want := []Second{{start, 70 * time.Millisecond, 2, 1}}
	early := s.Read(start.Add(time.Second))[call.Status].Seconds
	if diff := cmp.Diff(want, early); diff != "" {
		t.Errorf("when it is over (-want +got):\n%s", diff)
	}
	at(7*time.Second, time.Second, call.ErrNotFound)
	want = append(want, Second{start.Add(7 * time.Second), time.Second, 1, 0})
	if diff := cmp.Diff(want, s.Read(start.Add(8 * time.Second))[call.Status].Seconds); diff != "" {
		t.Errorf("with another second (-want +got):\n%s", diff)
	}
	at(7900*time.Millisecond, 2*time.Second, nil) // heard of when its second is over
	want = append(want, Second{start.Add(8 * time.Second), 2 * time.Second, 1, 0})
	if diff := cmp.Diff(want, s.Read(start.Add(9 * time.Second))[call.Status].Seconds); diff != "" {
		t.Errorf("with a call that is heard of late (-want +got):\n%s", diff)
	}
	for i := range 2 * secondsKept {
		at(time.Duration(10+i)*time.Second, 0, nil)
	}
	if got := s.Read(start.Add(time.Hour))[call.Status].Seconds; len(got) != secondsKept || got[0].Count != 1 || cmp.Diff(want[:1], early) != "" {
		t.Errorf("%d seconds are kept, want %d, and what was read before unchanged", len(got), secondsKept)
	}
}

// Kubelets up to 1.35 list a pod again before each inspection. The size of the list of all,
// which may near its limit, is known all the same.
func TestSizeOfAListIsThatOfAllPods(t *testing.T) {
	at := time.Unix(1000, 0)
	s := NewSums(at)
	s.Ended(call.Flight{Op: call.ListContainers}, at, call.Trace{ResponseBytes: 15 << 20}, nil)
	s.Ended(call.Flight{Op: call.ListContainers, Pod: pleg.PodRef{UID: "a"}}, at, call.Trace{ResponseBytes: 900}, nil)
	if got := s.Of(call.ListContainers); got.LastResponseBytes != 15<<20 || got.ResponseBytes != 15<<20+900 {
		t.Errorf("the last of %d bytes had %d", got.ResponseBytes, got.LastResponseBytes)
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
