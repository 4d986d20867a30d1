package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// settling is how much later than the kernel a runtime that is well lists what has started.
const settling = time.Second

// mostLists is how long the lists of a node that is well take, at most.
const mostLists = 250 * time.Millisecond

// advance tells what no relist has seen in time, and counts what sources have not told.
func (g *sightings) advance(m *machine) {
	for len(g.untold) > 0 && !m.pause.on && !m.now.Before(g.tellAt(m)) {
		t := g.untold[0]
		g.untold[0], g.untold = nil, g.untold[1:]
		if !t.waits() {
			continue
		}
		if g.tell(m, t); !m.core.Evented() {
			g.miss(m, t)
		}
	}
	for len(g.owed) > 0 && !m.now.Before(g.owed[0].due()) {
		g.missing(m, g.owed[0])
		g.owed[0], g.owed = owed{}, g.owed[1:]
	}
	for len(g.kept) > 0 && m.now.Sub(g.kept[0].at) > sightedFor {
		g.evict()
	}
	for len(g.strangers) > 0 && m.now.Sub(g.strangers[0].touched) > sightedFor && g.evictStranger() {
	}
}

// due returns when something is to be told or counted; zero for never.
func (g *sightings) due(m *machine) time.Time {
	var due time.Time
	if len(g.untold) > 0 && !m.pause.on {
		due = g.tellAt(m)
	}
	if len(g.owed) > 0 {
		due = sooner(due, g.owed[0].due())
	}
	return due
}

// tellAt returns when the oldest transition is told that sources alone have seen. A relist
// has its time to come and to list, be it that people have asked for a long period, or
// paused; not where the kubelet goes by the stream, and relists only to be safe.
func (g *sightings) tellAt(m *machine) time.Time {
	since := g.untold[0].first
	if since.Before(m.pause.ended) {
		since = m.pause.ended
	}
	wait := patience
	if !m.core.Evented() {
		wait += max(m.period-time.Second, 0) + 2*min(m.relists.usual(), mostLists)
	}
	return since.Add(wait)
}

// ran notes since when an id has run, before it has ended.
func (x *sighted) ran(m *machine, e SourceEvent) {
	began := e.Received.Add(-e.Ran)
	if (e.Signal == pleg.SignalStarted || e.Ran > 0) && (x.since.IsZero() || began.Before(x.since)) {
		x.since = began
	}
	x.isAnothers(m) // while it can be told: not any more when it has ended
}

// isAnothers reports whether an id is of another runtime on this machine, for the kernel
// tells of all: it has run for so long that this runtime would have listed it by now, or
// told of it. Once that is so it stays so, until a relist has the id.
func (x *sighted) isAnothers(m *machine) bool {
	if !x.stranger || x.another {
		return x.stranger && x.another
	}
	for _, t := range x.steps {
		if t != nil && (t.kind == pleg.Died || !t.seen.At[FromCRI].IsZero()) {
			return false // what has ended was judged when it did
		}
	}
	if x.since.IsZero() || m.now.Sub(x.since) < patience {
		return false
	}
	s := m.sources.of(FromCRI)
	hears := s != nil && s.state.State == StreamConnected && !s.state.Since.After(x.since)
	x.another = hears || !m.core.ListedAt().Before(x.since.Add(settling))
	return x.another
}

// had reports whether a relist has ever had an id, as far as is remembered.
func (x *sighted) had(m *machine) bool {
	_, listed := m.pods.place(x.id)
	for _, t := range x.steps {
		listed = listed || t != nil && !t.seen.At[FromRelist].IsZero()
	}
	return listed
}

// listed takes in that a relist of all pods is over whose lists succeeded. What was to be
// seen when it began, and is not, was missed: a runtime may list something later than the
// kernel or its stream tells it. Of a pod whose inspection failed nothing is known.
func (g *sightings) listed(m *machine, began time.Time) {
	g.unjudged = slices.DeleteFunc(g.unjudged, func(t *transition) bool {
		switch p := m.pods.byUID[t.of.pod.UID]; {
		case !t.waits():
			return true
		case began.Before(t.first.Add(patience)), p != nil && p.Reinspect:
			return false
		}
		g.miss(m, t)
		return true
	})
}

// miss notes that the relist has not seen a transition, and tells it if that was not done.
func (g *sightings) miss(m *machine, t *transition) {
	g.tell(m, t)
	t.missed = true
	for by := FromRelist + 1; by < sourceCount; by++ {
		if t.seen.At[by].IsZero() {
			continue
		}
		if !t.of.isAnothers(m) {
			g.judge(t, by, missedByRelist)
		}
		if s := m.sources.of(by); s != nil && t.of.stranger {
			s.state.Unknown++
		}
	}
}

// tell makes an event of what sources alone have seen, once, unless it is another
// runtime's. Of ids that nobody knows there are only so many.
func (g *sightings) tell(m *machine, t *transition) {
	if t.told {
		return
	}
	t.told = true
	x := t.of
	if g.identify(m, x); x.isAnothers(m) {
		return
	}
	if !x.had(m) {
		if g.strange >= mostUnseen {
			g.uncounted++
			return
		}
		g.strange++
	}
	seen := t.seen
	_, at := seen.First()
	e := Event{Event: t.event(), SeenAt: at, Seen: &seen, Reason: t.reason}
	e.Lag, e.HasLag = lag(t.said, at, m.relists.first)
	m.tell(e)
}

// event returns what a core would have made of a transition.
func (t *transition) event() pleg.Event {
	e := pleg.Event{
		Kind: t.kind, Delivery: pleg.Unseen, Pod: t.of.pod, ID: t.of.id, Container: t.of.container, Sandbox: t.of.sandbox,
		Exited: t.exited, ExitCode: t.exitCode,
	}
	switch t.kind {
	case pleg.Started:
		e.From, e.To = pleg.Absent, pleg.Running
	case pleg.Died:
		e.From, e.To = pleg.Running, pleg.Exited
	case pleg.Removed:
		e.From, e.To = pleg.Exited, pleg.Absent
	}
	return e
}

// identify finds out whose an id is, if anybody knows by now.
func (g *sightings) identify(m *machine, x *sighted) {
	if place, known := m.pods.place(x.id); known {
		x.pod, x.container, x.sandbox = place.pod, place.container, place.sandbox
	} else if _, known := m.pods.byUID[x.pod.UID]; !known {
		return
	}
	g.know(m, x)
}

// admit makes room for an id; nil where nobody knows it and there is none.
func (g *sightings) admit(m *machine, id string, known bool) *sighted {
	x := &sighted{id: strings.Clone(id), stranger: !known, touched: m.now}
	if !known {
		if len(g.strangers) >= mostStrangers && !g.evictStranger() {
			return nil
		}
		g.strangers = append(g.strangers, x)
	} else {
		g.keep(m, x)
		g.identify(m, x)
	}
	if g.byID == nil {
		g.byID = make(map[string]*sighted)
	}
	g.byID[x.id] = x
	return x
}

// touch notes that something was heard of an id, which a relist may have had by now.
func (g *sightings) touch(m *machine, x *sighted) {
	x.touched = m.now
	if x.stranger && x.pod.UID != "" {
		if _, known := m.pods.byUID[x.pod.UID]; known {
			g.know(m, x)
		}
	}
	if len(g.unjudged) > 2*mostSighted { // while no relist comes to its end
		g.unjudged = slices.DeleteFunc(g.unjudged, func(t *transition) bool { return !t.waits() })
		g.unjudged = g.unjudged[max(0, len(g.unjudged)-mostSighted):]
	}
}

func (g *sightings) know(m *machine, x *sighted) {
	if x.stranger {
		x.stranger = false
		g.keep(m, x)
	}
}

func (g *sightings) keep(m *machine, x *sighted) {
	for len(g.kept) >= mostSighted {
		g.evict()
	}
	g.kept = append(g.kept, memory{x, m.now})
}

// evict forgets an id that was not touched since it got its place in the order, which is
// the first one, and gives it a new place otherwise.
func (g *sightings) evict() {
	k := g.kept[0]
	g.kept[0], g.kept = memory{}, g.kept[1:]
	if k.x.touched.After(k.at) {
		g.kept = append(g.kept, memory{k.x, k.x.touched})
		return
	}
	delete(g.byID, k.x.id)
}

// evictStranger forgets the oldest id that nobody knows, and reports whether there is
// room then: not if it waits to be told.
func (g *sightings) evictStranger() bool {
	x := g.strangers[0]
	if x.stranger {
		for _, t := range x.steps {
			if t != nil && t.waits() && !t.told {
				return false
			}
		}
		delete(g.byID, x.id)
	}
	g.strangers[0], g.strangers = nil, g.strangers[1:]
	return true
}
