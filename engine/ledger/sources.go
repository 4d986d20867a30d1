package ledger

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// Heard is what an event source tells.
type Heard struct {
	pleg.Upstream // At is zero where the clock of the source makes no sense
	By            Source
	Received      time.Time
	Backlog       bool // it is of a time before the stream was opened
}

// Hear takes in what a source tells. A backlog is of a time before its stream was opened:
// what the records have of it is no news, and who is not in them has long gone.
func (l *Ledger) Hear(f *Facts, h Heard) {
	kind, ok := stepOf(h.Signal)
	if !ok {
		return
	}
	x := l.byID[h.ID]
	if x == nil || x.steps[kind] == nil {
		_, settled, known := f.Records.Object(h.ID)
		switch over := known && passed(kind, settled); {
		case h.Backlog && (over || !known && x == nil):
			return
		case over:
			l.drift[h.By].late++
			return
		case x == nil:
			if !known {
				known, _ = f.Records.Pod(h.Pod.UID)
			}
			if x = l.admit(f, h.ID, known); x == nil {
				l.drift[h.By].unknown++
				l.uncounted++
				return
			}
		}
	}
	x.learn(h.Upstream)
	l.touch(f, x)
	x.ran(f, &h)
	t := x.step(kind)
	if !t.seen.At[h.By].IsZero() {
		l.drift[h.By].duplicates++
		return
	}
	if t.said.IsZero() {
		t.said = h.At
	}
	t.learn(h.Upstream)
	l.sight(t, h.By, h.Received, h.Backlog)
}

// Lost counts events of a source that came too fast to be read.
func (l *Ledger) Lost(by Source, n uint64) { l.drift[by].lost += n }

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

// passed reports whether a step is over by what the records have settled: a source that
// tells of it tells nothing new.
func passed(kind pleg.Kind, settled pleg.State) bool {
	return kind == pleg.Started && settled == pleg.Running || kind <= pleg.Died && settled == pleg.Exited
}

// sight notes that a source has seen a transition.
func (l *Ledger) sight(t *transition, by Source, at time.Time, backlog bool) {
	t.seen.At[by], t.old[by] = at, backlog
	switch {
	case t.first.IsZero():
		t.first = at
		if len(l.untold) < MostUntold {
			l.untold = append(l.untold, t)
		} else {
			t.told = true
			l.uncounted++
		}
		l.unjudged = append(l.unjudged, t)
	case t.missed && t.of.foreign:
	case t.missed:
		l.judge(t, by, missedByRelist)
	case !t.seen.At[FromRelist].IsZero():
		l.drift[by].late++
		if t.verdicts[by] == undecided {
			l.both(t, by)
		}
	}
}

// learn takes from an event what it says of whose the id is. The strings are copied: they
// may be parts of a whole message.
func (x *entry) learn(u pleg.Upstream) {
	if x.Pod.UID != "" || u.Pod.UID == "" {
		return
	}
	x.Pod = pleg.PodRef{
		UID: pleg.UID(strings.Clone(string(u.Pod.UID))), Namespace: strings.Clone(u.Pod.Namespace), Name: strings.Clone(u.Pod.Name),
	}
	if u.Status == nil {
		return
	}
	x.Sandbox = x.Sandbox || u.Status.HasSandbox(u.ID)
	if c := u.Status.Lookup().Container(u.ID); c != nil {
		x.Container = strings.Clone(c.Name)
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

// ran notes since when an id has run, before it has ended.
func (x *entry) ran(f *Facts, h *Heard) {
	began := h.Received.Add(-h.Ran)
	if (h.Signal == pleg.SignalStarted || h.Ran > 0) && (x.since.IsZero() || began.Before(x.since)) {
		x.since = began
	}
	x.isForeign(f) // while it can be told: not any more when it has ended
}

// isForeign reports whether an id is of another runtime on this machine, for the kernel
// tells of all: it has run for so long that this runtime would have listed it by now, or
// told of it. Once that is so it stays so, until a relist has the id.
func (x *entry) isForeign(f *Facts) bool {
	if !x.stranger || x.foreign {
		return x.stranger && x.foreign
	}
	for _, t := range x.steps {
		if t != nil && (t.kind == pleg.Died || !t.seen.At[FromCRI].IsZero()) {
			return false // what has ended was judged when it did
		}
	}
	if x.since.IsZero() || f.Now.Sub(x.since) < Patience {
		return false
	}
	connected := f.Watches[FromCRI].Connected
	hears := !connected.IsZero() && !connected.After(x.since)
	x.foreign = hears || !f.Listed.Before(x.since.Add(settling))
	return x.foreign
}

// A Source is somebody who sees what happens to containers: the relist, or an event
// source beside it.
type Source uint8

const (
	FromRelist Source = iota
	FromCRI           // the runtime's event stream, GetContainerEvents
	FromCgroup        // the containers' control groups, as the kernel shows them
	Sources           // how many there are
)

var sourceNames = [Sources]string{"relist", "cri", "cgroup"}

// String returns the word that the flag --events and the JSON have for s.
func (s Source) String() string { return pleg.Word(s, sourceNames[:]) }

// Sightings is when who saw one transition.
type Sightings struct {
	At [Sources]time.Time // when it was received, by source; zero if it had not been then
}

// First returns who saw it first, and when; [FromRelist] and zero if nobody did.
func (s *Sightings) First() (Source, time.Time) {
	first, at := FromRelist, time.Time{}
	if s == nil {
		return first, at
	}
	for source, t := range s.At {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			first, at = Source(source), t
		}
	}
	return first, at
}

// Lead returns by how much a source was ahead of the relist, negative if it was late, and
// false if either had not seen it.
func (s *Sightings) Lead(of Source) (time.Duration, bool) {
	if s == nil || of >= Sources || s.At[of].IsZero() || s.At[FromRelist].IsZero() {
		return 0, false
	}
	return s.At[FromRelist].Sub(s.At[of]), true
}
