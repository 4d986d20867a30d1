package lines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/ui/rewind"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Recorded is a recording that check and watch show. Not safe for concurrent use.
type Recorded struct {
	recording   *record.Recording
	first, last time.Time
	at          time.Time // that is to be shown; zero if none was named
}

// NewRecorded returns a recording, which must stay open, for the moment at. The zero time stands
// for the usual moment: check shows the end, watch and bench begin at the beginning.
func NewRecorded(r *record.Recording, at time.Time) *Recorded {
	first, last := r.Span()
	return &Recorded{recording: r, first: first, last: last, at: at}
}

// Check writes what was wrong at the moment to w, as [Check] does, and returns its exit code. It
// asks nobody. An error with another code than [ExitCannotTell] says why what was written may not
// be all.
func (r *Recorded) Check(ctx context.Context, w io.Writer, o CheckOptions) (code int, err error) {
	u, err := rewind.Moment(ctx, r.recording, cmp.Or(r.at, r.last))
	if u.Snapshot == nil {
		return ExitCannotTell, err
	}
	at := u.Snapshot.At.Round(0)
	if err != nil && !r.at.IsZero() && !errors.Is(err, record.ErrCut) {
		return ExitCannotTell, readable(at, err)
	}
	head, _ := r.recording.Head() // it could be read before
	o.Source, o.Node, o.Endpoint = "replay", head.Node, head.Endpoint
	code, failed := o.verdict(ctx, w, u)
	return code, cmp.Or(failed, readable(at, err))
}

// readable says up to when a recording can be read; nil where nothing is wrong with it.
func readable(upTo time.Time, err error) error {
	if err == nil || upTo.IsZero() {
		return err
	}
	return fmt.Errorf("the recording can be read up to %s: %w", upTo.Local().Format(time.DateTime), err)
}

// Watch writes the recording to w from the moment on, as [Watch] does of what it sees, and returns
// the exit code. If the recording is damaged, or ends in the middle, what can be read was written, and
// the error says up to when. An end in the middle has the code [ExitOK].
func (r *Recorded) Watch(ctx context.Context, w io.Writer, o Options) (code int, err error) {
	from := r.at
	if !from.IsZero() {
		from = from.Add(-2 * time.Minute) // what was so before is known then
	}
	head, err := r.recording.Head()
	if err != nil {
		return ExitWarning, err
	}
	player := r.recording.Play(from)
	defer player.Close()
	feed := &begun{Updates: diagnose.NewLive(played{player}, head.Endpoint), from: r.at}
	if err := Watch(ctx, w, feed, o); err != nil {
		return ExitWarning, err
	}
	damaged := feed.damage != nil && !errors.Is(feed.damage, record.ErrCut)
	return theme.When(damaged, ExitWarning, ExitOK), readable(feed.last, feed.damage)
}

// played is the feed of a recording.
type played struct{ *record.Player }

// Next returns the next update at once.
func (p played) Next(ctx context.Context) (engine.Update, error) {
	if err := context.Cause(ctx); err != nil {
		return engine.Update{}, err
	}
	u, err := p.Player.Next()
	if errors.Is(err, io.EOF) {
		err = engine.ErrStopped
	}
	return u, err
}

// A begun is a feed of a recording from a moment on, which ends where that is damaged.
type begun struct {
	diagnose.Updates
	from    time.Time
	skipped bool
	last    time.Time // of what was delivered
	damage  error
}

func (f *begun) Next(ctx context.Context) (diagnose.Update, error) {
	for {
		u, err := f.Updates.Next(ctx)
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, engine.ErrStopped):
			f.damage = err
			return u, engine.ErrStopped
		case err != nil:
			return u, err
		}
		if f.last = u.Snapshot.At; u.Snapshot.At.Before(f.from) {
			f.skipped = true
			continue
		}
		if f.skipped {
			f.skipped, u.Turns = false, began(u.Findings)
		}
		return u, nil
	}
}

// began returns the turns of who comes to findings that hold already.
func began(all []diagnose.Finding) (turns []diagnose.Turn) {
	for _, f := range all {
		turns = append(turns, diagnose.Turn{Kind: diagnose.Began, Finding: f})
	}
	return turns
}

// recordedFor says when and where something was recorded.
func recordedFor(from, to time.Time, node string) string {
	said := fmt.Sprintf("%s to %s (%s)", from.Local().Format(time.DateTime), to.Local().Format(time.TimeOnly), text.Age(to.Sub(from)))
	return theme.When(node == "", said, said+" on "+node)
}
