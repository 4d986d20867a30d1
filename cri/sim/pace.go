package sim

import (
	"math"
	"time"
)

// A clock is the server's: at a real moment it showed something, and it has gone on from
// there. It is a value.
type clock struct {
	shows, at time.Time
	speed     float64 // against the real one
}

func (c clock) now() time.Time { return c.then(time.Now()) }

// then returns what the clock shows at a real moment.
func (c clock) then(real time.Time) time.Time {
	return c.shows.Add(time.Duration(float64(real.Sub(c.at)) * c.speed))
}

// real returns how much real time it takes until d has passed, rounded up.
func (c clock) real(d time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(d) / c.speed))
}

// when returns the real moment at which the clock showed t. What was before it began is
// as old for people as it is by the clock.
func (c clock) when(t time.Time) time.Time {
	if since := t.Sub(c.shows); since <= 0 {
		return c.at.Add(since)
	}
	return c.at.Add(c.real(t.Sub(c.shows)))
}

// A pace ties the script to the server's clock: when that showed clock, the script
// stood at script, and it has gone on from there. So the script can be stopped and
// hurried while whatever happens bears the time at which it does.
type pace struct {
	clock, script time.Time
	speed         float64 // of the script against the clock
	frozen        bool
}

// scriptAt returns where the script stands when the clock shows t.
func (p pace) scriptAt(t time.Time) time.Time {
	if p.frozen {
		return p.script
	}
	return p.script.Add(time.Duration(float64(t.Sub(p.clock)) * p.speed))
}

// clockAt returns what the clock shows when the script, not frozen, stands at t.
func (p pace) clockAt(t time.Time) time.Time {
	return p.clock.Add(time.Duration(float64(t.Sub(p.script)) / p.speed))
}

// setPace has the script go on from here in another way.
func (w *world) setPace(speed float64, frozen bool) {
	w.pace = pace{clock: w.clock, script: w.now, speed: speed, frozen: frozen}
}

// longestStep is longer than anything in a script waits. A cycle whose fault is
// switched off has nothing to be seen, for ever.
const longestStep = 10 * time.Minute

// step freezes the script and has happen now what is the next in it to be seen, and
// whatever comes before that. It reports whether there was any.
func (w *world) step() bool {
	before, end := w.changes, w.now.Add(longestStep)
	w.last = transition{}
	for w.changes == before && len(w.queue) > 0 && !w.queue[0].at.After(end) {
		w.first()
	}
	w.setPace(w.pace.speed, true)
	return w.changes != before
}

// follow makes w the successor of another world on the same node.
func (w *world) follow(before *world) {
	w.before, w.changes, w.addresses = before, before.changes+1, before.addresses
	w.rng = before.rng // no id comes twice
	w.pids = before.pids
	w.kubelet.deaf = before.kubelet.deaf
}

// keep takes over a pod from the world before, if that has one of this name in
// which everything runs; it returns nil else.
func (w *world) keep(spec podSpec) *pod {
	for _, p := range w.before.pods {
		if p.spec.name != spec.name || p.spec.namespace != spec.namespace || !p.settled() {
			continue
		}
		w.before.pods = drop(w.before.pods, p)
		p.backoffs, p.rests, p.act = map[string]*backoff{}, map[string]rest{}, nil
		w.pods = append(w.pods, p)
		for _, s := range p.sandboxes {
			w.sandboxes, w.sandboxOf[s.status.Id] = append(w.sandboxes, s), s
		}
		for _, c := range p.containers {
			c.fate = alive
			w.containers, w.containerOf[c.status.Id] = append(w.containers, c), c
		}
		w.adopt(p)
		return p
	}
	return nil
}

// settled reports whether all of p runs that its spec wants to.
func (p *pod) settled() bool {
	s := p.sandbox()
	if s == nil || !s.ready() || p.deleting || p.spec.manual {
		return false
	}
	for _, spec := range p.spec.containers {
		if c := p.latest(spec.name); c == nil || c.sandbox != s || !c.runs() {
			return false
		}
	}
	return true
}

// replace forgets what this world did not keep. No event tells that it has gone, or
// of what was placed: only a list does.
func (w *world) replace() {
	for _, p := range w.before.pods {
		for _, s := range p.sandboxes {
			delete(w.pids, s.pid)
			delete(w.pids, s.shim)
		}
		for _, c := range p.containers {
			delete(w.pids, c.pid)
		}
	}
	w.onChange = w.before.onChange
	w.before = &world{} // whoever comes now is new
}
