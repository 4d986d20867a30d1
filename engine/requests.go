package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Requests is what was asked for since the machine last looked. Equal requests
// become one, so that they take no more memory however often a key is hit.
type Requests struct {
	Paused     bool // the state that is wanted, asked for now or before
	Relist     bool
	Reinspect  []pleg.UID    // without doubles, in the order asked
	Period     time.Duration // 0: as it is
	Sweep      SweepRequest
	Raw        []RawRequest
	Withdrawn  []uint64 // numbers of raw requests that nobody waits for any more
	SetStreams bool
	Streams    []ledger.Source // event sources that are wanted from now on, if SetStreams
	Held       bool            // all of them are wanted closed for a while, asked for now or before
}

// reinspectPod asks for the pod once more, if it is not asked for already.
func (r *Requests) reinspectPod(uid pleg.UID) {
	if !slices.Contains(r.Reinspect, uid) {
		r.Reinspect = append(r.Reinspect, uid)
	}
}

// A SweepRequest is what was asked last about the sweep.
type SweepRequest uint8

const (
	SweepAsIs SweepRequest = iota
	SweepBegins
	SweepEnds
)

// A RawRequest asks for one answer as JSON.
type RawRequest struct {
	Number uint64
	Flight call.Flight
}

// A reply is what came of a RawRequest.
type reply struct {
	number uint64
	answer []byte
	err    error
}

// raws hands the answers on that were asked for as JSON.
type raws struct{ passive }

func (raws) answered(m *machine, a *answer) {
	m.work.Replies = append(m.work.Replies, reply{number: a.tag, answer: a.value.Raw, err: a.err})
}

// A mailbox is where callers leave their requests without waiting for anyone.
// Safe for concurrent use.
type mailbox struct {
	wake chan struct{} // holds one token when there is something to look at

	mu     sync.Mutex // guards what follows
	asked  Requests
	closed bool
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (b *mailbox) ask(write func(*Requests)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	write(&b.asked)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take returns what was asked for, once.
func (b *mailbox) take() Requests {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.asked
	b.asked = Requests{Paused: taken.Paused, Held: taken.Held}
	return taken
}

func (b *mailbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.asked = Requests{Paused: b.asked.Paused}
}

// wanted is what was asked for and is not done yet.
type wanted struct {
	relist    bool
	reinspect []pleg.UID
}

func (w *wanted) any() bool { return w.relist || len(w.reinspect) > 0 }

func (w *wanted) add(b wanted) {
	w.relist = w.relist || b.relist
	for _, uid := range b.reinspect {
		if !slices.Contains(w.reinspect, uid) {
			w.reinspect = append(w.reinspect, uid)
		}
	}
}

// next returns the next pod to reinspect.
func (w *wanted) next() (pleg.UID, bool) {
	if len(w.reinspect) == 0 {
		return "", false
	}
	uid := w.reinspect[0]
	w.reinspect = w.reinspect[1:]
	return uid, true
}

// request takes in what was asked for.
func (m *machine) request(r Requests) {
	if r.Paused != m.pause.on {
		m.setPaused(r.Paused)
	}
	if r.Period != 0 && r.Period != m.period {
		m.period = r.Period
		m.relists.schedule(m.period)
		m.changed = true
	}
	if m.sources.held = r.Held; r.SetStreams {
		m.sources.want(r.Streams)
	}
	m.wanted.add(wanted{relist: r.Relist})
	for _, uid := range r.Reinspect {
		if _, known := m.pods.byUID[uid]; known {
			m.wanted.add(wanted{reinspect: []pleg.UID{uid}})
		}
	}
	switch r.Sweep {
	case SweepBegins:
		m.sweep.request(m)
	case SweepEnds:
		m.sweep.cancel(m)
	}
	for _, raw := range r.Raw {
		f := raw.Flight
		f.By = call.ByRequest
		m.calls.want(m.now, callSpec{Flight: f, timeout: m.policy.ListTimeout, tag: raw.Number, raw: true})
	}
	for _, number := range r.Withdrawn {
		m.calls.drop(m.now, func(w *callSpec) bool { return w.raw && w.tag == number })
	}
}

// A pause keeps the clocks by which the kubelet is judged: its time does not count.
type pause struct {
	on       bool
	began    time.Time     // of the present one
	ended    time.Time     // of the last one; zero if there was none, or while it lasts
	total    time.Duration // of all that are over
	listed   time.Duration // how long all had lasted when the relist began that listed last
	deferred wanted        // asked for before it
}

// length returns how long all pauses have lasted, the present one included.
func (p *pause) length(now time.Time) time.Duration {
	if p.on {
		return p.total + now.Sub(p.began)
	}
	return p.total
}

// judged returns the moment as of which the verdict is to be taken: without what was
// paused since the relist began by whose lists it is taken.
func (p *pause) judged(now time.Time) time.Time { return now.Add(p.listed - p.length(now)) }

// setPaused begins or ends a pause. What was asked for before it waits for its end,
// and comes then before what was asked for in it and is not done.
func (m *machine) setPaused(paused bool) {
	p := &m.pause
	m.kubelet.loop.pause(m.now, paused)
	m.changed = true
	if !paused {
		p.total += m.now.Sub(p.began)
		m.kubelet.poster.resume(m.now.Sub(p.began))
		p.on, p.ended = false, m.now
		p.deferred.add(m.wanted)
		m.wanted, p.deferred = p.deferred, wanted{}
		return
	}
	p.on, p.began, p.ended = true, m.now, time.Time{}
	m.wanted, p.deferred = wanted{}, m.wanted
	if r := m.relists.now; r != nil && !r.onDemand() {
		r.asked = false
	}
	if w := &m.sweep; w.underWay() && w.unasked {
		w.cutOff(m)
	}
}
