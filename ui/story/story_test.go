package story

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/widget"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func init() { time.Local = time.UTC }

// died returns the death of a container, the relist that found it, and the node it was on. Change
// may change any of them before the journal has them.
func died(change ...func(s *engine.Snapshot, e *engine.Event)) (*engine.Snapshot, *model.Journal, *model.Row) {
	ref := pleg.PodRef{UID: "u", Namespace: "shop", Name: "cart-0"}
	listed := &pleg.Pod{PodRef: ref, Sandboxes: []pleg.Sandbox{{ID: "s"}}, Containers: []pleg.Container{{ID: "c", Name: "app"}}}
	began := noon.Add(-10 * time.Second)
	s := &engine.Snapshot{
		At: noon, Release: 36, Period: time.Second, Threshold: 3 * time.Minute, Timeout: 2 * time.Minute, Channel: engine.Channel{Capacity: 1000, Len: 7, Discarded: 3},
		Pods:    []*engine.Pod{{PodRef: ref, Old: listed, Current: listed, StatusAt: began, Inspected: 2, InspectedAt: began.Add(30 * time.Millisecond), InspectLast: 20 * time.Millisecond}},
		Relists: engine.Relists{Count: 42, History: []engine.Relist{{At: began, Took: 40 * time.Millisecond, List: 10 * time.Millisecond, Inspected: 3, Failures: 1}}},
		Workers: podworker.Workers{Acting: true, All: []*podworker.Worker{{Pod: ref, Since: began, WakeUps: 2, Syncs: 1}}},
	}
	e := engine.Event{
		Seq: 1, SeenAt: began.Add(30 * time.Millisecond), Lag: 500 * time.Millisecond, HasLag: true,
		Event: pleg.Event{Kind: pleg.Died, ObjectRef: pleg.ObjectRef{Pod: ref, ID: "c", Container: "app"}, From: pleg.Running, To: pleg.Exited, At: began, Exited: true, ExitCode: 137},
	}
	for _, f := range change {
		f(s, &e)
	}
	j := model.NewJournal(10)
	j.Observe(engine.Update{Snapshot: s, Events: []engine.Event{e}})
	return s, j, j.Row(1)
}

// TestDeath holds the whole story of a death that a relist found.
func TestDeath(t *testing.T) {
	all := Of(died())
	var got []string
	for i := range all {
		got = append(got, strings.TrimSpace(all[i].Name+": "+all[i].At()), all[i].Says)
	}
	want := []string{
		"seen: 11:59:49.530 by the runtime's clock",
		"Container app of shop/cart-0 went from running to exited, exit code 137. The runtime does not tell the kubelet.",
		"found: 11:59:50.000 by relist 42",
		"The relist took 40ms, its lists 10ms. In the lists before, app was running. Now it is exited: the record differs.",
		"inspected: 11:59:50.030",
		"The kubelet makes one status call per sandbox and container of the pod, one after the other. The relist had taken 30ms when they had succeeded.",
		"cached:",
		"Now the record moves on: no relist reports this again. The cache has the pod's status as of the start of the lists, 11:59:50.000.",
		"sent: 11:59:50.030",
		"ContainerDied is sent. The channel holds 1000; 7 are in it now.",
		"woken:",
		"The sync loop takes the event and wakes the pod's worker, which compares what should run with what runs. By the restart policy it starts the container again, after a back-off. Now: idle for 10s; woken 2 times, synced 1.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEveryStory holds of all kinds and ends of events that every stage is told, with every figure
// in its place, and that no tale is there that no event has.
func TestEveryStory(t *testing.T) {
	told := make([]bool, len(tales))
	for kind := pleg.Started; kind <= pleg.NetworkFailed; kind++ {
		for delivery := pleg.Delivered; delivery <= pleg.Derived; delivery++ {
			for bits := range 1 << 5 {
				is := func(bit int) bool { return bits>>bit&1 == 1 }
				s, j, r := died(func(s *engine.Snapshot, e *engine.Event) {
					e.Kind, e.Delivery, e.AtStart = kind, delivery, is(0)
					if is(1) {
						e.Seen = &sources.Sightings{}
						e.Seen.At[sources.FromCRI] = e.SeenAt
					}
					if is(2) {
						s.Pods = nil
					}
					if e.HasLag, e.Sandbox = is(3), is(3); is(4) {
						e.Mode, s.Workers.All[0].Spared, s.Workers.All[0].Last = pleg.Evented, true, e.Event
					}
				})
				teller := newTeller(s, j, r)
				for i, st := range Of(s, j, r) {
					if strings.ContainsAny(st.Says, "{}") || strings.Contains(st.Says, "  ") {
						t.Fatalf("%v, %v: %q", kind, delivery, st.Says)
					}
					if st.Name == "" || st.Says == "" {
						t.Fatalf("%v, %v: stage %d is not told: %+v", kind, delivery, i, st)
					}
					told[teller.tale(i)] = true
				}
			}
		}
	}
	for i, is := range told {
		if !is {
			t.Errorf("no event has the tale %q of stage %d", tales[i].says, tales[i].stage)
		}
	}
}

// TestWhoSawIt holds when an event came to the kubelet that an event source saw first, and who
// that was.
func TestWhoSawIt(t *testing.T) {
	s, j, r := died(func(_ *engine.Snapshot, e *engine.Event) {
		e.Seen = &sources.Sightings{}
		e.Seen.At[sources.FromRelist] = e.SeenAt
		e.SeenAt = e.SeenAt.Add(-20 * time.Millisecond)
		e.Seen.At[sources.FromCgroup] = e.SeenAt
	})
	all := Of(s, j, r)
	if got, want := all[Sent].At(), "11:59:50.030"; got != want {
		t.Errorf("sent %s, want %s, when the relist had found it", got, want)
	}
	if want := "The source cgroup saw it at 11:59:50.010, 20ms before the relist."; !strings.Contains(all[Seen].Says, want) {
		t.Errorf("%q lacks %q", all[Seen].Says, want)
	}
}

// TestTales holds what is told of an event that the runtime's stream asked a relist for, of one that
// was expected, of the removal of a pod, and of one that no kubelet makes.
func TestTales(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(s *engine.Snapshot, e *engine.Event)
		stage  int
		want   string
	}{
		"asked for": {func(_ *engine.Snapshot, e *engine.Event) {
			e.At, e.Mode, e.Seen = e.At.Add(time.Millisecond), pleg.Evented, &sources.Sightings{}
			e.Seen.At[sources.FromCRI], e.Seen.At[sources.FromRelist] = e.SeenAt, e.SeenAt.Add(time.Millisecond)
		}, Found, "The runtime's stream asked for a relist of this pod alone."},
		"expected": {func(s *engine.Snapshot, e *engine.Event) {
			s.Workers.All[0].Spared, s.Workers.All[0].Last = true, e.Event
		}, Woken, "The worker had expected this event of its own doing."},
		"another one was expected": {func(s *engine.Snapshot, _ *engine.Event) { s.Workers.All[0].Spared = true }, Woken, "wakes the pod's worker"},
		"removed with its pod":     {func(s *engine.Snapshot, e *engine.Event) { e.Kind, s.Pods = pleg.Removed, nil }, Inspected, "The pod is no longer listed, so nothing can be asked."},
		"derived":                  {func(_ *engine.Snapshot, e *engine.Event) { e.Delivery = pleg.Derived }, Woken, "Nobody is told."},
		"unseen":                   {func(_ *engine.Snapshot, e *engine.Event) { e.Delivery = pleg.Unseen }, Sent, "No relist sees it"},
	} {
		if got := Of(died(tt.change))[tt.stage].Says; !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q lacks %q", name, got, tt.want)
		}
	}
}

// TestLost holds that the stages are bad to which an event was lost.
func TestLost(t *testing.T) {
	for i, st := range Of(died(func(_ *engine.Snapshot, e *engine.Event) { e.Delivery = pleg.Discarded })) {
		if bad := st.Level == widget.Bad; bad != (i >= Sent) {
			t.Errorf("%s: bad is %v", st.Name, bad)
		}
	}
}
