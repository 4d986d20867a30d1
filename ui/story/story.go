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
type Place byte

// The places, each with a letter of its own.
const (
	Runtime Place = 'R'
	Lists   Place = 'L'
	Compare Place = 'C'
	Inspect Place = 'I'
	Cache   Place = 'K'
	Workers Place = 'W'
	Channel Place = 'H'
	Loop    Place = 'S' // the kubelet's sync loop
	ListAge Place = 'A'
	Ready   Place = 'N' // of the node
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

// A Stage is a part of a story.
type Stage struct {
	Name   string // the same in all stories
	Title  string // what it is in this one
	Places []Place
	When   time.Time // zero if nobody knows, or it never came to that
	Who    string    // who did or saw it then; empty likewise
	Level  widget.Level
	Says   string // what it is, in a few sentences
	Field  string // what goes wrong here on real nodes; empty for nothing
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
	all := slices.Clone(stages[:])
	for i := range all {
		st, of := &all[i], tales[t.tale(i)]
		st.Title, st.Says, st.Field = words.Replace(cmp.Or(of.title, "not "+st.Name)), words.Replace(of.says), words.Replace(cmp.Or(of.field, st.Field))
		switch {
		case t.unseen() || t.derived():
			st.Field = of.field // the event never gets there
		case (i == Found || i == Inspected) && t.streamed():
			st.Places = []Place{Runtime, Cache}
		case i >= Sent && t.row.Delivery == pleg.Discarded:
			st.Level = widget.Bad
		}
		if of.at != nil {
			st.When, st.Who = of.at(t)
		}
	}
	return all
}

// tale returns which tale of a stage is the first that holds.
func (t *teller) tale(stage int) int {
	return slices.IndexFunc(tales, func(of tale) bool {
		return (of.stage == stage || of.stage == later && stage > Seen) && (of.when == nil || of.when(t))
	})
}

// A teller is what a story is made of.
type teller struct {
	*engine.Snapshot
	row      *model.Row
	pod      *engine.Pod // as it is now, or was last; nil if nothing is known of it
	gone     bool        // it is not listed
	worker   *podworker.Worker
	relist   model.Relist
	relisted bool // relist is the one that found it
}

func newTeller(s *engine.Snapshot, j *model.Journal, r *model.Row) *teller {
	t := &teller{Snapshot: s, row: r, pod: s.Pod(r.Pod), worker: s.Workers.Of(r.Pod.UID)}
	if t.gone = t.pod == nil; t.gone {
		t.pod = j.Gone(r.Pod.UID)
	}
	if r.ByRelist() {
		t.relist, t.relisted = j.Relist(r.At)
	}
	return t
}
