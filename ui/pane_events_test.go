package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/events"
	"github.com/plegtop/plegtop/ui/pane"
)

// happen returns one event of each sort, over some relists.
func happen(s *engine.Snapshot) []engine.Event {
	cart, pay := Find(s, "cart-7d9c5b7d4-2m4ns"), Find(s, "payments-6c8f9d7b5-t8wfx")
	gone := pleg.PodRef{UID: "gone", Namespace: "shop", Name: "cart-7d9c5b7d4-old1a"}
	at := func(relist int, e pleg.Event) engine.Event {
		e.At = s.Relists.History[relist].At
		return engine.Event{Event: e, SeenAt: e.At.Add(s.Relists.History[relist].Took)}
	}
	all := []engine.Event{
		at(100, pleg.Event{Kind: pleg.Started, ObjectRef: pleg.ObjectRef{Pod: cart.PodRef, ID: cart.Current.Sandboxes[0].ID, Sandbox: true}, To: pleg.Running}),
		at(100, pleg.Event{Kind: pleg.Started, ObjectRef: pleg.ObjectRef{Pod: cart.PodRef, ID: cart.Current.Containers[0].ID, Container: "cart"}, To: pleg.Running}),
		at(104, pleg.Event{Kind: pleg.Changed, Delivery: pleg.Filtered, ObjectRef: pleg.ObjectRef{Pod: pay.PodRef, ID: "0123456789abcdef", Container: "payments"}, To: pleg.Created}),
		at(105, pleg.Event{Kind: pleg.Died, ObjectRef: pleg.ObjectRef{Pod: pay.PodRef, ID: "0123456789abcdef", Container: "payments"}, From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: 137}),
		at(111, pleg.Event{Kind: pleg.Died, Delivery: pleg.Discarded, ObjectRef: pleg.ObjectRef{Pod: gone, ID: "c", Container: "cart"}, From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: 143}),
		at(111, pleg.Event{Kind: pleg.Removed, ObjectRef: pleg.ObjectRef{Pod: gone, ID: "c", Container: "cart"}, From: pleg.Exited, To: pleg.Absent}),
		at(111, pleg.Event{Kind: pleg.PodSync, ObjectRef: pleg.ObjectRef{Pod: cart.PodRef}}),
	}
	for i := range all {
		all[i].Seq = uint64(i + 1)
		all[i].AtStart = i < 2
		if all[i].Kind == pleg.Died {
			all[i].Lag, all[i].HasLag = time.Duration(i)*1100*time.Millisecond, true
		}
	}
	all[3].Reason = "OOMKilled"
	return all
}

// eventsView returns a view of a healthy node on which something happened.
func eventsView(events ...engine.Event) *pane.View {
	v := View(Healthy())
	if events == nil {
		events = happen(v.Snapshot)
	}
	v.Journal.Observe(engine.Update{Snapshot: v.Snapshot, Events: events})
	return v
}

func eventsStage(v *pane.View, w, h int) *Stage {
	return NewStage(events.New(pane.Settings{}), v, w, h)
}

// deaths returns events of one container, one a second, each by a relist of its own.
func deaths(from, to uint64) []engine.Event {
	var all []engine.Event
	for seq := from; seq <= to; seq++ {
		at := Noon.Add(time.Duration(seq) * time.Second)
		all = append(all, engine.Event{Seq: seq, SeenAt: at, Event: pleg.Event{
			At: at, Kind: pleg.Died, ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{UID: "u", Namespace: "ns", Name: "p"}, ID: "c", Container: "x"},
			From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: int32(seq%5) % 2,
		}})
	}
	return all
}

// later shows more events, some time later.
func later(s *Stage, after time.Duration, events ...engine.Event) {
	snap := *s.V.Snapshot
	snap.At = snap.At.Add(after)
	s.V.Snapshot = &snap
	s.V.Journal.Observe(engine.Update{Snapshot: &snap, Events: events})
	s.Show(s.V)
}

func TestEvents(t *testing.T) {
	gap := eventsStage(eventsView(), 78, 19).Press("k", "k", "k")
	gap.V.Journal.Observe(engine.Update{Snapshot: gap.V.Snapshot, Events: deaths(25, 26), Lost: 17})
	if gap.Show(gap.V).Check(t); gap.Row("17 events") == "" {
		t.Errorf("nothing says how many are missing:\n%s", gap.Text())
	}
	v := eventsView()
	NewStage(events.Sheet(v, pane.Subject{Event: 4}), v, 118, 35).EverySize(t)
}

func TestASCII(t *testing.T) {
	v := eventsView()
	plain := v.Theme.Plain()
	v.Theme = &plain
	for _, s := range []*Stage{eventsStage(v, 118, 30), NewStage(events.Sheet(v, pane.Subject{Event: 4}), v, 118, 45)} {
		if at := strings.IndexFunc(s.Text(), func(r rune) bool { return r > '~' }); at >= 0 {
			t.Errorf("not ASCII: %q", s.Text()[at:at+10])
		}
	}
}

// TestAtStartIsOneLine holds that what was there at the start takes one line, that enter shows
// it and left folds it again, and that no event's sheet opens for the line.
func TestAtStartIsOneLine(t *testing.T) {
	s := eventsStage(eventsView(), 118, 20)
	if s.Row("── 2 at start ──") == "" {
		t.Fatalf("not one line:\n%s", s.Text())
	}
	if s.Press("g"); s.Subject().Event != 0 {
		t.Error("the line is an event")
	}
	if s.Press("enter"); s.Row("── 2 at start ──") != "" || strings.Count(s.Text(), "at start") != 2 {
		t.Errorf("not shown:\n%s", s.Text())
	}
	if s.Press("g", "left"); s.Row("── 2 at start ──") == "" {
		t.Errorf("not folded again:\n%s", s.Text())
	}
}

func TestFollowing(t *testing.T) {
	s := eventsStage(eventsView(deaths(1, 50)...), 80, 20).Press("k", "k")
	if later(s, time.Minute, deaths(51, 60)...); s.Subject().Event != 48 || !strings.Contains(eventsAbout(s), "not following") {
		t.Errorf("on %d, %s after moving up, want to stay on 48", s.Subject().Event, eventsAbout(s))
	}
	if s.Press("F"); s.Subject().Event != 60 || strings.Contains(eventsAbout(s), "not") {
		t.Errorf("on %d, %s after F, want 60", s.Subject().Event, eventsAbout(s))
	}
	s.Press("F", "g", "G")
	if later(s, time.Minute, deaths(61, 62)...); s.Subject().Event != 62 {
		t.Errorf("on %d: going to the bottom does not follow again", s.Subject().Event)
	}
}

func eventsAbout(s *Stage) string {
	var all []string
	for _, a := range s.Info().About {
		all = append(all, a.Text)
	}
	return strings.Join(all, "  ")
}

func TestOldEventsMakeRoom(t *testing.T) {
	v := eventsView(deaths(1, 1000)...) // as many as are kept
	s := eventsStage(v, 80, 20).Press("g", "j", "j")
	later(s, time.Second, deaths(1001, 2000)...)
	if first := v.Journal.Shown()[0].Seq; s.Subject().Event != first {
		t.Errorf("on %d after its event went, want the oldest, %d", s.Subject().Event, first)
	}
	s.Check(t)
	// What is on the screen may go while the rows stand still.
	s.Press("G")
	later(s, time.Millisecond, deaths(2001, 9000)...)
	s.Check(t)
}

func TestKeysOfAnEvent(t *testing.T) {
	s := eventsStage(eventsView(), 118, 20).Press("c")
	want := pane.Subject{ObjectRef: pleg.ObjectRef{Pod: Find(s.V.Snapshot, "cart-7d9c5b7d4-2m4ns").PodRef}, Event: 7}
	if diff := cmp.Diff(want, s.Subject()); diff != "" || s.Clip != want.Pod.Name {
		t.Errorf("copied %q; on (-want +got):\n%s", s.Clip, diff)
	}
	s = eventsStage(eventsView(append(deaths(1, 2), deaths(9, 9)...)...), 118, 20).Press("k")
	if !strings.Contains(s.Text(), "gap: 6 events came too fast to be shown") || s.Subject() != (pane.Subject{}) {
		t.Errorf("on %v:\n%s", s.Subject(), s.Text())
	}
}

// The sheet of each event says of what pod and container it is, and how that ended.
func TestEventsSheet(t *testing.T) {
	v := eventsView()
	for seq, want := range map[uint64][]string{
		1: {"before plegtop started", "none: this is the pod's sandbox", "shop/cart-7d9c5b7d4-2m4ns"},
		3: {"filtered", "ContainerChanged is not sent", "absent › created"},
		4: {"container", "payments", "exit code", "137 (SIGKILL)", "OOMKilled", "3.3s: relists were late", "relist", "3398", "delivered"},
		5: {"which has gone since", "143 (SIGTERM)", "discarded", "The pod's next event or the kubelet's own resync wakes the worker"},
		6: {"pod", "shop/cart-7d9c5b7d4-old1a, which has gone since", "container", "exit code", "143", "a removal asks for no sync"},
		7: {"PodSync", "No state in its record differs", "PodSync is sent"},
	} {
		sheet := events.Sheet(v, pane.Subject{Event: seq})
		s := NewStage(sheet, v, 118, 45)
		s.Check(t)
		flat := strings.Join(strings.Fields(s.Text()), " ")
		for _, w := range want {
			if !strings.Contains(flat, w) {
				t.Errorf("the sheet of %d does not say %q:\n%s", seq, w, s.Text())
			}
		}
		if s.Press("enter"); len(s.Sheets) != 1 || s.Sheets[0].Event != 0 || s.Sheets[0].Pod.UID == "" {
			t.Errorf("enter opens %v, want the pod's", s.Sheets)
		}
	}
	for _, seq := range []uint64{0, 8} {
		if p := events.Sheet(v, pane.Subject{Event: seq}); p != nil {
			t.Errorf("a sheet of event %d", seq)
		}
	}
}

func TestSheetShowsTheLastPicture(t *testing.T) {
	v := View(Healthy())
	left := *v.Snapshot
	pay := Find(v.Snapshot, "payments-6c8f9d7b5-t8wfx")
	left.Pods = nil
	for _, p := range v.Snapshot.Pods {
		if p != pay {
			left.Pods = append(left.Pods, p)
		}
	}
	e := engine.Event{Seq: 1, SeenAt: left.At, Event: pleg.Event{At: left.Relists.History[119].At, Kind: pleg.Removed, ObjectRef: pleg.ObjectRef{Pod: pay.PodRef, ID: "s", Sandbox: true}, From: pleg.Exited}}
	v.Snapshot = &left
	v.Pods.Observe(&left, Standings(&left, nil))
	v.Journal.Observe(engine.Update{Snapshot: &left, Events: []engine.Event{e}})
	s := NewStage(events.Sheet(v, pane.Subject{Event: 1}), v, 118, 45)
	for _, want := range []string{"Last picture", "container payments", "exit code 137 (SIGKILL), OOMKilled", "container istio-proxy"} {
		if !strings.Contains(s.Text(), want) {
			t.Errorf("no %q in\n%s", want, s.Text())
		}
	}
	s.NoSheet = true
	if s.Press("enter"); !strings.Contains(s.Said, "gone") {
		t.Errorf("enter says %q", s.Said)
	}
}

func TestHostileEvents(t *testing.T) {
	snap := Hostile()
	v := View(snap)
	all := happen(Healthy())
	for i := range all {
		e := &all[i]
		e.Pod, e.Reason = pleg.PodRef{UID: Nasty, Namespace: Nasty, Name: Long}, Long
		e.ID, e.Container = Nasty, fmt.Sprint(i, Long)
	}
	v.Journal.Observe(engine.Update{Snapshot: snap, Events: all})
	v.Filter.Text = Nasty
	for w := 1; w < 200; w += 13 {
		eventsStage(v, w, 20).Check(t)
		NewStage(events.Sheet(v, pane.Subject{Event: 4}), v, w, 60).Check(t)
	}
}
