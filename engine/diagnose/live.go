package diagnose

import (
	"context"
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/waits"
)

// A Feed delivers what an engine saw; [engine.Feed] is one.
type Feed interface {
	Next(ctx context.Context) (engine.Update, error)
}

// An Update is an [engine.Update] with what is wrong as of its snapshot. It is a
// plain value that nobody changes once it was handed out.
type Update struct {
	engine.Update
	Headline Headline
	Findings []Finding    // what holds now: causes before effects, the worst cause first
	Ended    []Ended      // what ended lately, the newest first
	Waits    *waits.Graph // who waits for whom as of the snapshot; nil if nobody does
	Turns    []Turn       // what began, changed or ended since the update before, in that order

	standings []*Standing // see Standings; nil if that is not worked out yet
}

// Updates delivers updates with findings; a [Live] is one. Its errors are those of what it reads.
type Updates interface {
	Next(ctx context.Context) (Update, error)
}

// A Live turns the updates of a feed into updates with findings. It is the one
// place where that is done, for the screen, watch and serve alike: findings
// begin, change and end in all of them at the same time. It belongs to one
// goroutine at a time.
type Live struct {
	feed     Feed
	endpoint string
	cache    cache
	tracker  tracker
	pods     Standings
	steady   steady
}

// NewLive returns a Live that reads feed, of a runtime at that endpoint, which
// commands of the next steps name; it may be empty.
func NewLive(feed Feed, endpoint string) *Live {
	return &Live{feed: feed, endpoint: endpoint}
}

// Next waits for the next update and returns it with its findings. Its errors
// are the feed's.
func (l *Live) Next(ctx context.Context) (Update, error) {
	u, err := l.feed.Next(ctx)
	if err != nil {
		return Update{}, err
	}
	l.cache.update(u.Snapshot)
	v := newView(Input{Snapshot: u.Snapshot, Evidence: u.Snapshot.Evidence, Endpoint: l.endpoint, cache: &l.cache})
	defer views.Put(v)
	v.told = &l.tracker
	found := v.diagnose()
	turns := l.tracker.track(v, found)
	held := l.tracker.findings(v)
	return Update{
		Update: u, Headline: l.steady.headline(v.headline(held), held, v.At, v.failedUntil()), Findings: held, Ended: l.tracker.ended(v), Turns: turns, Waits: v.waits,
		standings: l.pods.Update(u.Snapshot, v.troubled(held)),
	}, nil
}

// Once returns the one snapshot of a bounded look, such as check makes, with its
// findings. There are no turns: nothing was told before.
func Once(s *engine.Snapshot, endpoint string) Update {
	v := newView(Input{Snapshot: s, Evidence: s.Evidence, Endpoint: endpoint})
	defer views.Put(v)
	found := v.diagnose()
	return Update{Update: engine.Update{Snapshot: s}, Headline: v.headline(found), Findings: found, Waits: v.graph()}
}

// Fork returns a Live that reads another feed, and goes on from all that l knows now: what it
// finds in the updates that l would read next is what l would find.
func (l *Live) Fork(feed Feed) *Live {
	return &Live{feed: feed, endpoint: l.endpoint, tracker: l.tracker.clone(), steady: l.steady}
}

// clone returns a tracker that goes on without changing t.
func (t *tracker) clone() tracker {
	c := tracker{past: slices.Clone(t.past)}
	for _, k := range t.known {
		c.known = append(c.known, new(*k))
	}
	return c
}
