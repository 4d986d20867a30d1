package sources

import (
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// Patience is how long the relist and a source wait for each other. After that, one has missed
	// a step that the other saw.
	Patience = 3 * time.Second
	// mostLists is the longest time that the lists of a healthy node take.
	mostLists = 250 * time.Millisecond
	// settling is how much later than the kernel a healthy runtime lists a container that has
	// started.
	settling = time.Second
	// Lasts is how long we remember who saw which step. It is longer than lists hang before
	// somebody acts.
	Lasts = 10 * time.Minute
	// forgetEvery is how often old ids are removed. A few seconds do not matter beside Lasts.
	forgetEvery = 10 * time.Second
	// MostIDs is how many ids are remembered: a source may send more than any node has. An id that
	// no relist has gets room only while less than half is taken.
	MostIDs = 8192
	// MostUnseen is how many events of ids that no relist ever had are reported over the whole run:
	// a source that invents ids would fill the list of events.
	MostUnseen = 1000
)

// An Entry is what is known of one id.
type Entry struct {
	Listed  bool // a relist has had it
	Foreign bool // it is of another runtime on this node, as far as is known
	Touched time.Time
	Steps   [pleg.Removed + 1]*Step // Started, Died, Removed; nil if nobody has seen it
}

// A Step is one transition of an id.
type Step struct {
	Unseen            // what is reported if no relist sees it
	First   time.Time // when anybody saw it
	After   time.Time // it happened after this, and sources must have seen it; zero if they need not
	Missed  bool      // the relist has missed it, and it was reported as unseen
	Settled bool      // the sources that have not seen it have missed it
}

// A Wait is a step that somebody has seen and others may still see.
type Wait struct {
	ID   string
	Kind pleg.Kind
	At   time.Time // when the step was first seen; a step with another time is not meant
}

// sawIt reports whether a source, or the relist, has seen a step.
func (t *Step) sawIt(source Source) bool { return !t.Seen.At[source].IsZero() }

// step returns one step of an id. A new one waits for everybody to see it.
func (o *Observer) step(at time.Time, id string, kind pleg.Kind) *Step {
	x := o.IDs[id]
	if x.Steps[kind] == nil {
		x.Steps[kind] = &Step{First: at}
		o.Waits = append(o.Waits, Wait{ID: id, Kind: kind, At: at})
	}
	x.Touched = at
	return x.Steps[kind]
}

// Saw reports whether anybody is known to have seen a step of an id.
func (o *Observer) Saw(id string, kind pleg.Kind) bool {
	x := o.IDs[id]
	return x != nil && x.Steps[kind] != nil
}

// admit makes room for an id.
func (o *Observer) admit(at time.Time, id string) *Entry {
	for lasts := Lasts; len(o.IDs) >= MostIDs; lasts /= 2 {
		o.forget(at, lasts)
	}
	x := &Entry{Touched: at}
	o.IDs[id] = x
	return x
}

// forget forgets the ids without news for so long.
func (o *Observer) forget(at time.Time, lasts time.Duration) {
	maps.DeleteFunc(o.IDs, func(_ string, x *Entry) bool { return at.Sub(x.Touched) >= lasts })
	o.Waits = slices.DeleteFunc(o.Waits, func(w Wait) bool { return o.IDs[w.ID] == nil })
}

// unlisted reports whether the lists should show by now a container that has run since then.
func unlisted(since time.Time, f Facts) bool { return !f.Listed.Before(since.Add(settling)) }

// Released takes in an event of the kubelet's PLEG. AtStart is set if it only reports what the
// first relist found. Ran says that the container or sandbox is known to have run. It returns who
// saw the transition, nil if no source looks. It also returns the steps to report before it:
// earlier steps that only sources have seen.
func (o *Observer) Released(at time.Time, e pleg.Event, atStart, ran bool, f Facts) (*Sightings, []Unseen) {
	looking := slices.ContainsFunc(o.Watches, func(w Watch) bool { return w.open() || !w.Watching.IsZero() })
	x := o.IDs[e.ID]
	switch {
	case e.Kind > pleg.Removed || x == nil && (atStart || !looking):
		return nil, nil
	case atStart:
		clear(x.Steps[:e.Kind+1]) // what sources saw of it is of the time before, too
		return nil, nil
	case x == nil:
		x = o.admit(at, e.ID)
	}
	x.Listed = true
	var unseen []Unseen
	for kind, t := range x.Steps {
		switch {
		case t == nil:
		case pleg.Kind(kind) >= e.Kind && t.sawIt(FromRelist):
			x.Steps[kind] = nil // the relist sees it again: a list had left the id out
		case pleg.Kind(kind) < e.Kind:
			unseen = o.miss(unseen, x, t, f) // it was over when the relist came
		}
	}
	t := o.step(at, e.ID, e.Kind)
	t.Seen.At[FromRelist] = at
	for i := range o.Watches {
		w := &o.Watches[i]
		if t.sawIt(w.Config.Source) {
			w.both(t)
			if t.Missed { // the relist hung, and sees it now
				w.Sum.MissedByRelist--
			}
		}
	}
	t.Missed = false
	if ran || e.Kind != pleg.Died { // a source shows an end only if the object has run
		t.After = f.ListedBefore
	}
	seen := t.Seen
	return &seen, unseen
}

// due returns when everybody should have seen a step, also with a long period, slow lists or a
// pause.
func (w Wait) due(f Facts) time.Time {
	return later(w.At, f.Resumed).Add(Patience + max(f.Period-time.Second, 0) + 2*min(f.UsualLists, mostLists))
}

// settle finds out who has missed a step, after everybody has had time to see it. A source must
// have watched since before the step happened. A stream that was lost for a while is no excuse.
// The kernel shows no removals.
func (o *Observer) settle(unseen []Unseen, wait Wait, f Facts) []Unseen {
	x := o.IDs[wait.ID]
	if x == nil || x.Steps[wait.Kind] == nil || !x.Steps[wait.Kind].First.Equal(wait.At) {
		return unseen
	}
	t := x.Steps[wait.Kind]
	if !t.sawIt(FromRelist) {
		return o.miss(unseen, x, t, f)
	}
	t.Settled = true
	for i := range o.Watches {
		w := &o.Watches[i]
		shows := wait.Kind != pleg.Removed || w.Config.Source == FromCRI
		if shows && !t.sawIt(w.Config.Source) && !w.Watching.IsZero() && !w.Watching.After(t.After) {
			w.Sum.MissedBySource++
		}
	}
	return unseen
}

// miss reports and counts a step that the relist has not seen, once. The control groups show the
// containers of all runtimes. A container is foreign if it runs on, no list has it, and the
// runtime's stream has not reported it. That is no event, and the relist has missed nothing.
func (o *Observer) miss(unseen []Unseen, x *Entry, t *Step, f Facts) []Unseen {
	if t.Missed || t.sawIt(FromRelist) {
		return unseen
	}
	if ref, _, known := f.Records.Object(t.ID); known {
		x.Listed, t.ObjectRef = true, ref
	}
	runsOn := t.Kind == pleg.Started && x.Steps[pleg.Died] == nil && !t.sawIt(FromCRI)
	x.Foreign = !x.Listed && (x.Foreign || runsOn && unlisted(t.First, f))
	t.Missed = !x.Foreign
	for i := range o.Watches {
		if w := &o.Watches[i]; t.sawIt(w.Config.Source) {
			w.missedByRelist(x)
		}
	}
	switch {
	case x.Foreign:
		return unseen
	case x.Listed:
	case o.Strangers >= MostUnseen:
		o.Uncounted++
		return unseen
	default:
		o.Strangers++
	}
	return append(unseen, t.Unseen)
}
