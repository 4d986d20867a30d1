package engine

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrStopped is what a reader gets when [Engine.Run] has returned and there is
// nothing more to come.
var ErrStopped = errors.New("engine stopped")

// pace is the least real time between two snapshots, and between two updates of
// one reader.
const pace = 100 * time.Millisecond

// A board is where the engine leaves what is new, and where readers find it.
// Safe for concurrent use.
type board struct {
	mu       sync.Mutex // guards what follows
	snapshot *Snapshot  // nil until the first one
	upto     uint64     // the last event that belongs to snapshot
	ring     ring
	stopped  bool
	changed  chan struct{} // closed, and made anew, with every change
}

func newBoard(events int) *board {
	return &board{ring: ring{size: events}, changed: make(chan struct{})}
}

// add keeps an event, which readers see with the next snapshot, and numbers it.
func (b *board) add(e Event) Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ring.add(e)
}

func (b *board) publish(s *Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.snapshot, b.upto = s, b.ring.last
	b.wakeAll()
}

func (b *board) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	b.wakeAll()
}

func (b *board) wakeAll() {
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *board) newest() *Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.snapshot
}

// A Feed is one reader's place in the stream of updates. It holds nothing that
// must be closed. One goroutine at a time may use it; an engine may have any
// number of feeds.
type Feed struct {
	board *board
	seen  uint64    // the snapshot that was delivered last
	event uint64    // the event that was delivered last
	at    time.Time // real time of the last delivery
}

// Feed returns a new reader. Its first update has all events that are still
// kept, and counts as lost those that are not.
func (e *Engine) Feed() *Feed { return &Feed{board: e.board} }

// Next waits for a snapshot that this reader has not had yet and returns the
// newest one with the events up to it; never more than ten times a second.
// After the end of [Engine.Run] it returns what is left once, then
// [ErrStopped]. When ctx ends first it returns the cause and nothing is lost.
func (f *Feed) Next(ctx context.Context) (Update, error) {
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

// A patience says what a reader waits for: a change, or a time if after is set.
type patience struct {
	changed <-chan struct{}
	after   time.Duration
}

func (p patience) until(ctx context.Context) error {
	var timer <-chan time.Time
	if p.after > 0 {
		timer = time.After(p.after)
	}
	select {
	case <-p.changed:
	case <-timer:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// take returns an update if there is one to deliver now, and otherwise what to
// wait for.
func (f *Feed) take() (update Update, ready bool, wait patience, err error) {
	b := f.board
	b.mu.Lock()
	defer b.mu.Unlock()
	wait.changed = b.changed
	if b.snapshot == nil || b.snapshot.Seq <= f.seen {
		if b.stopped {
			err = ErrStopped
		}
		return Update{}, false, wait, err
	}
	if wait.after = pace - time.Since(f.at); wait.after > 0 && !b.stopped {
		return Update{}, false, wait, nil
	}
	update.Snapshot = b.snapshot
	update.Events, update.Lost = b.ring.between(f.event, b.upto)
	f.seen, f.event, f.at = b.snapshot.Seq, b.upto, time.Now()
	return update, true, wait, nil
}
