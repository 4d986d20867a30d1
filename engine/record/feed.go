package record

import (
	"context"
	"errors"
	"io"

	"github.com/plegtop/plegtop/engine"
)

// A Feed delivers the updates of one run of an engine, as [engine.Feed] does while it runs. Not
// safe for concurrent use.
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
