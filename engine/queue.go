package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// longestID is the length of the longest id that is accepted: runtimes use 64 digits.
const longestID = 256

// A queue lies between a stream, which must not wait, and the hub. It is safe for concurrent use.
type queue struct {
	source sources.Source
	wake   chan struct{} // holds one token when there is something to take, or nothing more will come

	mu     sync.Mutex // guards what follows
	events []sources.SourceEvent
	weight int // of their statuses
	lost   uint64
	over   bool
}

func newQueue(source sources.Source) *queue {
	return &queue{source: source, wake: make(chan struct{}, 1)}
}

// put keeps one event, or counts it as lost if there is no room. It never waits.
func (q *queue) put(u pleg.Upstream, clock Clock) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost += u.Skipped
	switch weight := weightOf(u); {
	case u.ID == "":
	case len(q.events) < queueRoom && q.weight+weight <= weightRoom && len(u.ID) <= longestID:
		q.events = append(q.events, sources.SourceEvent{Upstream: u, Received: clock.Now()})
		q.weight += weight
	default:
		q.lost++
	}
	q.rouse()
}

// end says that nothing more will come.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.rouse()
}

func (q *queue) rouse() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns the events for one observation, and whether nothing more will come.
func (q *queue) take() (s Streamed, over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.events), batch)
	s = Streamed{Source: q.source, Events: slices.Clone(q.events[:n]), Lost: q.lost}
	for _, e := range q.events[:n] {
		q.weight -= weightOf(e.Upstream)
	}
	q.events, q.lost = slices.Delete(q.events, 0, n), 0
	if len(q.events) > 0 {
		q.rouse()
		return s, false
	}
	q.events = nil // frees the memory of a storm
	return s, q.over
}

// pass reports the events, a batch at a time, until the queue has ended. After the end of ctx it
// reports the rest at once.
func (q *queue) pass(ctx context.Context, h *hub) {
	for over := false; !over; {
		<-q.wake
		var s Streamed
		if s, over = q.take(); len(s.Events) > 0 || s.Lost > 0 {
			h.observe(s)
		}
		if ctx.Err() == nil && !over {
			sleep(ctx, batchPace)
		}
	}
}

// sleep waits for some real time. It returns false if ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func weightOf(u pleg.Upstream) int {
	if u.Status == nil {
		return 0
	}
	return u.Status.Weight()
}
