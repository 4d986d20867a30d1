package ui

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/events"
	"github.com/plegtop/plegtop/ui/pane"
)

// eventsStreamed returns a view of a node with event sources.
func eventsStreamed() *pane.View {
	s := Streamed()
	v := View(s)
	v.Journal.Observe(engine.Update{Snapshot: s, Events: StreamEvents(s)})
	return v
}

// eventsSheetOf returns the text of the sheet of an event, as wide as any screen.
func eventsSheetOf(v *pane.View, seq uint64) string {
	return strings.Join(strings.Fields(NewStage(events.Sheet(v, pane.Subject{Event: seq}), v, 300, 60).Text()), " ")
}

func TestStreamed(t *testing.T) {
	v := eventsStreamed()
	eventsStage(v, 118, 35).Press("k").Golden(t, "streams")
	NewStage(events.Sheet(v, pane.Subject{Event: 4}), v, 1, 1).EverySize(t)
	NewStage(events.Sheet(v, pane.Subject{Event: 9}), v, 1, 1).EverySize(t)
	eventsStage(v, 1, 1).EverySize(t)
}

// TestSightings holds who saw an event first and by how much, that the columns are there
// only where there are event sources, and what stands where no relist saw it.
func TestSightings(t *testing.T) {
	s := eventsStage(eventsStreamed(), 78, 30)
	for _, tt := range []struct{ row, want string }{
		{"TIME", "EXIT SEEN     LEAD"},
		{"11:59:20 ", "  cri    +470ms"},
		{"11:59:29 ", " 137 pidfd  +624ms"},
		{"11:59:34 ", "   0 relist  -35ms"},
		{"11:59:54 ", "   3 cri    unseen"},
		{"11:59:55 ", " cgroup unseen"},
		{"11:59:57 ", "NetUp"},
	} {
		if got := s.Row(tt.row); !strings.Contains(got, tt.want) {
			t.Errorf("%q: %q has no %q", tt.row, got, tt.want)
		}
	}
	if s.Show(eventsView()); s.Row("LEAD") != "" {
		t.Errorf("without event sources: %q", s.Row("TIME"))
	}
	if s.Show(eventsStreamed()); s.Row("LEAD") == "" {
		t.Error("they do not come back")
	}
}

// TestSeenSheet holds what the sheet says of who saw an event, and of what the kubelet
// makes of it.
func TestSeenSheet(t *testing.T) {
	for _, tt := range []struct {
		name   string
		event  uint64
		mode   pleg.Mode
		change func(*pane.View)
		want   []string
		not    string
	}{
		{"seen by two before the relist", 4, pleg.Generic, nil, []string{
			"ago lag 20ms relist 2026-11-20T11:59:30.000Z cri 2026-11-20T11:59:29.380Z, 620ms before the relist pidfd 2026-11-20T11:59:29.376Z, 624ms before the relist",
			"found 11:59:29.986",
		}, "unseen"},
		{"seen late", 5, pleg.Evented, nil, []string{"35ms after the relist"}, ""},
		{"unseen", 9, pleg.Generic, nil, []string{"channel unseen", "relist not seen cri 2026-11-20T11:59:54.000Z", "No relist sees it, so the kubelet does nothing"}, "sync loop"},
		{"unseen by all that a kubelet has", 10, pleg.Generic, nil, []string{"pod not known: no relist had this id container its name"}, "gone since"},
		{"derived", 11, pleg.Generic, nil, []string{"type · NetworkSetUp", "channel derived", "No kubelet sends", "Nobody is told."}, "sync loop takes"},
		{"no event sources", 1, pleg.Generic, func(v *pane.View) { v.Journal.Row(1).Seen = nil }, []string{"found 11:59:12.986"}, "before the relist"},
	} {
		v := eventsStreamed()
		v.Journal.Row(tt.event).Mode = tt.mode
		if tt.change != nil {
			tt.change(v)
		}
		got := eventsSheetOf(v, tt.event)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", tt.name, want, got)
			}
		}
		if tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: says %q:\n%s", tt.name, tt.not, got)
		}
	}
}
