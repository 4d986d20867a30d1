package rewind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
)

const (
	// warm is how much of the time before it a scene has at least: views draw it.
	warm = 2 * time.Minute
	// lately is how long ago a relist has ended at whose end nothing else was to be seen than now.
	lately = time.Second
)

// A Scene is what a view has to be shown one after the other, so that the last of it is the
// moment that was asked for.
type Scene struct {
	Updates []diagnose.Update // none where that moment is shown already; those before the last may lack what was wrong
	Reset   bool              // they go on from nothing that was shown before
	Place   int               // of the last in the marks; -1 where the scan has not come so far
}

// A reel plays a recording from the beginning of a segment, and diagnoses what it shows.
type reel struct {
	player *record.Player
	live   *diagnose.Live
	place  int           // of what was diagnosed last; before that the one before the first
	exact  bool          // place is one of the marks, or will be
	judges int           // from which place on it is said what was wrong
	next   engine.Update // that live reads
	early  bool          // next was read and is not diagnosed yet
}

// reel returns one that begins with a segment, and judges by live.
func (f *Film) reel(from known, live *diagnose.Live) *reel {
	r := &reel{player: f.recording.PlaySegment(from.segment), place: from.place - 1, exact: true}
	r.live = live.Fork(r)
	return r
}

// Next makes the reel a feed for its Live.
func (r *reel) Next(context.Context) (engine.Update, error) {
	r.place, r.early = r.place+1, false
	return r.next, nil
}

// read reads the next moment, for live to diagnose.
func (r *reel) read(ctx context.Context) (err error) {
	if err = context.Cause(ctx); err == nil && !r.early {
		if r.next, err = r.player.Next(); err == nil {
			r.early = true
		}
	}
	return err
}

// Seek returns the scene of a moment: the last that was shown up to it. Where the scan has not
// come so far, what was wrong is worked out from the time shortly before it alone. It fails
// where ctx ends, and where nothing of that time can be played.
func (f *Film) Seek(ctx context.Context, at time.Time) (Scene, error) {
	at = at.Round(0)
	if marks, all, _ := f.Scanned(); len(marks) > 0 && (all || covers(marks, at)) {
		return f.show(ctx, placeOf(marks, at))
	}
	f.leave()
	f.at = &reel{player: f.recording.Play(at.Add(-warm)), place: -1}
	f.at.live = diagnose.NewLive(f.at, f.head.Endpoint)
	f.at.exact = f.at.player.Segment() == 0
	return f.play(ctx, Scene{Reset: true}, math.MaxInt, at)
}

// Relist returns the scene in which a relist had just ended: so many before the one that is
// shown where by is less than 0, else after it; or the first or the last moment. What is shown
// is the moment at the place of its scene. It waits until the scan has come so far.
func (f *Film) Relist(ctx context.Context, place int, at time.Time, by int) (Scene, error) {
	at = at.Round(0)
	to := 0
	search := func(marks []Mark) (found bool) {
		from := place
		if from < 0 {
			from = placeOf(marks, at)
		}
		if f.at == nil && by < 0 {
			if last, ok := relist(marks, from, -1); ok && marks[len(marks)-1].At.Sub(marks[last].At) < lately { // that was shown live
				from = last
			}
		}
		to, found = relist(marks, from, by)
		return found
	}
	marks, err := f.await(ctx, func(marks []Mark) bool { return (place >= 0 || covers(marks, at)) && search(marks) })
	if err != nil {
		return Scene{}, err
	}
	search(marks)
	return f.show(ctx, to)
}

// show returns the scene of a mark: on from where the film is, or anew from the beginning of a
// segment, with the events before.
func (f *Film) show(ctx context.Context, place int) (Scene, error) {
	f.mu.Lock()
	i := len(f.known) - 1
	for f.known[i].place > place {
		i--
	}
	judged := f.known[i]
	for i > 0 && (!f.known[i].begins || f.marks[place].At.Sub(f.marks[f.known[i].place].At) < warm) {
		i--
	}
	from, r := f.known[i], f.at
	dropped := f.total - len(f.events)
	events := slices.Clone(f.events[:max(from.events-dropped, 0)])
	f.mu.Unlock()
	if r != nil && r.exact && from.place <= r.place && r.place <= place {
		return f.play(ctx, Scene{}, place, time.Time{})
	}
	f.leave()
	f.at = f.reel(from, judged.live)
	f.at.judges = judged.place
	s, err := f.play(ctx, Scene{Reset: true}, place, time.Time{})
	if err == nil && len(s.Updates) > 0 {
		s.Updates[0].Events = append(events, s.Updates[0].Events...)
	}
	return s, err
}

// Next returns the scene of the next moment that was shown. After the last it returns io.EOF, or what
// is wrong with the rest. Before it another scene must have been returned.
func (f *Film) Next(ctx context.Context) (Scene, error) {
	if f.at == nil {
		return Scene{}, io.EOF
	}
	s, err := f.play(ctx, Scene{}, f.at.place+1, time.Time{})
	if err == nil && len(s.Updates) == 0 {
		err = io.EOF
	}
	return s, err
}

// play adds to a scene what comes next: up to a place, and to a moment if there is one.
func (f *Film) play(ctx context.Context, s Scene, to int, at time.Time) (Scene, error) {
	r := f.at
	for r.place != to {
		err := r.read(ctx)
		if err == nil && !at.IsZero() && len(s.Updates) > 0 && r.next.Snapshot.At.After(at) {
			break
		}
		u := diagnose.Update{Update: r.next}
		switch {
		case err != nil:
		case r.place+1 < r.judges:
			_, err = r.Next(ctx)
		default:
			u, err = r.live.Next(ctx)
		}
		if ctx.Err() != nil {
			f.leave()
			return Scene{}, err
		}
		if err != nil && !errors.Is(err, io.EOF) && len(s.Updates) == 0 { // damaged: nothing comes before that
			return Scene{}, err
		}
		if err != nil {
			break
		}
		s.Updates = append(s.Updates, u)
	}
	if s.Place = r.place; !r.exact {
		s.Place = -1
	}
	return s, nil
}

// leave forgets where Seek and Next are.
func (f *Film) leave() {
	if f.at != nil {
		f.at.player.Close()
		f.at = nil
	}
}

// covers reports whether the marks go beyond a moment.
func covers(marks []Mark, at time.Time) bool {
	return len(marks) > 0 && marks[len(marks)-1].At.After(at)
}

// placeOf returns the place of the last mark up to a moment; the first if none is.
func placeOf(marks []Mark, at time.Time) int {
	for i := len(marks) - 1; i > 0; i-- { // the clock may have been set back
		if !marks[i].At.After(at) {
			return i
		}
	}
	return 0
}

// relist returns the place where a relist had just ended: as many before a mark as by is less
// than 0, or after it. Where there are fewer it is the first or the last mark, and there is none.
func relist(marks []Mark, from, by int) (to int, ok bool) {
	way := 1
	if by < 0 {
		way, by = -1, -by
	}
	for i := from + way; by > 0; i += way {
		if i < 0 || i >= len(marks) {
			return i - way, false
		}
		if i > 0 && marks[i].Relists != marks[i-1].Relists {
			by--
		}
		to = i
	}
	return to, true
}

// Moment returns what was shown last up to a moment, with what was wrong then, as far as that and
// the two minutes before say. It fails where ctx
// ends, and where nothing of that time can be played: then nothing is returned. Damage says why
// nothing was played after what is returned.
func Moment(ctx context.Context, r *record.Recording, at time.Time) (u diagnose.Update, damage error) {
	reel := &reel{player: r.Play(at.Add(-warm))}
	defer reel.player.Close()
	for {
		err := reel.read(ctx)
		if err == nil && u.Snapshot != nil && reel.next.Snapshot.At.After(at) {
			return u, nil
		}
		if reel.live == nil && err == nil {
			reel.live = diagnose.NewLive(reel, reel.player.Head().Endpoint)
		}
		var next diagnose.Update
		if err == nil {
			next, err = reel.live.Next(ctx)
		}
		switch {
		case errors.Is(err, io.EOF) && u.Snapshot == nil:
			return u, fmt.Errorf("replay: nothing was shown before %s", at.Format(time.DateTime))
		case errors.Is(err, io.EOF):
			return u, nil
		case err != nil:
			return u, err
		}
		u = next
	}
}
