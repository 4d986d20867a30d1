package engine

import (
	"context"
	"io"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// A Stream is an event source that can be switched on.
type Stream struct {
	Source sources.Source
	// On opens the source from the start. It stays open when the evented mode falls back. The evented mode
	// opens its own stream, and closes it when it falls back.
	On     bool
	Forced bool   // open it even if the runtime's stream does harm
	Refuse string // why it can never be opened, in plain words; empty if it can

	// Run passes each event to deliver until ctx or the stream ends. deliver returns at once,
	// whatever comes. Run returns why it ended: an error that wraps [call.ErrUnimplemented] if
	// there is no such stream, io.EOF if the other side closed it, the context's cause if ctx
	// ended. It is called again for the next try, never while it runs.
	Run func(ctx context.Context, deliver func(pleg.Upstream)) error
}

// How many events of a source the model gets. If hundreds of containers start and end at once, a
// node reports some thousands of events within seconds: there is room for them. A storm must not
// take memory or time from the relists: 128 events each 10 ms are 12,800 a second, a few percent of
// a core. If more come for a third of a second, the rest is counted and lost.
const (
	queueRoom  = 4096
	weightRoom = 4 * queueRoom         // weight of their statuses
	batch      = 128                   // events of one source in one observation, at most
	batchPace  = 10 * time.Millisecond // real time between two such observations
)

// A streamLane opens the stream of one event source whenever that is wanted, and reports its
// events.
type streamLane struct {
	*hub
	stream Stream
}

func (l streamLane) run(ctx context.Context) {
	for l.await(ctx, func(m *Model, now time.Time) (bool, time.Time) {
		wanted := m.sources.Open(l.stream.Source, now)
		if wanted {
			l.streams++
			l.apply(Marked{StreamOpened{l.stream.Source}})
		}
		return wanted, time.Time{}
	}) {
		l.listen(ctx)
	}
}

// listen runs the stream until it is over or not wanted any more.
func (l streamLane) listen(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := newQueue(l.stream.Source)
	over := make(chan struct{})
	guard.Go(func() { // ends the stream when it is not wanted any more
		l.await(ctx, func(m *Model, now time.Time) (bool, time.Time) {
			return !m.sources.Open(l.stream.Source, now), time.Time{}
		})
		cancel()
	})
	guard.Go(func() {
		defer close(over)
		q.pass(ctx, l.hub)
	})
	err := func() error {
		defer q.end() // also where the stream panics
		return l.stream.Run(ctx, func(u pleg.Upstream) { q.put(u, l.config.Clock) })
	}()
	if err == nil {
		err = io.EOF
	}
	<-over
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams--
	l.apply(StreamEnded{Source: l.stream.Source, Kind: call.KindOf(err), Text: err.Error()})
	l.letGo()
}
