// Package story tells what became of an event: what happened, how a relist found it, and how
// the kubelet went on from there, or why it could not. A story follows from a snapshot, the
// journal and the event alone; its texts are not cleaned. All of it is pure, and safe for
// concurrent use while nobody changes the journal.
package story

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/widget"
)

// A Place is where in runtime and kubelet a stage takes place.
type Place uint8

// The way of an event goes from the first of them to the last; the others are beside it.
const (
	Runtime Place = iota
	Lists
	Compare
	Inspect
	Cache
	Channel
	Loop // the kubelet's sync loop
	Workers
	Sources // of events, beside the relist
	ListAge
	Ready
)

// The stages of each story, as indices.
const (
	Seen = iota
	Found
	Inspected
	Cached
	Sent
	Woken
	Stages // how many there are
)

// A Figure is a fact of a stage: a moment, a text, or a text about a moment.
type Figure struct {
	Label string
	At    time.Time // zero for none
	Text  string
	Level widget.Level
}

// A Stage is a part of a story.
type Stage struct {
	Name    string // the same in all stories
	Title   string // what it is in this one
	Places  []Place
	When    time.Time // zero if nobody knows, or it never came to that
	Who     string    // who did or saw it then; empty likewise
	Level   widget.Level
	Says    string   // what it is, in a few sentences
	Then    string   // what else comes of it; empty for nothing
	Field   string   // what goes wrong here on real nodes; empty for nothing
	Figures []Figure // in their order; none where Says has them all
}

// Clock is how moments of a story are written: parts of a second matter in a relist.
const Clock = "15:04:05.000"

// At says when a stage was and who was at it; empty where nobody knows when.
func (s *Stage) At() string {
	if s.When.IsZero() {
		return ""
	}
	return s.When.Local().Format(Clock) + said(s.Who != "", " by "+s.Who)
}

// Of returns the story of an event, which has all [Stages] however far the event came.
func Of(s *engine.Snapshot, j *model.Journal, r *model.Row) []Stage {
	t := newTeller(s, j, r)
	words := t.words()
	all := make([]Stage, Stages)
	for i := range all {
		all[i] = t.stage(i)
		for _, said := range []*string{&all[i].Title, &all[i].Says, &all[i].Then, &all[i].Field} {
			*said = words.Replace(*said)
		}
	}
	all[Seen].Figures, all[Found].Figures = t.seen(), t.found()
	return all
}

// stage returns a stage with the first of the tales that holds for it.
func (t *teller) stage(i int) Stage {
	st, of := stages[i], tales[slices.IndexFunc(tales, func(of tale) bool { return of.stage == i && (of.when == nil || of.when(t)) })]
	st.Title, st.Says, st.Then = of.title, of.says, of.then
	switch st.Field = cmp.Or(of.field, st.Field); {
	case of.field == "" && (t.unseen() || t.derived()):
		st.Field = "" // it never gets there
	case i == Seen && t.unseen(), (i == Found || i == Inspected) && t.streamed() && !t.unseen():
		st.Places = []Place{Runtime, Sources}
	case i >= Sent && t.row.Delivery == pleg.Discarded:
		st.Level = widget.Bad
	}
	if of.at != nil {
		st.When, st.Who = of.at(t)
	}
	return st
}

// A teller is what a story is made of.
type teller struct {
	*engine.Snapshot
	journal  *model.Journal
	row      *model.Row
	pod      *engine.Pod // as it is now, or was last; nil if nothing is known of it
	gone     bool        // it is not listed
	worker   *podworker.Worker
	relist   model.Relist
	relisted bool // relist is the one that found it
}

func newTeller(s *engine.Snapshot, j *model.Journal, r *model.Row) *teller {
	t := &teller{Snapshot: s, journal: j, row: r, pod: s.Pod(r.Pod), worker: s.Workers.Of(r.Pod.UID)}
	if t.gone = t.pod == nil; t.gone {
		t.pod = j.Gone(r.Pod.UID)
	}
	if r.ByRelist() {
		t.relist, t.relisted = j.Relist(r.At)
	}
	return t
}
