package engine

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// What the machine is given of an event source. A node on which hundreds of containers
// start and end at once says some thousands of things within seconds, which find room; a
// storm must take neither memory nor time from the relists: 128 events each 10 ms are
// 12,800 a second, a few percent of a core, and what comes faster than that for a third
// of a second is counted and lost.
const (
	queueRoom  = 4096
	weightRoom = 4 * queueRoom         // weight of their statuses
	batch      = 128                   // events of one source in one step, at most
	batchPace  = 10 * time.Millisecond // real time between two such steps
)

// streams is where the goroutines of the event sources leave what they hear, and where
// the loop finds it. Safe for concurrent use, but for next.
type streams struct {
	wake chan struct{} // holds one token when there is something to take
	next time.Time     // real time before which the loop takes nothing

	mu      sync.Mutex // guards what follows
	taps    []*tap
	held    bool          // the machine knows that all are to be closed
	changed chan struct{} // closed, and made anew, with every change of the two
}

// A tap is one stream that was opened, until the machine knows that it has ended.
type tap struct {
	source ledger.Source
	end    context.CancelFunc
	events []SourceEvent // that the loop has not taken, oldest first
	weight int           // of their statuses
	lost   uint64
	over   *StreamEnded // nil until it is
}

func newStreams() *streams {
	return &streams{wake: make(chan struct{}, 1), changed: make(chan struct{})}
}

// stream opens and ends the streams that a step asks for.
func (s *shell) stream(w Work) {
	for _, source := range w.Close {
		s.streams.end(source)
	}
	for _, source := range w.Open {
		s.open(source)
	}
	s.streams.hold(w.Held)
}

// open runs a stream beside the loop until it is over.
func (s *shell) open(source ledger.Source) {
	i := slices.IndexFunc(s.config.Streams, func(c Stream) bool { return c.Source == source })
	run := s.config.Streams[i].Run
	ctx, cancel := context.WithCancel(s.ctx)
	t := s.streams.add(source, cancel)
	s.beside.do(func() {
		defer cancel()
		err := io.EOF
		defer func() {
			s.streams.over(t, StreamEnded{Source: source, Kind: call.KindOf(err), Text: err.Error()})
		}()
		if why := run(ctx, func(u pleg.Upstream) { s.streams.put(t, u, s.clock) }); why != nil {
			err = why
		}
	})
}

// drain steps the machine with what the streams have said.
func (s *shell) drain() {
	s.streams.next = time.Now().Add(batchPace)
	for _, in := range s.streams.take() {
		s.step(in)
	}
}

// drainAll steps the machine with all that the streams have said, so that what came is
// counted to the end.
func (s *shell) drainAll() {
	for range int(ledger.Sources) * queueRoom / batch { // no more, though somebody goes on talking
		inputs := s.streams.take()
		if len(inputs) == 0 {
			return
		}
		for _, in := range inputs {
			s.step(in)
		}
	}
}

// ready returns what has something to receive when the loop may take what was said; nil
// before that.
func (l *streams) ready() <-chan struct{} {
	if time.Now().Before(l.next) {
		return nil
	}
	return l.wake
}

// rest returns the real time until the loop may take something again.
func (l *streams) rest() time.Duration {
	if rest := time.Until(l.next); rest > 0 {
		return rest
	}
	return heartbeat
}

func (l *streams) add(source ledger.Source, end context.CancelFunc) *tap {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &tap{source: source, end: end}
	l.taps = append(l.taps, t)
	l.change()
	return t
}

// end has a stream end soon.
func (l *streams) end(source ledger.Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.taps {
		if t.source == source {
			t.end()
		}
	}
}

// over notes that a stream's goroutine has nothing more to do.
func (l *streams) over(t *tap, why StreamEnded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.over = &why
	l.change()
	l.rouse()
}

// put keeps one event, or counts it where there is no room. It waits for nobody.
func (l *streams) put(t *tap, u pleg.Upstream, clock Clock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.lost += u.Skipped
	switch weight := weight(u); {
	case u.ID == "":
	case len(t.events) < queueRoom && t.weight+weight <= weightRoom && len(u.ID) <= ledger.LongestID:
		t.events = append(t.events, SourceEvent{Upstream: u, Received: clock.Now()})
		t.weight += weight
	default:
		t.lost++
	}
	l.rouse()
}

// take returns what each stream has said, as far as one step may have it, and of those
// that are over that they are after the last that they said.
func (l *streams) take() (inputs []Input) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taps = slices.DeleteFunc(l.taps, func(t *tap) bool {
		if n := min(len(t.events), batch); n > 0 || t.lost > 0 {
			inputs = append(inputs, Streamed{Source: t.source, Events: slices.Clone(t.events[:n]), Lost: t.lost})
			for _, e := range t.events[:n] {
				t.weight -= weight(e.Upstream)
			}
			t.events, t.lost = slices.Delete(t.events, 0, n), 0
		}
		if len(t.events) > 0 {
			l.rouse()
			return false
		}
		t.events = nil // a storm leaves nothing behind
		if t.over != nil {
			inputs = append(inputs, *t.over)
		}
		return t.over != nil
	})
	return inputs
}

func weight(u pleg.Upstream) int {
	if u.Status == nil {
		return 0
	}
	return u.Status.Weight()
}

// hold notes whether the machine has all streams closed for a while.
func (l *streams) hold(held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != held {
		l.held = held
		l.change()
	}
}

// quiet reports whether all streams are held and their goroutines have returned, and
// otherwise what is closed when that may have changed.
func (l *streams) quiet() (bool, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	runs := slices.ContainsFunc(l.taps, func(t *tap) bool { return t.over == nil })
	return l.held && !runs, l.changed
}

func (l *streams) change() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *streams) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
