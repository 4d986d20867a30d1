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

// Kubelets up to 1.35 list a pod again before each inspection. The size of the list of all pods, which may be
// near its limit, is known all the same.
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

// For each object the longest call is kept, for no more objects than are shown, and nothing that a snapshot has
// is written to. A call that is not slower than those costs nothing.
func TestSlowest(t *testing.T) {
	start := time.Unix(1000, 0)
	s := NewSums(start)
	end := func(op call.Operation, id int, took time.Duration, err error) {
		s.Ended(call.Flight{Op: op, ID: fmt.Sprint(id), Since: start}, start.Add(took), call.Trace{}, err)
	}
	told := func() (said []string) {
		for _, o := range s.Read(start)[call.ContainerStatus].Slowest {
			said = append(said, fmt.Sprint(o.ID, " ", o.Took, " ", o.Err != nil))
		}
		return said
	}
	end(call.Status, 0, time.Hour, nil)
	end(call.PodSandboxStatus, 0, time.Hour, nil)
	end(call.ContainerStatus, 1, 20*time.Millisecond, nil)
	end(call.ContainerStatus, 2, 30*time.Millisecond, call.ErrDeadline)
	early := s.Read(start)[call.ContainerStatus].Slowest
	end(call.ContainerStatus, 1, 40*time.Millisecond, nil)
	end(call.ContainerStatus, 2, 10*time.Millisecond, nil)
	if diff := cmp.Diff([]string{"1 40ms false", "2 30ms true"}, told()); diff != "" {
		t.Errorf("the longest of each (-want +got):\n%s", diff)
	}
	if early[0].ID != "2" || early[1].Took != 20*time.Millisecond {
		t.Errorf("what was read before has become %v", early)
	}
	for id := range 2 * slowestKept {
		end(call.ContainerStatus, id, time.Duration(100+id)*time.Millisecond, nil)
	}
	if got := told(); len(got) != slowestKept || got[0] != "19 119ms false" || got[slowestKept-1] != "10 110ms false" {
		t.Errorf("kept %v", got)
	}
	usual := Outcome{Flight: call.Flight{ID: "12"}, Took: time.Millisecond}
	if n := testing.AllocsPerRun(100, func() { s.byOp[call.ContainerStatus].slow(usual) }); n != 0 {
		t.Errorf("a call as usual costs %v allocations", n)
	}
	if got := s.Read(start)[call.Status]; got.Slowest != nil {
		t.Errorf("of calls about no object: %v", got.Slowest)
	}
}
