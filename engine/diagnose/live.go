package diagnose

import (
	"context"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/waits"
)

// A Feed delivers what an engine saw; [engine.Feed] is one.
type Feed interface {
	Next(ctx context.Context) (engine.Update, error)
}

// An Update is an [engine.Update] with what is wrong at the time of its snapshot. It is never changed after it was
// handed out.
type Update struct {
	engine.Update
	Headline Headline
	Findings []Finding    // what is wrong now: causes before their effects, the worst cause first
	Ended    []Ended      // what ended lately, the newest first
	Waits    *waits.Graph // who waits for whom; nil if nobody does
	Turns    []Turn       // what began, changed or ended since the update before, in that order

	standings []*Standing // see Standings; nil if they are not worked out yet
}

// Updates delivers updates with findings; a [Live] is one. Its errors are those of the feed that it reads.
type Updates interface {
	Next(ctx context.Context) (Update, error)
}

// A Live turns the updates of a feed into updates with findings. No other place does that, for the screen, watch and
// serve alike: so findings begin, change and end in all of them at the same time. A Live may be used by one goroutine
// at a time.
type Live struct {
	feed     Feed
	endpoint string
	kept     kept
	steady   Steady
	headline steadyHeadline
	pods     Standings
}

// NewLive returns a Live that reads feed. endpoint is the runtime's, for commands; it may be empty.
func NewLive(feed Feed, endpoint string) *Live { return &Live{feed: feed, endpoint: endpoint} }

// Next waits for the next update and returns it with its findings. Its errors are the feed's.
func (l *Live) Next(ctx context.Context) (Update, error) {
	u, err := l.feed.Next(ctx)
	if err != nil {
		return Update{}, err
	}
	f := l.kept.read(u.Snapshot, l.endpoint, &l.steady)
	found := f.diagnose()
	turns := l.steady.update(f, found)
	held := l.steady.holding(f)
	headline := l.headline.next(f.headline(held), held, f.at(), f.failedUntil()).made()
	return Update{
		Update: u, Headline: headline, Findings: held, Ended: l.steady.ended(f), Turns: turns, Waits: f.waits,
		standings: l.pods.Update(u.Snapshot, f.troubled(held)),
	}, nil
}

// Once returns the snapshot of a single look, for example of check, with its findings. It has no turns.
func Once(s *engine.Snapshot, endpoint string) Update {
	f := new(kept).read(s, endpoint, nil)
	found := f.diagnose()
	return Update{Update: engine.Update{Snapshot: s}, Headline: f.headline(found).made(), Findings: found, Waits: f.Graph()}
}

// Fork returns a Live that reads another feed and continues with all that l knows now. In the next updates it finds
// what l would find.
func (l *Live) Fork(feed Feed) *Live {
	return &Live{feed: feed, endpoint: l.endpoint, steady: l.steady.clone(), headline: l.headline}
}
