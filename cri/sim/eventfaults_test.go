package sim

import (
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// told returns what the stream tells of half a minute of the tour with that fault on.
func told(t *testing.T, fault string) (all []*cri.ContainerEventResponse, until time.Time) {
	t.Helper()
	sn, _ := watch(t, "tour", 1)
	var e events
	reader := e.join()
	sn.onChange = func(tr transition) { sn.tell(tr, &e) }
	if fault != "" {
		if err := sn.set(fault, true); err != nil {
			t.Fatal(err)
		}
	}
	until = epoch.Add(30 * time.Second)
	sn.advance(until)
	close(reader)
	for event := range reader {
		all = append(all, event)
	}
	return all, until
}

func TestFaultsOfTheEventStream(t *testing.T) {
	right, until := told(t, "")
	if len(right) < 50 {
		t.Fatalf("%d events in half a minute", len(right))
	}
	if lossy, _ := told(t, "event-drift"); len(lossy) < len(right)/2 || len(lossy) > len(right)*4/5 {
		t.Errorf("%d of %d events are left, want about two in three", len(lossy), len(right))
	}
	doubled, _ := told(t, "events-doubled")
	if len(doubled) != 2*len(right) || doubled[0].CreatedAt != doubled[1].CreatedAt {
		t.Errorf("%d events, want %d twice", len(doubled), len(right))
	}
	late, _ := told(t, "events-late")
	last := time.Unix(0, late[len(late)-1].CreatedAt)
	if n := len(late); n >= len(right) || n < len(right)/2 || last.After(until.Add(-eventsLate)) {
		t.Errorf("%d of %d events until %v, want those until 2 s before %v", n, len(right), last, until)
	}
	if ahead, _ := told(t, "events-clock"); len(ahead) != len(right) || ahead[0].CreatedAt-right[0].CreatedAt != int64(time.Hour) {
		t.Errorf("%d events of %v, want %d an hour ahead", len(ahead), ahead[0].CreatedAt, len(right))
	}
}

// What ends a stream ends the one that is open, too, and refuses the next as long as it lasts.
func TestEventStreamIsEnded(t *testing.T) {
	for fault, want := range map[string]struct {
		first, next error
	}{
		"events-off":     {io.EOF, io.EOF},
		"events-broken":  {errStreamClosed, nil},
		"events-unknown": {errStreamClosed, status.Error(codes.Unimplemented, "")},
	} {
		t.Run(fault, func(t *testing.T) {
			s, c, p := pair(t)
			s.events.backlog = nil
			first, err := c.GetContainerEvents(t.Context(), &cri.GetEventsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			awaitReaders(t, s, 1)
			if err := s.setFault(fault, true); err != nil {
				t.Fatal(err)
			}
			if _, err := first.Recv(); !sameEnd(err, want.first) {
				t.Errorf("open stream: %v, want %v", err, want.first)
			}
			next, err := c.GetContainerEvents(t.Context(), &cri.GetEventsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if want.next == nil {
				awaitReaders(t, s, 1)
				if err := s.ExitContainer(p.Containers["a"], 9, "", ""); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := next.Recv(); !sameEnd(err, want.next) {
				t.Errorf("next stream: %v, want %v", err, want.next)
			}
		})
	}
}

func sameEnd(got, want error) bool {
	return errors.Is(got, want) || want != io.EOF && got != io.EOF && status.Code(got) == status.Code(want)
}

func TestEventStorm(t *testing.T) {
	s, c, p := pair(t)
	if err := s.setFault("events-storm", true); err != nil {
		t.Fatal(err)
	}
	stream, err := c.GetContainerEvents(t.Context(), &cri.GetEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for range stormSize {
		event, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		ids[event.ContainerId] = true
	}
	if len(ids) < stormSize/2 || !ids[p.Sandbox] {
		t.Errorf("%d ids, the sandbox's among them %v", len(ids), ids[p.Sandbox])
	}
}

// A runtime that is stopped sends nothing, and the rest when it goes on.
func TestStoppedRuntimeSendsNoEvents(t *testing.T) {
	s, c, p := pair(t)
	s.events.backlog = nil
	stream, err := c.GetContainerEvents(t.Context(), &cri.GetEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	awaitReaders(t, s, 1)
	if err := s.setFault("hung-runtime", true); err != nil {
		t.Fatal(err)
	}
	if err := s.ExitContainer(p.Containers["a"], 9, "", ""); err != nil {
		t.Fatal(err)
	}
	if err := s.AwaitHeld(t.Context(), readEvents, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.setFault("hung-runtime", false); err != nil {
		t.Fatal(err)
	}
	if event, err := stream.Recv(); err != nil || event.ContainerId != p.Containers["a"] {
		t.Errorf("%v, %v, want the end of a", event, err)
	}
}

func TestOldRuntimeSaysSo(t *testing.T) {
	_, c := start(t, "old-runtime")
	v, err := c.Version(t.Context(), &cri.VersionRequest{})
	if err != nil || v.RuntimeVersion != "1.7.28" {
		t.Errorf("%v, %v", v, err)
	}
}

// However long a server is asked, it does not grow.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	var all []int
	for i := range 5 * recordLength {
		all = remember(all, i)
	}
	if last := newest(all); len(all) > 2*recordLength || len(last) != recordLength || last[recordLength-1] != 5*recordLength-1 {
		t.Errorf("%d are kept, %d told, to %d", len(all), len(last), last[len(last)-1])
	}
}
