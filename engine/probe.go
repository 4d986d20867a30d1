package engine

import (
	"context"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// When and how the engine looks whether a runtime that leaves a call of the
// relist without an answer still answers others. These are ours, too.
const (
	probeAfter   = time.Second     // a call of the relist has been out
	probePeriod  = 5 * time.Second // from the start of a round to that of the next
	probeTimeout = 2 * time.Second
	hungListAge  = 2 * time.Second // a list has been out, to be taken for hung
)

// probes keeps what was asked while a call of the relist hung. A round asks,
// one after the other, for Version, Status, one sandbox and one container.
type probes struct {
	hung  Flight   // the call whose hanging is looked into, with Since
	queue []Flight // what is still to ask in this round
	out   bool
	next  time.Time // when the next round may begin; zero for at once
	turn  int       // how many rounds there were: whose turn it is

	swept   bool                     // the hung call had its sweep
	answers map[call.Operation]Probe // by operation
	made    []Probe                  // what read returned last; nil when stale
}

// probe begins and advances a round of probes if one is called for, and the
// sweep that a hung list brings about.
func (d *driver) probe(now time.Time) {
	p := &d.probes
	hung, hangs := d.hung(now)
	if !hangs && p.hung != (Flight{}) && d.ledger.answeredSince(p.hung.Since) {
		p.forget()
		d.press.dirty = true
	}
	if !hangs || d.paused {
		p.queue = nil
		return
	}
	if hung != p.hung {
		p.forget()
		p.hung = hung
	}
	if !p.out && len(p.queue) == 0 && !now.Before(p.next) {
		p.queue = d.round()
		p.next = now.Add(probePeriod)
		p.turn++
	}
	p.queue = slices.DeleteFunc(p.queue, func(f Flight) bool { return d.ledger.like(f) != nil })
	if !p.out && len(p.queue) > 0 {
		d.probeNext()
	}
	d.sweepForList(now)
}

// forget drops all answers, and the one that may still come: what they say of
// the objects asked for holds only as long as a call hangs.
func (p *probes) forget() { *p = probes{out: p.out, turn: p.turn, next: p.next} }

// hung returns the call of the relist that has been out too long, if one has.
func (d *driver) hung(now time.Time) (Flight, bool) {
	f, out := d.ledger.oldestBy(ByRelist)
	return f, out && f.Elapsed(now) >= probeAfter
}

// probeNext makes the next probe of the round. What Status says is not taken
// in: the kubelet that is modelled does not ask for it now.
func (d *driver) probeNext() {
	p := &d.probes
	f := p.queue[0]
	p.queue = p.queue[1:]
	p.out = true
	f.Since = d.clock.now()
	p.put(Probe{Flight: f})
	d.press.dirty = true
	of := p.hung
	d.do(func(ctx context.Context) func() {
		a := d.askAbout(ctx, f, probeTimeout)
		return func() {
			p.out = false
			if p.hung == of {
				p.put(Probe{Flight: a.Flight, At: d.clock.now(), Took: a.took, Err: a.err})
			}
			d.press.dirty = true
		}
	})
}

// round returns whom to ask in the next round.
func (d *driver) round() []Flight {
	queue := []Flight{{Op: call.Version}, {Op: call.Status}}
	pods, _, _ := d.pods.read()
	for _, parts := range []func(*Pod) []Flight{
		func(p *Pod) []Flight { return sandboxCalls(p.PodRef, p.Seen().Sandboxes) },
		func(p *Pod) []Flight { return containerCalls(p.PodRef, p.Seen().Containers) },
	} {
		if f, ok := d.pick(pods, parts); ok {
			queue = append(queue, f)
		}
	}
	for i := range queue {
		queue[i].By = ByProbe
	}
	return queue
}

// pick returns a call about a part of the pod whose turn it is, or of the first
// one after it that no call in flight is about.
func (d *driver) pick(pods []*Pod, parts func(*Pod) []Flight) (Flight, bool) {
	for i := range pods {
		p := pods[(d.probes.turn+i)%len(pods)]
		if p.UID == d.probes.hung.Pod.UID {
			continue
		}
		for _, f := range parts(p) {
			if d.ledger.like(f) == nil {
				return f, true
			}
		}
	}
	return Flight{}, false
}

// sweepForList begins a sweep, one call at a time, when a list hangs although
// the runtime answers otherwise: the container whose status holds the lock that
// the list waits for is found so. Once for each list that hangs.
func (d *driver) sweepForList(now time.Time) {
	p := &d.probes
	list := p.hung.Op == call.ListPodSandbox || p.hung.Op == call.ListContainers
	if !list || p.swept || p.out || len(p.queue) > 0 || p.hung.Elapsed(now) < hungListAge || d.sweeping() {
		return
	}
	if p.answered() && d.tooSlow(now, lately) == "" {
		p.swept = true
		d.beginSweep(now, 1)
	}
}

// answered reports whether the last round says that the runtime answers: for
// itself, and for one sandbox or container at least.
func (p *probes) answered() bool {
	one := false
	for op, a := range p.answers {
		switch {
		case op == call.PodSandboxStatus || op == call.ContainerStatus:
			one = one || a.Err == nil
		case a.Err != nil:
			return false
		}
	}
	return one
}

func (p *probes) put(a Probe) {
	if p.answers == nil {
		p.answers = make(map[call.Operation]Probe)
	}
	p.answers[a.Op] = a
	p.made = nil
}

// last returns the last probe of an operation that has returned.
func (p *probes) last(op call.Operation) (Probe, bool) {
	a, ok := p.answers[op]
	return a, ok && !a.At.IsZero()
}

// read returns the last probe of each operation, in their order. The caller may
// keep it.
func (p *probes) read() []Probe {
	if p.made == nil && len(p.answers) > 0 {
		for _, op := range call.Operations() {
			if a, ok := p.answers[op]; ok {
				p.made = append(p.made, a)
			}
		}
	}
	return p.made
}
