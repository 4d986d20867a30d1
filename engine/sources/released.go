package sources

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// Patience is how long the relist and a source wait for each other. After that one of them
	// has missed what the other saw.
	Patience = 3 * time.Second
	// mostLists is the longest time that the lists of a healthy node take.
	mostLists = 250 * time.Millisecond
	// MostUnseen is how many events of ids that no relist ever had are reported over the whole
	// run: a source that makes ids up would fill the list of events.
	MostUnseen = 1000
)

// Unseen returns each transition once that only sources have seen, in order. Call it after
// Advance and Released, and report these events before any other.
func (o *Observer) Unseen() []Unseen {
	all := o.unseen
	o.unseen = nil
	return all
}

// Released takes in an event of the kubelet's PLEG. AtStart is set if it only reports what the
// first relist found. Happened is when it took place by the runtime's stamps, zero if they do
// not say. Ran says that the container or sandbox is known to have run. It returns who saw the
// transition; nil if no source looks.
func (o *Observer) Released(at time.Time, e pleg.Event, atStart bool, happened time.Time, ran bool, f Facts) *Sightings {
	looking := slices.ContainsFunc(o.Watches, func(w Watch) bool { return w.Running || !w.Watching.IsZero() })
	x := o.IDs[e.ID]
	if e.Kind > pleg.Removed || x == nil && (atStart || !looking) {
		return nil
	}
	if x == nil {
		o.admit(at, e.ID, true)
		x = o.IDs[e.ID]
	}
	x.Listed = true
	for kind, t := range x.Steps {
		switch {
		case t == nil:
		case pleg.Kind(kind) >= e.Kind && t.sawIt(FromRelist):
			x.Steps[kind] = nil // the relist sees it anew: a list had left the id out
		case pleg.Kind(kind) < e.Kind && !atStart:
			o.report(x, t, f) // it was over when the relist came
		}
	}
	t := o.step(at, e.ID, e.Kind)
	t.Event, t.Seen.At[FromRelist] = e, at
	if atStart {
		t.Settled = true
		return nil
	}
	t.Ran, t.After = ran, f.ListedBefore
	if !happened.IsZero() && happened.Before(t.After) {
		t.After = happened
	}
	seen := t.Seen
	return &seen
}

// due returns when everybody should have seen a step, also with a long period, slow lists or a
// pause.
func (w Wait) due(f Facts) time.Time {
	since := w.At
	if since.Before(f.Resumed) {
		since = f.Resumed
	}
	return since.Add(Patience + max(f.Period-time.Second, 0) + 2*min(f.UsualLists, mostLists))
}

// settle counts who has seen a step and who has missed it, once everybody has had the time. What
// the relist sees later, since it hung, counts as missed. A source must have watched since
// before the step happened; that its stream was lost for a while is no excuse. The kernel shows
// no removals, and shows the end only of what has run.
func (o *Observer) settle(wait Wait, f Facts) {
	x := o.IDs[wait.ID]
	if x == nil || x.Steps[wait.Kind] == nil {
		return
	}
	t := x.Steps[wait.Kind]
	if t.Settled || !t.First.Equal(wait.At) {
		return
	}
	o.report(x, t, f)
	t.Settled = true
	for i := range o.Watches {
		w := &o.Watches[i]
		by := w.Config.Source
		shows := wait.Kind == pleg.Started || wait.Kind == pleg.Died && t.Ran || wait.Kind == pleg.Removed && by == FromCRI
		switch saw, relist := t.sawIt(by), t.sawIt(FromRelist); {
		case saw && relist:
			w.both(t)
		case saw:
			w.Sum.MissedByRelist++
			if !x.Listed {
				w.State.Unknown++
			}
		case relist && shows && !w.Watching.IsZero() && !w.Watching.After(t.After):
			w.Sum.MissedBySource++
		}
	}
}

// report reports a step that the relist has not seen, once.
func (o *Observer) report(x *Entry, t *Step, f Facts) {
	if t.Reported || t.sawIt(FromRelist) {
		return
	}
	t.Reported = true
	if ref, _, known := f.Records.Object(t.ID); known {
		x.Listed, t.ObjectRef = true, ref
	}
	if !x.Listed {
		if o.Strangers >= MostUnseen {
			o.Uncounted++
			return
		}
		o.Strangers++
	}
	o.unseen = append(o.unseen, t.Unseen)
}
