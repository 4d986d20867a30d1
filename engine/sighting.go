package engine

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// patience is how long the relist and a source wait for each other, before one is
	// taken to have missed what the other saw.
	patience = 3 * time.Second
	// sightedFor is how long it is remembered who saw what: longer than a kubelet that
	// goes by the event stream waits for its next relist.
	sightedFor = 10 * time.Minute

	mostSighted   = 8192            // ids that are remembered, at most
	mostStrangers = 2048            // and of those that nobody knows
	mostUntold    = 2 * mostSighted // transitions that wait to be told
	mostUnseen    = 1000            // events of ids that nobody knows that are told, over this run
	longestID     = 1024            // bytes: what is longer is none, and would fill the memory
)

// steps is how many transitions an id can make: Started, Died and Removed.
const steps = pleg.Removed + 1

// sightings puts together who saw what of containers and sandboxes: the relist and the
// event sources. What sources alone have seen becomes an event, too, in time.
type sightings struct {
	passive
	byID      map[string]*sighted
	kept      []memory   // those that somebody knows, in the order in which they are to be looked at
	strangers []*sighted // the others, oldest first

	untold   []*transition // that sources alone saw, oldest first: are told if no relist sees them in time
	unjudged []*transition // of which it is not known yet whether the relist has missed them
	owed     []owed        // that the relist saw and a source has not told yet, oldest first

	drift     [sourceCount]drift
	before    time.Time // start of the last good relist of all but one
	strange   uint64    // events of strangers that were told
	uncounted uint64    // and that were not
}

// A sighted is what is known of one id.
type sighted struct {
	id        string
	pod       pleg.PodRef
	container string
	sandbox   bool
	stranger  bool      // no relist has had it, or its pod
	another   bool      // and it is of another runtime on this machine
	since     time.Time // it has run at least since then; zero if nobody says so
	touched   time.Time
	steps     [steps]*transition
}

// A memory is a place in the order in which ids are forgotten, taken at a time. Who was
// touched since then has a new one.
type memory struct {
	x  *sighted
	at time.Time
}

// A transition is one step of one id, and who saw it.
type transition struct {
	of       *sighted
	kind     pleg.Kind
	seen     Sightings
	first    time.Time         // when a source or the relist saw it
	said     time.Time         // when it happened, by the clock of a source; zero if none says so
	told     bool              // it is among the events, or counted instead
	missed   bool              // by the relist, as far as is known
	old      [sourceCount]bool // what that source told was of a time before its stream
	verdicts [sourceCount]verdict
	exited   bool // the status that came with it has the container as exited
	exitCode int32
	reason   string
}

// stepOf returns which step a signal tells of; false if none.
func stepOf(s pleg.Signal) (pleg.Kind, bool) {
	switch s {
	case pleg.SignalStarted:
		return pleg.Started, true
	case pleg.SignalStopped:
		return pleg.Died, true
	case pleg.SignalDeleted:
		return pleg.Removed, true
	}
	return 0, false
}

// saw takes in what a source tells. A backlog is of a time before its stream was opened:
// what the records have of it is no news, and who is not in them has long gone.
func (g *sightings) saw(m *machine, s *source, e SourceEvent, backlog bool) {
	kind, ok := stepOf(e.Signal)
	if !ok {
		return
	}
	x := g.byID[e.ID]
	if x == nil || x.steps[kind] == nil {
		place, known := m.pods.place(e.ID)
		switch {
		case backlog && (place.passed(kind) || !known && x == nil):
			return
		case place.passed(kind):
			g.drift[s.stream.Source].late++
			return
		case x == nil:
			if _, pod := m.pods.byUID[e.Pod.UID]; !known {
				known = pod
			}
			if x = g.admit(m, e.ID, known); x == nil {
				s.state.Unknown++
				g.uncounted++
				return
			}
		}
	}
	x.learn(e.Upstream)
	g.touch(m, x)
	x.ran(m, e)
	t := x.step(kind)
	if !t.seen.At[s.stream.Source].IsZero() {
		g.drift[s.stream.Source].duplicates++
		return
	}
	if e.At = s.trusted(e.At); t.said.IsZero() {
		t.said = e.At
	}
	t.learn(e.Upstream)
	g.sight(t, s.stream.Source, e.Received, backlog)
}

// sight notes that a source has seen a transition.
func (g *sightings) sight(t *transition, by Source, at time.Time, backlog bool) {
	t.seen.At[by], t.old[by] = at, backlog
	switch {
	case t.first.IsZero():
		t.first = at
		if len(g.untold) < mostUntold {
			g.untold = append(g.untold, t)
		} else {
			t.told = true
			g.uncounted++
		}
		g.unjudged = append(g.unjudged, t)
	case t.missed && t.of.another:
	case t.missed:
		g.judge(t, by, missedByRelist)
	case !t.seen.At[FromRelist].IsZero():
		g.drift[by].late++
		if t.verdicts[by] == undecided {
			g.both(t, by)
		}
	}
}

// released takes in an event of the core, and tells before it what sources saw of that id
// that must have been earlier. It returns who saw it; nil if nobody beside the relist
// looks. ran says that the container or sandbox is known to have run.
func (g *sightings) released(m *machine, e Event, happened time.Time, ran bool) *Sightings {
	x := g.byID[e.ID]
	if e.Kind >= steps || e.Again && e.Streamed || x == nil && (e.AtStart || !m.sources.any()) {
		return nil
	}
	if x == nil {
		x = g.admit(m, e.ID, true)
	}
	x.pod, x.container, x.sandbox = e.Pod, e.Container, e.Sandbox
	g.know(m, x)
	g.touch(m, x)
	if e.Kind == pleg.Started && e.From == pleg.Exited && e.To == pleg.Running { // an id that was used before
		x.steps = [steps]*transition{}
	}
	t := x.step(e.Kind)
	if e.Streamed {
		if t.seen.At[FromCRI].IsZero() { // of the two events that a DELETED makes
			g.sight(t, FromCRI, m.now, false)
		}
	} else {
		if !t.seen.At[FromRelist].IsZero() { // once more
			t = &transition{of: x, kind: e.Kind}
			x.steps[e.Kind] = t
		}
		g.overtake(m, x, e)
		g.relisted(m, t, e, happened, ran)
	}
	t.told = true
	if e.AtStart {
		return nil
	}
	seen := t.seen
	return &seen
}

// relisted notes that the relist has seen a transition.
func (g *sightings) relisted(m *machine, t *transition, e Event, happened time.Time, ran bool) {
	t.seen.At[FromRelist], t.missed = m.now, false
	if t.first.IsZero() {
		t.first = m.now
	}
	if e.AtStart {
		g.withdraw(t)
		return
	}
	after := m.listedBefore()
	if !happened.IsZero() && happened.Before(after) {
		after = happened
	}
	o := owed{t: t, after: after}
	for by := FromRelist + 1; by < sourceCount; by++ {
		if !t.seen.At[by].IsZero() {
			g.both(t, by)
		} else if s := m.sources.of(by); s != nil && s.wouldTell(t, ran) {
			o.by[by] = true
		}
	}
	if o.by != [sourceCount]bool{} {
		g.owed = append(g.owed, o)
	}
}

// overtake tells what sources saw of an id that was over before the relist came, which
// has seen a later step. What was over before anybody looked is no news.
func (g *sightings) overtake(m *machine, x *sighted, e Event) {
	for _, t := range x.steps[:e.Kind] {
		switch {
		case t == nil || !t.waits():
		case e.AtStart:
			t.told, t.seen.At[FromRelist] = true, m.now
			g.withdraw(t)
		default:
			g.miss(m, t)
		}
	}
}

// waits reports whether it is open if the relist sees a transition.
func (t *transition) waits() bool { return t.seen.At[FromRelist].IsZero() && !t.missed }

// step returns one step of an id.
func (x *sighted) step(kind pleg.Kind) *transition {
	if x.steps[kind] == nil {
		x.steps[kind] = &transition{of: x, kind: kind}
	}
	return x.steps[kind]
}

// learn takes from an event what it says of whose the id is. The strings are copied: they
// may be parts of a whole message.
func (x *sighted) learn(u pleg.Upstream) {
	if x.pod.UID != "" || u.Pod.UID == "" {
		return
	}
	x.pod = pleg.PodRef{
		UID: pleg.UID(strings.Clone(string(u.Pod.UID))), Namespace: strings.Clone(u.Pod.Namespace), Name: strings.Clone(u.Pod.Name),
	}
	if u.Status == nil {
		return
	}
	for i := range u.Status.Sandboxes {
		x.sandbox = x.sandbox || u.Status.Sandboxes[i].ID == u.ID
	}
	if c := u.Status.Lookup().Container(u.ID); c != nil {
		x.container = strings.Clone(c.Name)
	}
}

// learn takes from an event what it says of an end.
func (t *transition) learn(u pleg.Upstream) {
	if t.kind != pleg.Died || t.exited {
		return
	}
	if c := u.Status.Lookup().Container(u.ID); c != nil && c.State == pleg.Exited {
		t.exited, t.exitCode, t.reason = true, c.ExitCode, strings.Clone(c.Reason)
	}
}
