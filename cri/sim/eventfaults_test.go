package sim

import (
	"testing"
	"time"

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
	late, _ := told(t, "events-late")
	last := time.Unix(0, late[len(late)-1].CreatedAt)
	if n := len(late); n >= len(right) || n < len(right)/2 || last.After(until.Add(-eventsLate)) {
		t.Errorf("%d of %d events until %v, want those until 2 s before %v", n, len(right), last, until)
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
