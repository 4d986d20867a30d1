package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/timeline"
)

// timelineShow returns a view of s after its events, with relists for three minutes of which the
// last may hang.
func timelineShow(s *engine.Snapshot, events ...engine.Event) *pane.View {
	s.Relists.History, s.Relists.Count = nil, 0
	for at := Ago(3 * time.Minute); at.Before(s.Health.ListedAt); at = at.Add(time.Second) {
		s.Relists.Count++
		s.Relists.History = append(s.Relists.History, engine.Relist{At: at, Took: 12 * time.Millisecond, List: 9 * time.Millisecond})
	}
	s.Started = Ago(3 * time.Minute)
	v := View(s)
	v.Journal.Observe(engine.Update{Snapshot: s, Events: events})
	return v
}

// some is a node on which this and that has happened.
func some() *pane.View {
	s := Healthy()
	return timelineShow(s, Events(s)...)
}

func TestTimelineGolden(t *testing.T) {
	s := Streamed()
	v := timelineShow(s, StreamEvents(s)...)
	v.Axis.Zoom(-2)
	NewStage(timeline.New(pane.Settings{}), v, 118, 35).Golden(t, "streams")
	NewStage(timeline.New(pane.Settings{}), timelineShow(Hung()), 118, 35).Act(keymap.Bottom, keymap.MatchPrev).EverySize(t)
}

func TestHostile(t *testing.T) {
	for _, size := range Sizes {
		NewStage(timeline.New(pane.Settings{}), timelineShow(Hostile()), size[0], size[1]).Check(t)
	}
}

func TestEveryLineFits(t *testing.T) {
	s := NewStage(timeline.New(pane.Settings{}), some(), 0, 0)
	for w := range 60 {
		for h := range 9 {
			s.W, s.H = w, h
			s.Show(s.V).Check(t)
			s.Act(keymap.Left, keymap.Down, keymap.MatchPrev).Check(t)
		}
	}
	for s.W = 60; s.W > 0; s.W-- { // the cursor stays on its moment
		s.Show(s.V).Check(t)
		s.Subject()
	}
}

// Enter opens the event under the cursor, or the pod where there is none.
func TestEnterOpensTheEventThere(t *testing.T) {
	s := NewStage(timeline.New(pane.Settings{}), some(), 118, 35)
	for !strings.Contains(s.Row("now "), " payments") {
		s.Act(keymap.Down)
	}
	s.Act(keymap.Detail, keymap.MatchPrev, keymap.Detail, keymap.MatchPrev, keymap.Detail)
	pay := Find(s.V.Snapshot, "payments-6c8f9d7b5-t8wfx")
	c := pay.Current.Containers[0]
	want := []pane.Subject{
		{ObjectRef: pleg.ObjectRef{ID: c.ID, Pod: pay.PodRef, Container: c.Name}}, {ObjectRef: pleg.ObjectRef{ID: c.ID, Pod: pay.PodRef, Container: c.Name}, Event: 4}, {ObjectRef: pleg.ObjectRef{ID: c.ID, Pod: pay.PodRef, Container: c.Name}, Event: 3},
	}
	if diff := cmp.Diff(want, s.Sheets); diff != "" {
		t.Errorf("sheets (-want +got):\n%s", diff)
	}
	if got := s.Row(" seen 1"); !strings.Contains(got, "Started seen 11:59:21, 640ms late") {
		t.Errorf("under the cursor is %q", got)
	}
}

// The cursor goes to where an event source saw an event, too, and opens that there.
func TestEventWhereAStreamSawIt(t *testing.T) {
	snap := Healthy()
	all := Events(snap)
	died := &all[3]
	died.Seen = &sources.Sightings{}
	died.Seen.At[sources.FromRelist], died.Seen.At[sources.FromCRI] = died.SeenAt, died.SeenAt.Add(20*time.Second) // the stream was late
	s := NewStage(timeline.New(pane.Settings{}), timelineShow(snap, all...), 118, 35)
	for !strings.Contains(s.Row("now "), " payments") {
		s.Act(keymap.Down)
	}
	var at []string
	for range 2 {
		s.Act(keymap.MatchPrev)
		if got := s.Subject().Event; got != died.Seq {
			t.Errorf("on event %d, want %d", got, died.Seq)
		}
		at = append(at, s.Row(" seen 1"))
	}
	if at[0] == at[1] || !strings.Contains(at[0], "cri -20") {
		t.Errorf("under the cursor is %q and then %q", at[0], at[1])
	}
}

// The cursor stays on a moment while time goes on, and at the right edge goes along.
func TestCursorStaysOnItsMoment(t *testing.T) {
	s := NewStage(timeline.New(pane.Settings{}), some(), 118, 35).Act(keymap.Bottom)
	if got := s.Subject().Event; got != 0 {
		t.Fatalf("event %d is at the right edge", got)
	}
	s.Act(keymap.MatchPrev)
	on := s.Subject()
	later := *s.V.Snapshot
	later.At = later.At.Add(20 * time.Second)
	s.V.Snapshot = &later
	s.V.Axis.Follow(later.At)
	if s.Show(s.V); s.Subject() != on || on.Event == 0 {
		t.Errorf("the cursor has gone from %+v to %+v", on, s.Subject())
	}
	s.V.Axis.Zoom(-2)
	if s.Show(s.V); s.Row("11:59:50 ") == "" || s.Subject().Event != 0 {
		t.Errorf("where the moment is no longer drawn the foot is\n%s", s.Text())
	}
	s.V.Axis.Zoom(2)
	if s.Show(s.V); s.Subject() != on {
		t.Errorf("the cursor has gone from %+v to %+v", on, s.Subject())
	}
	s.Act(keymap.Back)
	if got := s.Subject().Event; got != 0 || s.Row("now  ") == "" {
		t.Errorf("esc has led to event %d", got)
	}
}

// A pod that has gone keeps its lanes, below all others, as long as its end is in the
// time that is shown; a filter holds for it, too.
func TestLanesOfWhatHasGone(t *testing.T) {
	v := some()
	was := v.Snapshot
	gone := Find(was, "nfs-client")
	next := *was
	next.Pods = nil
	for _, p := range was.Pods {
		if p != gone {
			next.Pods = append(next.Pods, p)
		}
	}
	v.Snapshot = &next
	v.Pods.Observe(&next, Standings(&next, nil))
	v.Journal.Observe(engine.Update{Snapshot: &next})
	s := NewStage(timeline.New(pane.Settings{}), v, 118, 35)
	lines := strings.Split(s.Text(), "\n")
	if n := s.Info().Wanted - 3; !strings.HasPrefix(lines[n-1], "nfs-client ") || !strings.HasPrefix(lines[n], "            ") {
		t.Errorf("the last two of %d lanes are not those of the pod that has gone:\n%s", n, s.Text())
	}
	v.Pods.Filter(func(p *model.Pod, _ time.Time) bool { return p.Pod.Name != "nfs-client" }, false)
	if s.Show(v).Row("nfs-client") != "" {
		t.Error("the filter does not hold for what has gone")
	}
	v.Pods.Filter(nil, false)
	s.Show(v)
	next.At = next.At.Add(3 * time.Minute)
	v.Axis.Follow(next.At)
	if s.Show(v).Row("nfs-client") != "" {
		t.Error("what has gone long ago is still there")
	}
}

// A container that its pod has no more keeps its lane as long as an event of it is in the
// time that is shown, and no longer, though nothing else happens.
func TestLanesOfContainersThatHaveGone(t *testing.T) {
	v := some()
	e := Happened(1000, 10, pleg.Removed, Find(v.Snapshot, "nfs-client"), "once", pleg.Exited, pleg.Absent)
	s := NewStage(timeline.New(pane.Settings{}), v, 118, 35)
	for _, tt := range []struct {
		age  time.Duration
		want bool
	}{{0, true}, {time.Minute, true}, {time.Minute, false}} {
		next := *v.Snapshot
		next.At = next.At.Add(tt.age)
		v.Snapshot = &next
		v.Axis.Follow(next.At)
		v.Journal.Observe(engine.Update{Snapshot: &next, Events: []engine.Event{e}})
		if got := s.Show(v).Row(" once ") != ""; got != tt.want {
			t.Errorf("%v later it has a lane: %v, want %v", tt.age, got, tt.want)
		}
	}
}

// A second in which nothing happens changes no cell of the lanes.
func TestQuietSecondsChangeNothing(t *testing.T) {
	v := timelineShow(Big(100, 3))
	s := NewStage(timeline.New(pane.Settings{}), v, 118, 35)
	before := s.Lines()
	for range 10 {
		later := *v.Snapshot
		later.At = later.At.Add(time.Second)
		later.Relists.Count++
		later.Relists.History = append(later.Relists.History, engine.Relist{At: later.At.Add(-50 * time.Millisecond), Took: 12 * time.Millisecond, List: 9 * time.Millisecond})
		v.Snapshot = &later
		v.Axis.Follow(later.At)
		v.Journal.Observe(engine.Update{Snapshot: &later})
		after := s.Show(v).Lines()
		for y := range after {
			if after[y] != before[y] && y != s.H-2 { // but for times of day
				t.Errorf("line %d was\n%s, is\n%s", y, before[y], after[y])
			}
		}
	}
}

// A step to the right edge goes on with the time from there.
func TestRightEdge(t *testing.T) {
	s := NewStage(timeline.New(pane.Settings{}), some(), 118, 35).Act(keymap.Left)
	if s.Row("now  ") != "" {
		t.Errorf("a step to the left is at now:\n%s", s.Text())
	}
	if s.Act(keymap.Right); s.Row("now  ") == "" {
		t.Errorf("a step back is not at now:\n%s", s.Text())
	}
}

func bigView() *pane.View {
	s := Big(1000, 3)
	var events []engine.Event
	for i := range 4000 {
		p := s.Pods[i%len(s.Pods)]
		e := Happened(uint64(i+1), i%60, pleg.Started, p, fmt.Sprintf("container-%d", i%3), pleg.Absent, pleg.Running)
		e.SeenAt = Ago(time.Duration(4000-i) * 30 * time.Millisecond)
		events = append(events, e)
	}
	return timelineShow(s, events...)
}

func BenchmarkTimelineFrame200x50(b *testing.B) {
	t := timeline.New(pane.Settings{})
	t.Observe(bigView(), 198, 48)
	var l text.Line
	b.ReportAllocs()
	for b.Loop() {
		l.Buf = l.Buf[:0]
		for y := range 48 {
			l.Begin(198)
			t.Draw(&l, y, true)
			l.End()
		}
	}
}

func BenchmarkTimelineObserve(b *testing.B) {
	v := bigView()
	t := timeline.New(pane.Settings{})
	b.ReportAllocs()
	for b.Loop() {
		t.Observe(v, 198, 48)
	}
}

// A frame takes no more memory the more pods there are.
func TestFrameTakesNoMemory(t *testing.T) {
	p := timeline.New(pane.Settings{})
	p.Observe(bigView(), 198, 48)
	var l text.Line
	if n := testing.AllocsPerRun(20, func() {
		l.Buf = l.Buf[:0]
		for y := range 48 {
			l.Begin(198)
			p.Draw(&l, y, true)
			l.End()
		}
	}); n > 20 {
		t.Errorf("%v allocations a frame", n)
	}
}
