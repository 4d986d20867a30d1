// Package rewind goes to any moment of a recording, with what was wrong then. A [Film] plays its
// recording once from the beginning, so that it is known what happened when: the screen rewinds
// with it, and steps from relist to relist. It does no I/O but that of the recording, and reads no
// clock.
package rewind

import (
	"cmp"
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

const (
	// mostEvents is how many events a film remembers of the time before a scene.
	mostEvents = 10_000
	// wakeEvery is after how many marks those are woken that wait for one.
	wakeEvery = 256
	// knownEvery is after how many marks it is kept what diagnosis knows: that takes most of the time
	// of a seek.
	knownEvery = 30
)

// A Level is how bad a moment was for the node, as the screen colours its headline.
type Level uint8

// The levels, the worst last.
const (
	Unknown  Level = iota // not recorded, not judged yet, or paused
	Sound                 // nothing was wrong
	Warning               // something was, and the node stayed Ready
	Critical              // it was NotReady, or about to be
)

// A Mark is what a [Film] knows of one moment that was shown.
type Mark struct {
	At      time.Time // by the clock on the wall
	Relists uint64    // that had ended
	Word    string    // of the headline
	Level   Level
	Events  int // since the mark before
}

// A Film is a recording with what was wrong at each moment of it, as far as [Film.Scan] has come.
// Its methods may be called from any goroutine, but those that return a [Scene] one at a time.
type Film struct {
	recording *record.Recording
	head      record.Head

	mu      sync.Mutex // guards what follows
	news    *sync.Cond // of it
	marks   []Mark
	known   []known
	events  []engine.Event // the last ones
	total   int            // how many there were
	scanned bool           // to the end
	damage  error          // why the scan could go no further

	at *reel // where Seek and Next are; nil before the first seek
}

// A known place is a mark from which on the recording can be judged.
type known struct {
	place   int
	live    *diagnose.Live // as it was before
	begins  bool           // it is the first of a segment, from which on the recording can be played
	segment int
	events  int // that there were before
}

// New returns the film of a recording, of which nothing is known yet. The recording must stay open.
// It fails if that is empty.
func New(r *record.Recording) (*Film, error) {
	head, err := r.Head()
	f := &Film{recording: r, head: head}
	f.news = sync.NewCond(&f.mu)
	return f, err
}

// Head returns what the recording says of itself at its end.
func (f *Film) Head() record.Head { return f.head }

// Span returns when the recording begins and ends, by the clock on the wall and in the time zone
// of whoever looks.
func (f *Film) Span() (first, last time.Time) { return f.recording.Span() }

// Scan plays the recording once from its beginning, and takes down what was wrong when. It
// returns when it has come to the end, or why it could not: ctx has ended, or the rest of the
// recording is damaged. [Film.Scanned] says the same. It is called once.
func (f *Film) Scan(ctx context.Context) error {
	r := f.reel(known{}, diagnose.NewLive(nil, f.head.Endpoint))
	defer r.player.Close()
	for {
		err := r.read(ctx)
		if err == nil {
			f.know(r)
			var u diagnose.Update
			if u, err = r.live.Next(ctx); err == nil {
				f.mark(u)
			}
		}
		if err != nil {
			return f.ended(err)
		}
	}
}

// know keeps what diagnosis knows where a segment begins, and now and then.
func (f *Film) know(r *reel) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.known)
	begins := n == 0 || f.known[n-1].segment != r.player.Segment()
	if begins || len(f.marks)-f.known[n-1].place >= knownEvery {
		f.known = append(f.known, known{len(f.marks), r.live.Fork(nil), begins, r.player.Segment(), f.total})
	}
}

// mark takes down what was wrong at one moment.
func (f *Film) mark(u diagnose.Update) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total += len(u.Events)
	f.events = append(f.events, u.Events...)
	if over := len(f.events) - mostEvents; over > mostEvents/8 {
		f.events = slices.Delete(f.events, 0, over)
	}
	f.marks = append(f.marks, Mark{
		At: u.Snapshot.At.Round(0), Relists: u.Snapshot.Relists.Count, Word: u.Headline.Word, Level: levelOf(u.Headline), Events: len(u.Events),
	})
	if len(f.marks)%wakeEvery == 0 {
		f.news.Broadcast()
	}
}

func levelOf(h diagnose.Headline) Level {
	switch {
	case h.Sound():
		return Sound
	case h.Severity >= diagnose.Critical:
		return Critical
	case h.Severity >= diagnose.Warning:
		return Warning
	}
	return Unknown
}

func (f *Film) ended(err error) error {
	if errors.Is(err, io.EOF) {
		err = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scanned, f.damage = true, err
	f.news.Broadcast()
	return err
}

// Scanned returns the marks that there are now, in their order, and whether the scan has ended;
// with why it could go no further, nil if it came to the end. The marks are not to be changed.
func (f *Film) Scanned() (marks []Mark, all bool, damage error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clip(f.marks), f.scanned, f.damage
}

// await returns the marks once there are enough of them, or all.
func (f *Film) await(ctx context.Context, enough func(marks []Mark) bool) ([]Mark, error) {
	defer context.AfterFunc(ctx, f.news.Broadcast)()
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.scanned && ctx.Err() == nil && !enough(f.marks) {
		f.news.Wait()
	}
	if len(f.marks) == 0 && ctx.Err() == nil {
		return nil, cmp.Or(f.damage, record.ErrEmpty)
	}
	return slices.Clip(f.marks), context.Cause(ctx)
}
