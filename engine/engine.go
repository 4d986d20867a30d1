package engine

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// errRunsOnce says that an engine was run before.
var errRunsOnce = errors.New("engine: Run was called before")

// An Engine relists one runtime. Make it with [New] and run it once; its other methods may be
// called at any time from any goroutine.
type Engine struct {
	hub   *hub
	ran   atomic.Bool
	calls context.Context // of all calls; ends with Run
	end   context.CancelFunc
	raws  chan struct{} // holds one token while a Raw is under way
}

// New returns an engine that has not begun, or the error of [Config.Validate].
func New(c Config) (*Engine, error) {
	e, err := newEngine(c, Examination{}, false)
	if err != nil {
		return nil, err
	}
	e.hub.show = e.hub.buffer.publish
	return e, nil
}

func newEngine(c Config, x Examination, once bool) (*Engine, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	now := c.Clock.Now()
	m, err := NewModel(c.start(now, x, once))
	if err != nil {
		return nil, err
	}
	e := &Engine{hub: newHub(c, m, now), raws: make(chan struct{}, 1)}
	e.calls, e.end = context.WithCancel(context.Background())
	return e, nil
}

// Run relists until ctx ends and then returns nil. It cancels the calls that are out and waits for
// them, but not for ever: a runtime that ignores its context keeps its goroutine, not this one. It
// must be called only once.
func (e *Engine) Run(ctx context.Context) error {
	if e.ran.Swap(true) {
		return errRunsOnce
	}
	all := e.begin()
	e.hub.run(ctx)
	e.hub.observe(Halted{}) // before the streams end, which is our doing
	e.end()
	all.wait(atEnd)
	e.hub.close()
	e.hub.buffer.stop()
	return nil
}

// begin starts all lanes.
func (e *Engine) begin() *lanes {
	h, ctx := e.hub, e.calls
	all := new(lanes)
	all.run(func() { relistLane{h}.run(ctx) })
	all.run(func() { statusLane{h, call.Status}.run(ctx) })
	all.run(func() { statusLane{h, call.Version}.run(ctx) })
	for range probeWidth {
		all.run(func() { probeLane{h}.run(ctx) })
	}
	if h.config.Look != nil {
		all.run(func() { lookLane{h}.run(ctx) })
	}
	for _, s := range h.config.Streams {
		all.run(func() { streamLane{h, s}.run(ctx) })
	}
	return all
}

// Follow sets whose release's relist is made, from the first one on. It must be called before Run.
func (e *Engine) Follow(r pleg.Release) { e.hub.observe(Requested{What: Follow, Release: r}) }

// Feed returns a new reader. Its first update has all events that are still kept, and counts as
// lost those that are not.
func (e *Engine) Feed() *Feed { return &Feed{buffer: e.hub.buffer} }

// Pause stops all calls but those asked for; the list's age goes on growing. The pair of lists or
// the inspection that is under way is finished, since half of it is of no use. The rest of the
// relist waits: [Engine.Resume] goes on with it, and so does the next request for a relist or an
// inspection, because relists cannot overlap. What was asked for before the pause and has not begun
// waits for Resume, too. While it lasts nothing is judged: [kubelet.Health] and [kubelet.Node]
// stay what they were, and their clocks go on afterwards from where they stood.
func (e *Engine) Pause() { e.hub.observe(Requested{What: Pause}) }

// Resume ends a pause; what was due meanwhile is done at once, and once only.
func (e *Engine) Resume() { e.hub.observe(Requested{What: Resume}) }

// RelistNow asks for one relist that begins after this call: at once, or when the one under way has
// ended. It is done while paused, too.
func (e *Engine) RelistNow() { e.hub.observe(Requested{What: RelistNow}) }

// Reinspect asks for one inspection of a pod though nothing changed, between two relists or at once
// while paused. From 1.36 on it is the kubelet's relist of a single pod, with its events; before,
// the inspection only writes the cache. Of a pod that has no record nothing is done. As in the
// kubelet, no other relist is made meanwhile, and from 1.36 on a pod whose lists or inspection
// failed is inspected by every relist of all until that succeeds; [Snapshot.PodFailure] says that
// the lists failed.
func (e *Engine) Reinspect(uid pleg.UID) { e.hub.observe(Requested{What: Reinspect, Pod: uid}) }

// Sweep asks for every sandbox and container that the records have now, which shows in
// [Snapshot.Sweep] from its beginning on. Relists go on meanwhile, and a pause does not hold it up. If
// the runtime is too slow for so many calls, none is made, and Refused says why. While one sweep is
// under way, a second one does not begin.
func (e *Engine) Sweep() { e.hub.observe(Requested{What: CheckAll}) }

// CancelSweep ends the sweep that is under way, if there is one.
func (e *Engine) CancelSweep() { e.hub.observe(Requested{What: CancelCheckAll}) }

// SetPeriod changes the time between relists, within [MinPeriod] and [MaxPeriod], from the present
// wait on.
func (e *Engine) SetPeriod(d time.Duration) {
	e.hub.observe(Requested{What: SetPeriod, Period: min(max(d, MinPeriod), MaxPeriod)})
}

// SetStreams opens the event sources that are named, and closes all others; none means all are
// closed. One that is not in [Config.Streams] is left out.
func (e *Engine) SetStreams(on ...sources.Source) {
	e.hub.observe(Requested{What: SetStreams, Sources: slices.Clone(on)})
}

// HoldStreams closes all event sources and returns when they are closed, or when ctx ends: whoever
// stops the process for a while must not leave a stream that nobody reads. [Engine.ReleaseStreams]
// opens them again.
func (e *Engine) HoldStreams(ctx context.Context) {
	e.hub.observe(Requested{What: HoldStreams})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.calls, cancel)()
	e.hub.await(ctx, func(*Model, time.Time) (bool, time.Time) { return e.hub.streams == 0, time.Time{} })
}

// ReleaseStreams ends what [Engine.HoldStreams] began.
func (e *Engine) ReleaseStreams() { e.hub.observe(Requested{What: ReleaseStreams}) }
