package replay

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
)

// warm is how much of the time before it a scene has at least: views draw it.
const warm = 2 * time.Minute

// lately is how long ago a relist has ended at whose end nothing else was to be seen than now.
const lately = time.Second

// A Scene is what a view has to be shown one after the other, so that the last of it is the
// moment that was asked for.
type Scene struct {
	Updates []diagnose.Update // none where that moment is shown already; those before the last may lack what was wrong
	Reset   bool              // they go on from nothing that was shown before
	Place   int               // of the last in the marks; -1 where the scan has not come so far
}

// A reel plays a recording, and diagnoses what it shows.
type reel struct {
	film   *Film
	player *record.Player
	live   *diagnose.Live
	place  int           // of what was read last; where it began less one at first
	exact  bool          // place is one of the marks, or will be
	judges int           // from which place on it is said what was wrong
	next   engine.Update // that live reads
	again  *record.Shown // was read too early; nil for none
	begun  bool
}

func (f *Film) reel(segment int, live *diagnose.Live) *reel {
	r := &reel{film: f, player: f.recording.Segment(segment), place: -1, exact: true}
	r.live = live.Fork(r)
	return r
}

// Next makes the reel a feed for its Live.
func (r *reel) Next(context.Context) (engine.Update, error) { return r.next, nil }

// read reads on.
func (r *reel) read(ctx context.Context) (s record.Shown, err error) {
	if err := context.Cause(ctx); err != nil {
		return s, err
	}
	if r.again != nil {
		s, r.again = *r.again, nil
	} else if s, err = r.player.Next(); err != nil {
		return s, err
	}
	if s.Fresh = s.Fresh && r.begun; s.Fresh { // a player knows nothing before its first
		r.live = diagnose.NewLive(r, r.film.endpoint)
	}
	r.begun = true
	return s, nil
}

// diagnose says what was wrong in what was read.
func (r *reel) diagnose(ctx context.Context, s record.Shown) (diagnose.Update, error) {
	r.place++
	s.Snapshot.Seq = uint64(r.place) + 1
	if r.place < r.judges {
		return diagnose.Update{Update: s.Update}, nil
	}
	r.next = s.Update
	return r.live.Next(ctx)
}

// Seek returns the scene of a moment: the last that was shown up to it. Where the scan has not
// come so far, what was wrong is worked out from the time shortly before it alone. It fails
// where ctx ends, and where nothing of that time can be played.
func (f *Film) Seek(ctx context.Context, at time.Time) (Scene, error) {
	if marks, all, _ := f.Scanned(); len(marks) > 0 && (all || covers(marks, at)) {
		return f.show(ctx, placeOf(marks, at))
	}
	return f.ahead(ctx, at)
}

// Relist returns the scene in which a relist had just ended: so many before the one that is
// shown where by is less than 0, else after it; or the first or the last moment. What is shown
// is the moment at the place of its scene. It waits until the scan has come so far.
func (f *Film) Relist(ctx context.Context, place int, at time.Time, by int) (Scene, error) {
	to, err := f.find(ctx, place, at, by)
	if err != nil {
		return Scene{}, err
	}
	if f.at == nil && by < 0 { // what has just ended is what was shown live
		if marks, _, _ := f.Scanned(); marks[len(marks)-1].At.Sub(marks[to].At) < lately {
			to, _ = relist(marks, to, -1)
		}
	}
	return f.show(ctx, to)
}

// find waits until the place is known to which so many relists go from a moment.
func (f *Film) find(ctx context.Context, place int, at time.Time, by int) (to int, err error) {
	at = at.Round(0)
	search := func(marks []Mark) (found bool) {
		from := place
		if from < 0 {
			from = placeOf(marks, at)
		}
		to, found = relist(marks, from, by)
		return found
	}
	marks, err := f.await(ctx, func(marks []Mark) bool { return (place >= 0 || covers(marks, at)) && search(marks) })
	if err == nil {
		search(marks)
	}
	return to, err
}

// show returns the scene of a mark.
func (f *Film) show(ctx context.Context, place int) (s Scene, err error) {
	first, from, events, anew := f.way(place)
	if anew {
		f.leave()
		f.at = f.reel(first.segment, from.live)
		f.at.place, f.at.judges = first.place-1, from.place
	}
	s, err = f.play(ctx, Scene{Reset: anew}, place, time.Time{})
	if len(events) > 0 && len(s.Updates) > 0 && s.Updates[0].Snapshot.Seq == uint64(first.place)+1 {
		s.Updates[0].Events = events
	}
	return s, err
}

// way returns how to come to a mark: on from where the film is, or anew from the beginning of a
// segment, up to the first moment of which there were events; and from which mark on it has to be
// said what was wrong.
func (f *Film) way(place int) (first start, from known, events []engine.Event, anew bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := segmentOf(f.starts, place)
	if r := f.at; r != nil && r.exact && r.place <= place && segmentOf(f.starts, r.place) >= i-1 {
		return start{}, known{}, nil, false
	}
	for i > 0 && !f.starts[i].fresh && f.marks[place].At.Sub(f.marks[f.starts[i].place].At) < warm {
		i--
	}
	first = f.starts[i]
	from = known{place: first.place, live: first.live}
	at, _ := slices.BinarySearchFunc(f.known, place+1, func(k known, place int) int { return cmp.Compare(k.place, place) })
	if at > 0 && f.known[at-1].place > first.place {
		from = f.known[at-1]
	}
	return first, from, f.before(first.place, first), true
}

// segmentOf returns which start a mark comes after.
func segmentOf(starts []start, place int) int {
	i, found := slices.BinarySearchFunc(starts, place, func(s start, place int) int { return cmp.Compare(s.place, place) })
	if !found {
		i--
	}
	return max(i, 0)
}

// ahead returns the scene of a moment to which the scan has not come.
func (f *Film) ahead(ctx context.Context, at time.Time) (Scene, error) {
	i := len(f.heads) - 1
	for i > 0 && f.heads[i].At.After(at) {
		i--
	}
	for i > 0 && f.heads[i-1].Run == f.heads[i].Run && at.Sub(f.heads[i].At) < warm {
		i--
	}
	f.leave()
	f.at = f.reel(i, diagnose.NewLive(nil, f.endpoint))
	f.at.exact = i == 0
	return f.play(ctx, Scene{Reset: true}, math.MaxInt, at.Round(0))
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
		next, err := r.read(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			f.leave()
			return Scene{}, err
		case err != nil && !errors.Is(err, io.EOF) && len(s.Updates) == 0: // damaged: nothing comes before that
			return Scene{}, err
		}
		if err != nil {
			break
		}
		if !at.IsZero() && len(s.Updates) > 0 && next.Snapshot.At.After(at) {
			r.again = &next
			break
		}
		if next.Fresh {
			s.Reset, s.Updates = true, s.Updates[:0]
		}
		u, err := r.diagnose(ctx, next)
		if err != nil {
			f.leave()
			return Scene{}, err
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
