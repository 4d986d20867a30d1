// Package sources follows the event sources that look at a node in addition to the relist: the
// runtime's event stream and the containers' control groups. It decides when each stream is
// open, compares what each source sees with what the relist sees, and follows the evented mode
// of kubelet 1.37. It also derives network events from sandbox statuses.
//
// The package is pure: time is an argument, and nothing is opened here. All state is in
// exported fields, so that a checkpoint can hold it. Use the methods, not the fields.
// Nothing here is safe for concurrent use.
package sources

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// Config says which event sources exist, and how the kubelet uses the runtime's stream.
type Config struct {
	Streams []Stream
	Mode    pleg.Mode    // Evented opens the stream of FromCRI, if there is one in Streams
	Release pleg.Release // of the kubelet
	Once    bool         // for a check that looks once: no stream is opened, and the mode stays as it is
}

// A Stream is an event source that can be opened.
type Stream struct {
	Source Source
	On     bool   // somebody asked for it; it stays open when the evented mode falls back
	Forced bool   // it is opened even if it takes events from the kubelet
	Refuse string // why it can never be opened; empty if it can
}

// Facts is what the relist knows at the moment of a call.
type Facts struct {
	Records      Records
	Listed       time.Time     // start of the last good list of all pods; zero before the first
	ListedBefore time.Time     // start of the last good list before the relist under way, else Listed
	ListsBack    time.Time     // when the last good lists had returned
	Period       time.Duration // between two relists
	UsualLists   time.Duration // what both lists usually take
	Paused       bool
	Resumed      time.Time // when the last pause ended; zero if there was none
}

// Records is what the relist knows of ids and pods.
type Records interface {
	// Object returns the object of an id, and its state as of the last relist that has settled it.
	// Known is false if no record has the id.
	Object(id string) (ref pleg.ObjectRef, settled pleg.State, known bool)
	// Pod returns a pod as it was last listed; nil if there is none.
	Pod(uid pleg.UID) *pleg.Pod
	// Status returns the pod's last inspection. It is nil if that failed. Known is false if the
	// cache has no entry for the pod.
	Status(uid pleg.UID) (status *pleg.PodStatus, known bool)
}

// An Observer knows the state of each event source, and who saw each transition first.
type Observer struct {
	Config    Config       // the model sets Release when it learns which kubelet runs
	Version   pleg.Version // of the runtime; the model sets it when it is known
	Suspended bool         // all streams are closed for a while, since nobody would read them
	Watches   []Watch      // one for each of Config.Streams, in that order
	Changes   []SourceChange
	Mode      ModeState
	Asks      []Ask // of the evented mode, oldest first, each pod once

	IDs       map[string]*Entry
	Waits     []Wait    // oldest first
	Strangers uint64    // unseen events of ids that no relist ever had, as far as they were reported
	Uncounted uint64    // events of sources that were not reported: there were too many
	ForgotAt  time.Time // when old ids were forgotten last
}

// New returns an observer of the sources in c. No source is open yet.
func New(c Config, at time.Time) *Observer {
	o := &Observer{Config: c, IDs: make(map[string]*Entry), Mode: ModeState{Mode: c.Mode, Asked: c.Mode}}
	for _, stream := range c.Streams {
		o.Watches = append(o.Watches, Watch{Config: stream, State: SourceState{Source: stream.Source, Since: at}})
	}
	return o
}

// watch returns a source; nil if it is not in the configuration.
func (o *Observer) watch(source Source) *Watch {
	i := slices.IndexFunc(o.Watches, func(w Watch) bool { return w.Config.Source == source })
	if i < 0 {
		return nil
	}
	return &o.Watches[i]
}

// Want opens the sources that are named and closes all others. Without the runtime's stream
// there is no evented mode.
func (o *Observer) Want(at time.Time, on []Source) {
	for i := range o.Watches {
		o.Watches[i].Config.On = slices.Contains(on, o.Watches[i].Config.Source)
	}
	if o.evented() && !slices.Contains(on, FromCRI) {
		o.fallBack(at, notSwitchedOn)
	}
}

// Advance brings everything up to a moment. The model calls it after each observation. It
// returns the transitions that the relist has not seen in time, each once and in order.
func (o *Observer) Advance(at time.Time, f Facts) (unseen []Unseen) {
	for i := range o.Watches {
		o.advance(at, &o.Watches[i])
	}
	o.checkMode(at)
	for len(o.Waits) > 0 && !f.Paused && !at.Before(o.Waits[0].due(f)) {
		unseen = o.settle(unseen, o.Waits[0], f)
		o.Waits = o.Waits[1:]
	}
	if len(o.Watches) > 0 && at.Sub(o.ForgotAt) >= forgetEvery {
		o.ForgotAt = at
		o.forget(at, Lasts)
	}
	return unseen
}

// Due returns the next moment after at when Advance or Open changes something; zero for never.
func (o *Observer) Due(at time.Time, f Facts) (due time.Time) {
	sooner := func(t time.Time) {
		if t.After(at) && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	for i := range o.Watches {
		w := &o.Watches[i]
		sooner(w.State.NextAt)
		if w.State.State == StreamOpening {
			sooner(w.OpenedAt.Add(lasting))
		}
	}
	if len(o.Waits) > 0 && !f.Paused {
		sooner(o.Waits[0].due(f))
	}
	return due
}

// States returns the state of each source, in the order of the configuration.
func (o *Observer) States() (all []SourceState) {
	for i := range o.Watches {
		all = append(all, o.Watches[i].State)
	}
	return all
}
