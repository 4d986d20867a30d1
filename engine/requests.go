package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A wishes is what was asked for since the engine last looked. Equal requests
// melt into one, so that they take no more memory however often a key is hit.
type wishes struct {
	paused    bool // the state wished for, asked now or before
	relist    bool
	reinspect []pleg.UID    // without doubles, in the order asked
	period    time.Duration // 0: as it is
	sweep     sweepWish
}

// requests is where callers leave their wishes without waiting for anyone.
// Safe for concurrent use.
type requests struct {
	wake chan struct{} // holds one token when there is something to look at

	mu     sync.Mutex // guards what follows
	wishes wishes
	closed bool
}

func newRequests() *requests { return &requests{wake: make(chan struct{}, 1)} }

func (r *requests) ask(wish func(*wishes)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		wish(&r.wishes)
		r.poke()
	}
}

func (r *requests) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// take returns what was asked for, once.
func (r *requests) take() wishes {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.wishes
	r.wishes = wishes{paused: taken.paused}
	return taken
}

func (r *requests) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.wishes = wishes{paused: r.wishes.paused}
}

// Pause stops all calls but those asked for; the list's age goes on growing.
// The pair of lists or the inspection that is under way is finished, since half
// of it is of no use. The rest of the relist is held: [Engine.Resume] goes on
// with it, and so does the next request for a relist or an inspection, because
// relists cannot overlap. What was asked for before the pause and has not begun
// waits for Resume, too.
func (e *Engine) Pause() { e.requests.ask(func(w *wishes) { w.paused = true }) }

// Resume ends a pause; what was due meanwhile is done at once, and once only.
func (e *Engine) Resume() { e.requests.ask(func(w *wishes) { w.paused = false }) }

// RelistNow asks for one relist that begins after this call: at once, or when
// the one under way has ended. It is done while paused, too.
func (e *Engine) RelistNow() { e.requests.ask(func(w *wishes) { w.relist = true }) }

// Reinspect asks for one inspection of a pod though nothing changed, between
// two relists or at once while paused. From 1.36 on it is the kubelet's
// relist of a single pod, with its events; before, the inspection only writes
// the cache. Of a pod that has no record nothing is done. As in the kubelet, no
// other relist is made meanwhile, and from 1.36 on a pod whose lists or
// inspection failed is inspected again by every relist of all until that
// succeeds; [Snapshot.PodFailure] says that the lists failed.
func (e *Engine) Reinspect(uid pleg.UID) {
	e.requests.ask(func(w *wishes) {
		if !slices.Contains(w.reinspect, uid) {
			w.reinspect = append(w.reinspect, uid)
		}
	})
}

// A sweepWish is what was asked last about the sweep.
type sweepWish uint8

const (
	sweepAsIs sweepWish = iota
	sweepBegins
	sweepEnds
)

// Sweep asks for a [Sweep] of every sandbox and container that the records have
// now, which shows in [Snapshot.Sweep] from its beginning on. It runs beside the
// relist, while paused too. If the runtime is too slow for it, that sweep is
// there with the reason in Refused. While one is under way it does nothing.
func (e *Engine) Sweep() { e.requests.ask(func(w *wishes) { w.sweep = sweepBegins }) }

// CancelSweep ends the sweep that is under way, if there is one.
func (e *Engine) CancelSweep() { e.requests.ask(func(w *wishes) { w.sweep = sweepEnds }) }

// SetPeriod changes the time between relists, within [MinPeriod] and
// [MaxPeriod], from the present wait on.
func (e *Engine) SetPeriod(d time.Duration) {
	e.requests.ask(func(w *wishes) { w.period = min(max(d, MinPeriod), MaxPeriod) })
}
