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
	calls context.Context // the context of all calls; ends with Run
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

// Run relists until ctx ends, and then returns nil. At its end it cancels the calls that are out,
// and waits a short time for them: a runtime that ignores its context keeps the goroutine of its
// call, but does not hold up Run. Run must be called only once.
func (e *Engine) Run(ctx context.Context) error {
	if e.ran.Swap(true) {
		return errRunsOnce
	}
	all := e.begin()
	e.hub.run(ctx)
	e.hub.observe(Halted{}) // before the streams end: it says that we close them
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

// Follow sets the kubelet release whose relist is made, from the first relist on. It must be called
// before Run.
func (e *Engine) Follow(r pleg.Release) { e.hub.observe(Requested{What: Follow, Release: r}) }

// Feed returns a new reader. Its first update has all events that are still kept. It counts older
// events as lost.
func (e *Engine) Feed() *Feed { return &Feed{buffer: e.hub.buffer} }

// Pause stops all calls except those that somebody asks for. The age of the list goes on growing.
// The two lists or the inspection under way are finished, since half of them is of no use. The rest
// of the relist waits for [Engine.Resume], or for the next request for a relist or an inspection,
// because relists cannot overlap. Requests from before the pause that have not begun wait for
// Resume, too. During a pause nothing is judged: [kubelet.Health] and [kubelet.Node] stay what they
// were. Afterwards their clocks go on from where they stood.
func (e *Engine) Pause() { e.hub.observe(Requested{What: Pause}) }

// Resume ends a pause. Whatever fell due during the pause is done at once, and only once.
func (e *Engine) Resume() { e.hub.observe(Requested{What: Resume}) }

// RelistNow asks for one relist. It begins at once, or when the relist under way has ended. It is
// done in a pause, too.
func (e *Engine) RelistNow() { e.hub.observe(Requested{What: RelistNow}) }

// Reinspect asks for one inspection of a pod even if nothing changed. It is made between two
// relists, or at once in a pause. From 1.36 on it is the kubelet's relist of a single pod, with its
// events. Before 1.36 the inspection only writes the cache. If the pod has no record, nothing is
// done. As in the kubelet, no other relist runs meanwhile. From 1.36 on, if the lists or the
// inspection fail, every relist of all pods inspects the pod until one succeeds;
// [Snapshot.PodFailure] says that the lists failed.
func (e *Engine) Reinspect(uid pleg.UID) { e.hub.observe(Requested{What: Reinspect, Pod: uid}) }

// Sweep asks for every sandbox and container that the records have now. While lists hang or fail it
// also asks for those that only the node shows. [Snapshot.Sweep] shows it from its start on. Relists
// go on meanwhile, and a pause does not hold it up. If the runtime is too slow for so many calls,
// none is made, and Refused says why. While one sweep is under way, a second one does not begin.
func (e *Engine) Sweep() { e.hub.observe(Requested{What: CheckAll}) }

// CancelSweep ends the sweep that is under way, if there is one.
func (e *Engine) CancelSweep() { e.hub.observe(Requested{What: CancelCheckAll}) }

// SetPeriod changes the time between relists, within [MinPeriod] and [MaxPeriod]. The present wait
// changes, too.
func (e *Engine) SetPeriod(d time.Duration) {
	e.hub.observe(Requested{What: SetPeriod, Period: min(max(d, MinPeriod), MaxPeriod)})
}

// SetStreams opens the named event sources and closes all others; without names it closes all. A
// source that is not in [Config.Streams] is left out.
func (e *Engine) SetStreams(on ...sources.Source) {
	e.hub.observe(Requested{What: SetStreams, Sources: slices.Clone(on)})
}

// HoldStreams closes all event sources, and returns when they are closed or when ctx ends. Call it
// before the process is stopped for a while: nobody would read an open stream.
// [Engine.ReleaseStreams] opens them again.
func (e *Engine) HoldStreams(ctx context.Context) {
	e.hub.observe(Requested{What: HoldStreams})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.calls, cancel)()
	e.hub.await(ctx, func(*Model, time.Time) (bool, time.Time) { return e.hub.streams == 0, time.Time{} })
}

// ReleaseStreams ends what [Engine.HoldStreams] began.
func (e *Engine) ReleaseStreams() { e.hub.observe(Requested{What: ReleaseStreams}) }
