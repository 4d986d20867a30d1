package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Player plays a recording from some moment on. It makes no call and reads no clock. Not safe
// for concurrent use.
type Player struct {
	recording *Recording
	next      int // the segment after the one that is played
	items     items
	codec     *codec
	model     model // nil before the first segment
	restore   func(*opening) (model, error)
	events    []engine.Event // since the last snapshot
	head      Head
	last      time.Duration // of the last observation, since the start of the engine
	first     int           // the first segment to show; snapshots before it are skipped
	err       error         // why nothing more can be played; nil while it can
}

// A model is an [engine.Model].
type model interface {
	Apply(at time.Time, o engine.Observation) []engine.Event
	Snapshot(at time.Time) *engine.Snapshot
}

// mostEvents is how many events may come from one snapshot to the next.
const mostEvents = 1 << 17

// mostGap is the longest time between two observations. An engine ticks each second, but a process
// can be stopped for days. A model goes through each period in between.
const mostGap = 30 * 24 * time.Hour

// Play returns a player that begins with the last segment that begins at or before a moment. For
// the zero time it begins at the beginning.
func (r *Recording) Play(from time.Time) *Player {
	first := 0
	for i, s := range r.segments {
		if !from.IsZero() && !s.began.After(from) {
			first = i
		}
	}
	return r.PlaySegment(first)
}

// PlaySegment returns a player that begins with a segment; the first is 0.
func (r *Recording) PlaySegment(i int) *Player {
	p := &Player{recording: r, restore: restored, first: i, next: i}
	if r.as != 0 { // the state of that release depends on all earlier segments
		p.next = 0
	}
	return p
}

// Segment returns which segment is played, or will be shown first.
func (p *Player) Segment() int { return max(p.next-1, p.first) }

// As makes all players of the recording do the relist of another release. It plays the whole
// recording, and returns how many inspections are missing. Only that release would have made
// these. They fail. Call As before any Play.
func (r *Recording) As(ctx context.Context, release pleg.Release) (missing uint64, err error) {
	r.as = release
	p := r.Play(time.Time{})
	defer p.Close()
	for err == nil {
		if _, _, err = p.step(); err == nil {
			err = context.Cause(ctx)
		}
	}
	m, played := p.model.(*engine.Model)
	if !played || ctx.Err() != nil {
		return 0, fmt.Errorf("replay as a kubelet %v: %w", release, err)
	}
	return m.Missing(), nil
}

// Close frees the player's memory. Do not use the player after that.
func (p *Player) Close() { p.items.close() }

// Head returns the head of the segment that is played.
func (p *Player) Head() Head { return p.head }

// Next plays up to the next snapshot that was made, and returns it with the events since the
// previous one. At the end it returns io.EOF. If the recording is damaged or ends in the middle
// ([ErrCut]), it returns what is wrong with the rest.
func (p *Player) Next() (engine.Update, error) {
	for {
		at, o, err := p.step()
		if err != nil {
			return engine.Update{}, err
		}
		switch _, is := o.(engine.Ticked); {
		case is && p.next-1 < p.first:
			p.events = nil
		case is:
			return p.show(at)
		}
	}
}

// step applies the next observation and returns it.
func (p *Player) step() (at time.Time, o engine.Observation, err error) {
	if p.err != nil {
		return at, nil, p.err
	}
	at, o, err = p.observation()
	if asked, is := o.(engine.Requested); is && asked.What == engine.Follow && p.recording.as != 0 {
		o = engine.Requested{What: engine.Follow, Release: p.recording.as} // whatever the node's kubelet is
	}
	if err == nil {
		err = caught("go on from", func() { p.events = append(p.events, p.model.Apply(at, o)...) })
	}
	if err == nil && len(p.events) > mostEvents {
		err = fmt.Errorf("%w: there are %d events and no snapshot", errDamaged, len(p.events))
	}
	p.err = err
	return at, o, err
}

// show returns the snapshot of a moment.
func (p *Player) show(at time.Time) (u engine.Update, err error) {
	p.err = caught("show", func() { u.Snapshot = p.model.Snapshot(at) })
	if p.err != nil {
		return u, p.err
	}
	u.Events, p.events = p.events, nil
	return u, nil
}

// caught returns an error if do panics: a recording may have observations that no engine makes.
func caught(what string, do func()) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%w: this version cannot %s what was recorded: %v", errDamaged, what, value)
		}
	}()
	do()
	return nil
}

// observation returns the next observation of the recording.
func (p *Player) observation() (at time.Time, o engine.Observation, err error) {
	for {
		if p.model == nil || errors.Is(err, io.EOF) {
			if err = p.begin(); err != nil {
				return at, nil, err
			}
		}
		var e entry
		err = p.items.next(&e)
		if err == nil && (e.At < p.last || e.At > p.last+mostGap) {
			err = fmt.Errorf("%w: %v come after %v", errDamaged, e.At, p.last)
		}
		if err == nil {
			p.last = e.At
			at, o, err = p.codec.read(&e)
		}
		if !errors.Is(err, io.EOF) {
			return at, o, p.damaged(err)
		}
	}
}

// damaged says which segment cannot be played on; nil for nil.
func (p *Player) damaged(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the segment of %s: %w", p.recording.segments[p.next-1].began.Format(time.RFC3339), err)
}

// begin begins the next segment. The first segment that is played restores the model. In later
// segments the same model goes on.
func (p *Player) begin() error {
	if p.next == len(p.recording.segments) {
		return cmp.Or(p.recording.damage, io.EOF)
	}
	p.next++
	var o opening
	err := p.items.open(p.recording.segments[p.next-1])
	if err == nil {
		err = p.items.next(&o)
	}
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: it has no opening", errDamaged)
	}
	if err != nil {
		return p.damaged(err)
	}
	if p.model == nil {
		p.last = o.At
		p.codec = newCodec(clock{start: o.Start.At, steps: o.Steps})
		o.Start.At = p.codec.clock.at(0)
		if panicked := caught("begin with", func() { p.model, err = p.restore(&o) }); panicked != nil {
			err = panicked
		}
	}
	if p.recording.as != 0 && err == nil && p.next == 1 {
		err = caught("begin with", func() {
			p.model.Apply(p.codec.clock.at(o.At), engine.Requested{What: engine.Follow, Release: p.recording.as})
		})
	}
	p.head = o.Head
	p.codec.begin()
	return p.damaged(err)
}

// restored returns the model of the moment at which a segment begins.
func restored(o *opening) (model, error) {
	var c engine.Checkpoint
	if err := decodes.Unmarshal(o.Checkpoint, &c); err != nil {
		return nil, fmt.Errorf("the state of the engine: %w", err)
	}
	at := clock{start: o.Start.At, steps: o.Steps}
	c = at.reading(ages{}).copy(c).(engine.Checkpoint)
	return engine.Restore(o.Start, &c)
}
