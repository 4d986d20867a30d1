package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
)

// A Show is how far the last show of a recording has come.
type Show struct {
	Head record.Head // of what was shown last
	At   time.Time   // when that was; zero if nothing was shown
}

// play shows a recording, run by run, to see, until that returns false or the recording is over.
// Commands of the next steps name the runtime's endpoint. It fails where ctx ends, and where the
// recording is damaged, or ends in the middle; Show says up to where it was shown.
func play(ctx context.Context, p *record.Player, see func(diagnose.Update, record.Shown) bool) (s Show, err error) {
	defer p.Close()
	var feed one
	var live *diagnose.Live
	for {
		shown, err := p.Next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return s, err
		}
		if live == nil || shown.Fresh {
			live = diagnose.NewLive(&feed, shown.Head.Endpoint)
		}
		feed.update = shown.Update
		u, err := live.Next(ctx)
		if err != nil {
			return s, err
		}
		s = Show{Head: shown.Head, At: shown.Snapshot.At.Round(0)}
		if !see(u, shown) {
			return s, nil
		}
	}
}

// A one is a feed of the update that it holds.
type one struct{ update engine.Update }

func (f *one) Next(context.Context) (engine.Update, error) { return f.update, nil }

// Moment returns what was shown last up to a moment, with what was wrong then, as far as that and
// the two minutes before tell. It fails where ctx ends, and where nothing of that time can be
// played: then nothing is returned. Damage says why nothing was played after what is returned.
func Moment(ctx context.Context, r *record.Recording, at time.Time) (u diagnose.Update, s Show, damage error) {
	var last diagnose.Update
	s, err := play(ctx, r.Play(at.Add(-warm)), func(next diagnose.Update, _ record.Shown) bool {
		if last.Snapshot != nil && next.Snapshot.At.After(at) {
			return false
		}
		last = next
		return true
	})
	if last.Snapshot == nil && err == nil {
		err = fmt.Errorf("replay: nothing was shown before %s", at.Format(time.DateTime))
	}
	return last, s, err
}
