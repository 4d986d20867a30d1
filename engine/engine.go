package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// errRunsOnce says that an engine was run before.
var errRunsOnce = errors.New("engine: Run was called before")

// An Engine relists one runtime. Make it with [New] and run it once; its other
// methods may be called at any time from any goroutine.
type Engine struct {
	shell *shell // owned by Run, but for its mailbox, buffer and replies
	ran   atomic.Bool
	ended chan struct{} // closed when Run returns
	raws  chan struct{} // holds one token while a Raw is under way
}

// New returns an engine that has not begun, or the error of [Config.Validate].
func New(c Config) (*Engine, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	s := newShell(c, running(c))
	s.show = s.buffer.publish
	return &Engine{shell: s, ended: make(chan struct{}), raws: make(chan struct{}, 1)}, nil
}

// Run relists until ctx ends and then returns nil. It cancels the calls that
// are out and waits for them, but not for ever: a runtime that ignores
// its context keeps its goroutine, not this one. It must be called only once.
func (e *Engine) Run(ctx context.Context) error {
	if e.ran.Swap(true) {
		return errRunsOnce
	}
	defer func() {
		e.shell.mailbox.close()
		e.shell.buffer.stop()
		close(e.ended)
	}()
	e.shell.run(ctx)
	e.shell.beside.wait(atEnd)
	return nil
}

// Follow sets whose release's relist is made, from the first one on. It must be called
// before Run, and by the goroutine that calls that.
func (e *Engine) Follow(r pleg.Release) { e.shell.first = Told{r} }

// Feed returns a new reader. Its first update has all events that are still
// kept, and counts as lost those that are not.
func (e *Engine) Feed() *Feed { return &Feed{buffer: e.shell.buffer} }

// Pause stops all calls but those asked for; the list's age goes on growing.
// The pair of lists or the inspection that is under way is finished, since half
// of it is of no use. The rest of the relist is held: [Engine.Resume] goes on
// with it, and so does the next request for a relist or an inspection, because
// relists cannot overlap. What was asked for before the pause and has not begun
// waits for Resume, too. While it lasts nothing is judged: [Health] and [Node] stay
// what they were, and their clocks go on afterwards from where they stood.
func (e *Engine) Pause() { e.ask(func(r *Requests) { r.Paused = true }) }

// Resume ends a pause; what was due meanwhile is done at once, and once only.
func (e *Engine) Resume() { e.ask(func(r *Requests) { r.Paused = false }) }

// RelistNow asks for one relist that begins after this call: at once, or when
// the one under way has ended. It is done while paused, too.
func (e *Engine) RelistNow() { e.ask(func(r *Requests) { r.Relist = true }) }

// Reinspect asks for one inspection of a pod though nothing changed, between
// two relists or at once while paused. From 1.36 on it is the kubelet's
// relist of a single pod, with its events; before, the inspection only writes
// the cache. Of a pod that has no record nothing is done. As in the kubelet, no
// other relist is made meanwhile, and from 1.36 on a pod whose lists or
// inspection failed is inspected again by every relist of all until that
// succeeds; [Snapshot.PodFailure] says that the lists failed.
func (e *Engine) Reinspect(uid pleg.UID) {
	e.ask(func(r *Requests) { r.reinspectPod(uid) })
}

// Sweep asks for a [answers.Sweep] of every sandbox and container that the records have
// now, which shows in [Snapshot.Sweep] from its beginning on. It runs beside the
// relist, while paused too. If the runtime is too slow for it, that sweep is
// there with the reason in Refused. While one is under way it does nothing.
func (e *Engine) Sweep() { e.ask(func(r *Requests) { r.Sweep = SweepBegins }) }

// CancelSweep ends the sweep that is under way, if there is one.
func (e *Engine) CancelSweep() { e.ask(func(r *Requests) { r.Sweep = SweepEnds }) }

// SetPeriod changes the time between relists, within [MinPeriod] and
// [MaxPeriod], from the present wait on.
func (e *Engine) SetPeriod(d time.Duration) {
	e.ask(func(r *Requests) { r.Period = min(max(d, MinPeriod), MaxPeriod) })
}

func (e *Engine) ask(write func(*Requests)) { e.shell.mailbox.ask(write) }
