package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/frozen"
)

const (
	// budget is how much memory the state that a segment begins with may take, and each entry after
	// it. With the block that it is in, of mostBlock, that is 64 MiB.
	budget = 40 << 20
	// mostEvents is how many may come from one snapshot to the next.
	mostEvents = 1 << 17
)

// A Player plays a recording from some moment on. It makes no call and reads no clock. Not safe
// for concurrent use.
type Player struct {
	recording *Recording
	next      int // the segment after the one that is played
	seq       uint64
	events    []engine.Event // since the last snapshot

	replay *engine.Replay // nil before the first segment
	run    string
	again  *Shown // is to be returned once more; nil for none
	fresh  bool   // the run has begun, or was joined, since the last snapshot
	begun  bool   // a segment is being played
	blocks blockReader
	block  []byte // what is left of the one that is played
	reader *frozen.Reader
	lists  lists
	part   int   // how many runs there were up to this one
	err    error // why nothing more can be played; nil while it can
}

// A Shown is a moment of a recording: what there was to see, with the events since the one before.
type Shown struct {
	engine.Update
	Head  Head // of the segment that has it
	Fresh bool // nothing before it is known: the first one, and where another run begins
}

// Play returns a player that begins with the last segment which begins at or before a moment; at
// the beginning for the zero time.
func (r *Recording) Play(from time.Time) *Player {
	return &Player{recording: r, next: r.before(from), fresh: true}
}

// Close frees what the player has. It is of no use after that.
func (p *Player) Close() { p.blocks.close() }

// Next plays up to the next snapshot that was made and returns it. At the end it returns io.EOF, and
// where the recording is damaged, or ends in the middle ([ErrCut]), what is wrong with the rest.
func (p *Player) Next() (Shown, error) {
	if s := p.again; s != nil {
		p.again = nil
		return *s, nil
	}
	for {
		switch _, s, err := p.advance(); {
		case err != nil:
			return Shown{}, err
		case s != nil:
			return *s, nil
		}
	}
}

// A step is one input of the recorded machine, with what came of it.
type step struct {
	at   time.Time
	in   engine.Input
	work engine.Work
}

// advance plays the next entry: a snapshot, or a step.
func (p *Player) advance() (s step, shown *Shown, err error) {
	if p.err != nil {
		return s, nil, p.err
	}
	e, err := p.entry()
	switch {
	case err != nil:
	case e.In == nil:
		shown, err = p.show(e)
	default:
		s, err = p.step(e)
	}
	p.err = err
	return s, shown, err
}

// step steps the machine.
func (p *Player) step(e entry) (step, error) {
	in, ok := p.lists.give(e)
	if !ok {
		return step{}, p.damaged(errors.New("a list refers to rows that are not there"))
	}
	w, err := p.replay.Work(e.At, in)
	if err != nil {
		return step{}, err
	}
	if p.events = append(p.events, w.Events...); len(p.events) > mostEvents {
		return step{}, p.damaged(fmt.Errorf("%d events, and no snapshot", len(p.events)))
	}
	return step{e.At, in, w}, nil
}

func (p *Player) show(e entry) (*Shown, error) {
	s, err := p.replay.Snapshot(e.At, e.Costs)
	if err != nil {
		return nil, err
	}
	p.seq++
	s.Seq = p.seq // for the whole recording: what one reader had it is not given again
	shown := &Shown{Update: engine.Update{Snapshot: s, Events: p.events}, Head: p.recording.segments[p.next-1].Head, Fresh: p.fresh}
	p.events, p.fresh = nil, false
	return shown, nil
}

// entry returns the next entry of the recording.
func (p *Player) entry() (e entry, err error) {
	for err == nil {
		switch {
		case !p.begun && p.next == len(p.recording.segments):
			return entry{}, cmp.Or(p.recording.damage, io.EOF)
		case !p.begun:
			err = p.begin()
		case len(p.block) == 0:
			p.block, err = p.blocks.next()
			if errors.Is(err, io.EOF) {
				p.begun, err = false, nil
			}
		default:
			e, p.reader.Budget = entry{}, budget
			if p.block, err = frozen.Read(p.reader, p.block, &e); err == nil {
				return e, nil
			}
		}
	}
	return entry{}, p.damaged(err)
}

// damaged says which segment cannot be played on, and why.
func (p *Player) damaged(err error) error {
	return fmt.Errorf("the segment of %s is damaged: %w", p.recording.segments[p.next-1].At.Format(time.RFC3339), err)
}

// begin begins the next segment: takes the machine as it stood then.
func (p *Player) begin() error {
	s := p.recording.segments[p.next]
	p.next++
	if err := p.open(s); err != nil {
		return err
	}
	var k key
	block, err := frozen.Read(p.reader, p.block, &k)
	if err != nil {
		return err
	}
	if p.replay, p.block, err = engine.Thaw(k.Start, p.reader, block); err != nil {
		return err
	}
	if p.begun = true; p.run != s.Run {
		p.run, p.fresh = s.Run, true
		p.part++
	}
	return nil
}

// open reads the first block of a segment.
func (p *Player) open(s *segment) (err error) {
	p.reader, p.lists = frozen.NewReader(budget), lists{}
	if err = p.blocks.begin(s); err == nil {
		p.block, err = p.blocks.next()
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("there is none")
	}
	if err != nil {
		return fmt.Errorf("its first block: %w", err)
	}
	return nil
}

// A Feed delivers the updates of one run of an engine, as [engine.Feed] does while it runs. Not safe
// for concurrent use.
type Feed struct {
	player *Player
	begun  bool   // the first update was delivered
	next   *Shown // that begins another run; nil if none was come to
}

// Feed returns what delivers the rest of what p plays, run by run.
func (p *Player) Feed() *Feed { return &Feed{player: p} }

// Next returns the next update at once. At the end of the run it returns [engine.ErrStopped],
// and where the recording is damaged what is wrong with it.
func (f *Feed) Next(ctx context.Context) (engine.Update, error) {
	if err := context.Cause(ctx); err != nil {
		return engine.Update{}, err
	}
	if f.next != nil {
		return engine.Update{}, engine.ErrStopped
	}
	s, err := f.player.Next()
	switch {
	case errors.Is(err, io.EOF):
		return engine.Update{}, engine.ErrStopped
	case err != nil:
		return engine.Update{}, err
	case s.Fresh && f.begun:
		f.next = &s
		return engine.Update{}, engine.ErrStopped
	}
	f.begun = true
	return s.Update, nil
}

// Rest returns a feed of the run that comes after the one that has ended; nil if none does.
func (f *Feed) Rest() *Feed {
	if f.next == nil {
		return nil
	}
	f.player.again = f.next
	return f.player.Feed()
}

// Segment returns a player that begins with segment i of [Recording.Heads].
func (r *Recording) Segment(i int) *Player { return &Player{recording: r, next: i, fresh: true} }

// End returns when the last thing in the recording happened, as far as that can be read; zero
// where nothing is recorded.
func (r *Recording) End() (end time.Time) {
	if len(r.segments) == 0 {
		return end
	}
	p := r.Segment(len(r.segments) - 1)
	defer p.Close()
	end = r.segments[len(r.segments)-1].At
	for {
		e, err := p.entry()
		if err != nil {
			return end
		}
		end = e.At
	}
}
