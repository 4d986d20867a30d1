package ui

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine"
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
		{"11:59:29 ", " 137 cgroup +624ms"},
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
