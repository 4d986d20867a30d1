package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/podworker"
)

// A hub connects the lanes, the model and the tape. A lane reports an observation. The hub writes
// it to the tape, gives it to the model, and wakes the lanes that now have something to do. It is
// safe for concurrent use.
//
// A lane never holds the lock while it waits for the runtime, so a call that hangs holds up only
// its own lane.
type hub struct {
	config Config
	start  Start // what the model began with; the model changes its own copy, lanes read this one
	buffer *buffer
	show   func(*Snapshot) // gets each snapshot, one after the other; nil if nobody wants them
	alarm  *time.Timer     // goes off when a lane or a tick is due
	over   chan struct{}   // closed by close

	ticking sync.Mutex // locked for a whole tick; locked before mu

	mu      sync.Mutex // guards what follows
	model   *Model
	at      time.Time // of the last observation
	closed  bool      // nothing is observed any more
	lastID  uint64    // of the calls
	applied int       // observations
	waiters []*waiter
	ours    map[target]context.CancelFunc // cancels those of our own calls that are out
	streams int                           // how many are open
	ticker  ticker
	meter   meter
}

// A waiter is a lane that waits for something to do.
type waiter struct {
	ask  question
	done chan struct{} // closed when ask has found something
}

// A question looks at the model, and reports whether there is something to do now. If not, at is
// when to ask again even if nothing is observed; zero for never. It is asked with the hub locked,
// and may begin a call.
type question func(m *Model, now time.Time) (found bool, at time.Time)

func newHub(c Config, m *Model, now time.Time) *hub {
	h := &hub{
		config: c, start: m.start, model: m, at: now, buffer: newBuffer(c.Events), alarm: time.NewTimer(0), over: make(chan struct{}),
		ours: make(map[target]context.CancelFunc), ticker: ticker{at: time.Now()}, meter: meter{began: time.Now()},
	}
	if c.Tape != nil {
		c.Tape.Begin(m)
	}
	return h
}

// observe reports an observation.
func (h *hub) observe(o Observation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.apply(o)
	h.letGo()
}

func (h *hub) mark(m Mark) { h.observe(Marked{m}) }

// apply writes an observation to the tape and gives it to the model. The hub is locked.
func (h *hub) apply(o Observation) {
	if h.closed {
		return
	}
	h.at = h.now()
	h.applied++
	if h.config.Tape != nil {
		h.config.Tape.Observe(h.at, o)
	}
	h.buffer.add(h.model.Apply(h.at, o))
}

// now returns the engine's time, which never goes back.
func (h *hub) now() time.Time { return latest(h.config.Clock.Now(), h.at) }

// await waits until ask finds something. It returns false if ctx ends before that. If several lanes
// wait for the same thing, the lane that came last gets it. A probe lane comes after all others, so
// that it never takes the turn of a kubelet lane.
func (h *hub) await(ctx context.Context, ask question) bool {
	return h.wait(ctx, ask, func(w *waiter) { h.waiters = slices.Insert(h.waiters, 0, w) })
}

// awaitLast is await for a probe lane.
func (h *hub) awaitLast(ctx context.Context, ask question) bool {
	return h.wait(ctx, ask, func(w *waiter) { h.waiters = append(h.waiters, w) })
}

func (h *hub) wait(ctx context.Context, ask question, queue func(*waiter)) bool {
	if ctx.Err() != nil {
		return false
	}
	h.mu.Lock()
	w := &waiter{ask: ask, done: make(chan struct{})}
	queue(w)
	h.letGo()
	h.mu.Unlock()
	select {
	case <-w.done:
		return true
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-w.done: // ask may have begun a call, which the lane has to make
		return true
	default:
	}
	h.waiters = slices.DeleteFunc(h.waiters, func(other *waiter) bool { return other == w })
	return false
}

// letGo wakes the lanes that have something to do, and sets the alarm for the others. The hub is
// locked.
func (h *hub) letGo() {
	if h.closed {
		return
	}
	now := h.now()
	var due time.Time
	for seen := -1; seen != h.applied; { // after what one lane begins, another may have something to do
		seen = h.applied
		due = h.wake(now)
	}
	due = sooner(due, h.model.due())
	late := h.late(now)
	wait := h.ticker.wait(h.model, late, time.Now())
	if out := h.model.calls.Flights(); len(out) > 0 && !late {
		wait = min(wait, glance-h.config.Clock.Real(out[0].Elapsed(now)))
	}
	if !due.IsZero() {
		wait = min(wait, max(h.config.Clock.Real(due.Sub(now)), spin))
	}
	h.alarm.Reset(max(wait, 0))
}

// wake asks all waiting lanes once, and wakes those that have something to do. It returns when to
// ask the others again. The hub is locked.
func (h *hub) wake(now time.Time) (due time.Time) {
	h.waiters = slices.DeleteFunc(h.waiters, func(w *waiter) bool {
		found, at := w.ask(h.model, now)
		if found {
			close(w.done)
			return true
		}
		due = sooner(due, at)
		return false
	})
	return due
}

// run ticks at each alarm until ctx ends. That wakes the lanes whose time has come, too.
func (h *hub) run(ctx context.Context) {
	defer h.alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.alarm.C:
		}
		h.tick(false)
	}
}

// tick tells the model that time has passed, and shows a snapshot. If nothing is due and must is
// false, it only wakes lanes.
func (h *hub) tick(must bool) {
	h.ticking.Lock()
	defer h.ticking.Unlock()
	workers := h.workers()
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	now := h.now()
	due := h.model.due()
	if !must && h.ticker.wait(h.model, h.late(now), time.Now()) > 0 && (due.IsZero() || now.Before(due)) {
		h.letGo()
		h.mu.Unlock()
		return
	}
	h.apply(Ticked{Workers: workers, Cost: h.meter.cost(time.Now())})
	s := h.snapshot()
	h.ticker.ticked(s, h.late(h.at), time.Now())
	h.letGo()
	h.mu.Unlock()
	if h.show != nil {
		h.show(s)
	}
}

// snapshot returns the snapshot as of the last observation. The hub is locked.
func (h *hub) snapshot() *Snapshot {
	s := h.model.Snapshot(h.at)
	if h.config.Tape != nil {
		s.Recording = h.config.Tape.State()
	}
	return s
}

// close ends the hub with a last snapshot. Lanes that are still at work change nothing more.
func (h *hub) close() {
	h.tick(true)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	close(h.over)
}

// workers asks the kubelet what its pod workers do; nil if it cannot be asked.
func (h *hub) workers() *podworker.Workers {
	if h.config.Workers == nil {
		return nil
	}
	w := h.config.Workers()
	return &w
}

// lanes runs lanes side by side.
type lanes struct{ running sync.WaitGroup }

// run starts a lane. The lane must return when its context ends. A panic in it ends plegtop in good
// order (package guard).
func (l *lanes) run(lane func()) {
	l.running.Go(func() {
		defer guard.Catch()
		lane()
	})
}

// wait waits until all lanes have returned, at most for limit or atEnd. A runtime that ignores its
// context keeps its lane, but does not keep us here.
func (l *lanes) wait(limit time.Duration) {
	done := make(chan struct{})
	guard.Go(func() {
		l.running.Wait()
		close(done)
	})
	timer := time.NewTimer(max(min(limit, atEnd), 0))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
