package engine

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// A storm takes neither more room than the queue has, in events and in the weight of their
// statuses, nor more than a batch of one observation. What finds no room is counted.
func TestQueueIsBounded(t *testing.T) {
	heavy := &pleg.PodStatus{Containers: make([]pleg.ContainerStatus, 1000)}
	for name, tt := range map[string]struct {
		event pleg.Upstream
		kept  int
	}{
		"events":        {pleg.Upstream{ID: "x"}, queueRoom},
		"statuses":      {pleg.Upstream{ID: "x", Status: heavy}, weightRoom / heavy.Weight()},
		"a long id":     {pleg.Upstream{ID: strings.Repeat("x", longestID+1)}, 0},
		"only a number": {pleg.Upstream{Skipped: 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			const sent = queueRoom + 100
			q := newQueue(sources.FromCRI)
			for range sent {
				q.put(tt.event, realTime{})
			}
			q.end()
			kept, lost := 0, 0
			for over := false; !over; {
				var s Streamed
				s, over = q.take()
				if kept += len(s.Events); len(s.Events) > batch {
					t.Errorf("%d events in one observation", len(s.Events))
				}
				lost += int(s.Lost)
			}
			if kept != tt.kept || lost != sent-kept || q.weight != 0 {
				t.Errorf("%d kept, want %d; %d lost, weight %d at the end", kept, tt.kept, lost, q.weight)
			}
		})
	}
}
