// Package replay goes to any moment of a recording, with what was wrong then. A [Film] is a
// recording that was played once from its beginning, so that it is known when what happened:
// the screen rewinds with it, and steps from relist to relist and from problem to problem. It
// does no I/O but that of the recording, and reads no clock.
package replay

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
)

// mostEvents is how many events a film remembers of the time before a scene.
const mostEvents = 10_000

const (
	// knownEvery is how much time lies between two moments at which it is kept what diagnosis knows
	// at least, and mostKnown how many there are at most: they are further apart in a long film.
	knownEvery = 15 * time.Second
	mostKnown  = 1000
)

// wakeEvery is after how many marks those are woken that wait for one.
const wakeEvery = 256

// A Film is a recording with what was wrong at each moment of it, as far as [Film.Scan] has
// come. Its methods may be called from any goroutine, but those that return a [Scene] one at a
// time.
type Film struct {
	recording *record.Recording
	heads     []record.Head
	endpoint  string
	end       time.Time

	mu      sync.Mutex // guards what follows
	news    *sync.Cond // of it
	marks   []Mark
	starts  []start       // of each segment that has a mark
	known   []known       // in between
	every   time.Duration // how far apart they are
	events  []engine.Event
	told    int   // how many events there were, those that are no longer in events among them
	scanned bool  // to the end
	damage  error // why the scan could go no further

	at *reel // where Seek and Next are; nil before the first seek
}

// A start is the beginning of a segment, as the scan came to it.
type start struct {
	segment int            // of the recording's
	place   int            // of its first mark
	live    *diagnose.Live // as it was before that
	fresh   bool           // a run begins
	told    int            // events before the run
}

// A known is what diagnosis knew before a mark.
type known struct {
	place int
	at    time.Time
	live  *diagnose.Live
}

var errEmpty = errors.New("replay: nothing is recorded yet")

// New returns the film of a recording, of which nothing is known yet. Commands of the next steps
// name the endpoint, which may be empty. The recording must stay open. It fails if that is empty.
func New(r *record.Recording, endpoint string) (*Film, error) {
	f := &Film{recording: r, heads: r.Heads(), endpoint: endpoint, end: r.End().Round(0), every: knownEvery}
	if f.news = sync.NewCond(&f.mu); len(f.heads) == 0 {
		return nil, errEmpty
	}
	return f, nil
}

// Head returns what the recording says of itself at its end.
func (f *Film) Head() record.Head { return f.heads[len(f.heads)-1] }

// Span returns when the recording begins and ends, by the clock on the wall and in the time zone
// of whoever looks.
func (f *Film) Span() (first, last time.Time) { return f.heads[0].At.Local(), f.end.Local() }

// Scan plays the recording once from its beginning, and takes down what was wrong when. It
// returns when it has come to the end, or why it could not: ctx has ended, or the rest of the
// recording is damaged. [Film.Scanned] says the same. It is called once.
func (f *Film) Scan(ctx context.Context) error {
	r := f.reel(0, diagnose.NewLive(nil, f.endpoint))
	defer r.player.Close()
	for {
		s, err := r.read(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return f.ended(err)
		}
		f.begin(r, s)
		u, err := r.diagnose(ctx, s)
		if err != nil {
			return f.ended(err)
		}
		f.mark(u)
	}
}

func (f *Film) ended(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scanned, f.damage = true, err
	f.news.Broadcast()
	return err
}

// begin takes down what diagnosis knows where a segment begins, and now and then.
func (f *Film) begin(r *reel, s record.Shown) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.starts)
	if n > 0 && f.heads[f.starts[n-1].segment] == s.Head {
		f.know(r, s.Snapshot.At.Round(0))
		return
	}
	next := start{place: len(f.marks), fresh: n == 0 || s.Fresh, live: r.live.Fork(nil), told: f.told}
	if n > 0 {
		next.segment = f.starts[n-1].segment + 1
		if !s.Fresh {
			next.told = f.starts[n-1].told
		}
	}
	for f.heads[next.segment] != s.Head { // a segment in which nothing was shown
		next.segment++
	}
	f.starts = append(f.starts, next)
}

// know takes down what diagnosis knows, if that was long ago.
func (f *Film) know(r *reel, at time.Time) {
	if n := len(f.known); n > 0 && at.Sub(f.known[n-1].at).Abs() < f.every {
		return
	}
	f.known = append(f.known, known{len(f.marks), at, r.live.Fork(nil)})
	if len(f.known) == mostKnown {
		half := f.known[:0]
		for i := 0; i < mostKnown; i += 2 {
			half = append(half, f.known[i])
		}
		clear(f.known[len(half):])
		f.known, f.every = half, 2*f.every
	}
}

// mark takes down what was wrong at one moment.
func (f *Film) mark(u diagnose.Update) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told += len(u.Events)
	f.events = append(f.events, u.Events...)
	if over := len(f.events) - mostEvents; over > mostEvents/8 {
		f.events = slices.Delete(f.events, 0, over)
	}
	if f.marks = append(f.marks, markOf(u, f.told)); len(f.marks)%wakeEvery == 0 {
		f.news.Broadcast()
	}
}

// before returns the last events up to mark i that are of one run, the oldest first. What is
// returned is the caller's.
func (f *Film) before(i int, run start) []engine.Event {
	dropped := f.told - len(f.events)
	upTo := f.marks[i].told - dropped
	return slices.Clone(f.events[min(max(run.told-dropped, 0), max(upTo, 0)):max(upTo, 0)])
}
