package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// A storm takes no more room than the queue has, in events and in the weight of their statuses, and no more
// than a batch for one observation. Events that find no room are counted.
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
				q.put(tt.event, &realTime{})
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

// Events that wait are reported a batch each 10 ms, and all at once when the engine ends.
func TestQueueIsDrainedAtTheEnd(t *testing.T) {
	for _, ended := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e, err := New(Config{Runtime: struct{ Runtime }{}, Streams: []Stream{{Source: sources.FromCRI, Refuse: "no"}}})
			if err != nil {
				t.Fatal(err)
			}
			q := newQueue(sources.FromCRI)
			for range 10 * batch {
				q.put(pleg.Upstream{ID: "x"}, &realTime{})
			}
			q.end()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if ended {
				cancel()
			}
			began := time.Now()
			q.pass(ctx, e.hub)
			took := time.Since(began)
			if got := e.hub.model.sources.States()[0].Received; got != 10*batch || ended && took != 0 || !ended && took != 9*batchPace {
				t.Errorf("ended %v: %d events in %v", ended, got, took)
			}
		})
	}
}
