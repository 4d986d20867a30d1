package engine

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrStopped is the error for a reader when [Engine.Run] has returned and nothing more will come.
var ErrStopped = errors.New("engine stopped")

// pace is the least real time between two snapshots, and between two updates of
// one reader.
const pace = 100 * time.Millisecond

// If a reader worked on an update for some time, its next update comes after idle times that time,
// but after longPace at the latest. So it uses little of a processor, even with a thousand changes
// a second.
const (
	idle     = 25
	longPace = 250 * time.Millisecond
)

// A buffer takes snapshots and events from the engine, and feeds read them from it. It is safe for concurrent
// use.
type buffer struct {
	mu       sync.Mutex // guards what follows
	snapshot *Snapshot  // nil until the first one
	upto     uint64     // the last event that belongs to snapshot
	ring     ring
	stopped  bool
	changed  chan struct{} // closed and replaced at every change
}

func newBuffer(events int) *buffer {
	return &buffer{ring: ring{size: events}, changed: make(chan struct{})}
}

// add keeps events. Readers see them with the next snapshot.
func (b *buffer) add(events []Event) {
	if len(events) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		b.ring.add(e)
	}
}

func (b *buffer) publish(s *Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.snapshot, b.upto = s, b.ring.last
	b.wakeAll()
}

func (b *buffer) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	b.wakeAll()
}

func (b *buffer) wakeAll() {
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *buffer) newest() *Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.snapshot
}

// A Feed is one reader's place in the stream of updates. It holds nothing that
// must be closed. One goroutine at a time may use it; an engine may have any
// number of feeds.
type Feed struct {
	buffer *buffer
	seen   uint64        // the snapshot that was delivered last
	event  uint64        // the event that was delivered last
	at     time.Time     // real time of the last delivery
	rest   time.Duration // the least time from at to the next delivery
}

// Next waits for a snapshot that this reader has not had yet. It returns the newest one with the
// events up to it, at most ten times a second, or four times if the reader works long on each.
// After the end of [Engine.Run] it returns the rest once, then [ErrStopped]. If ctx ends first, it
// returns the cause, and nothing is lost.
func (f *Feed) Next(ctx context.Context) (Update, error) {
	f.rest = min(max(pace, idle*time.Since(f.at)), longPace)
	for {
		update, ready, wait, err := f.take()
		if ready || err != nil {
			return update, err
		}
		if err := wait.until(ctx); err != nil {
			return Update{}, err
		}
	}
}

// A wait says what a reader waits for: a change, or a time if after is set.
type wait struct {
	changed <-chan struct{}
	after   time.Duration
}

func (w wait) until(ctx context.Context) error {
	var timer <-chan time.Time
	if w.after > 0 {
		timer = time.After(w.after)
	}
	select {
	case <-w.changed:
	case <-timer:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// take returns an update if there is one to deliver now, and otherwise what to
// wait for.
func (f *Feed) take() (update Update, ready bool, wait wait, err error) {
	b := f.buffer
	b.mu.Lock()
	defer b.mu.Unlock()
	wait.changed = b.changed
	if b.snapshot == nil || b.snapshot.Seq <= f.seen {
		if b.stopped {
			err = ErrStopped
		}
		return Update{}, false, wait, err
	}
	if wait.after = f.rest - time.Since(f.at); wait.after > 0 && !b.stopped {
		return Update{}, false, wait, nil
	}
	update.Snapshot = b.snapshot
	update.Events, update.Lost = b.ring.between(f.event, b.upto)
	f.seen, f.event, f.at = b.snapshot.Seq, b.upto, time.Now()
	return update, true, wait, nil
}

// A ring keeps the newest events for readers that are behind. Its memory grows
// up to its size and no further. Not safe for concurrent use.
type ring struct {
	size   int
	events []Event // the event with sequence number s is at (s-1) modulo size
	last   uint64  // sequence number of the newest event
}

// add keeps the event that follows the newest one, in place of the oldest if the
// ring is full.
func (r *ring) add(e Event) {
	r.last = e.Seq
	if len(r.events) < r.size {
		r.events = append(r.events, e)
	} else {
		r.events[(e.Seq-1)%uint64(r.size)] = e
	}
}

// between returns the events with numbers greater than after, up to upto. It also returns how many
// of them the ring no longer has.
func (r *ring) between(after, upto uint64) (events []Event, lost uint64) {
	if after >= upto {
		return nil, 0
	}
	first := max(after, r.last-uint64(len(r.events))) + 1
	first = min(first, upto+1)
	for seq := first; seq <= upto; seq++ {
		if events == nil {
			events = make([]Event, 0, upto+1-first)
		}
		events = append(events, r.events[(seq-1)%uint64(r.size)])
	}
	return events, first - after - 1
}
