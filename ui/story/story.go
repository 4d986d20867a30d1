// Package story tells what became of an event: what happened, how a relist found it, and how
// the kubelet went on from there, or why it could not. A story follows from a snapshot, the
// journal and the event alone; its texts are not cleaned. All of it is pure, and safe for
// concurrent use while nobody changes the journal.
package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
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
	Name  string    // the same in all stories
	When  time.Time // zero if nobody knows, or it never came to that
	Who   string    // who did or saw it then; empty likewise
	Level widget.Level
	Says  string // what it is, in a few sentences
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
	for i, name := range names {
		of := tales[t.tale(i)]
		all[i] = Stage{Name: name, Says: words.Replace(of.says)}
		if i >= Sent && t.row.Delivery == pleg.Discarded {
			all[i].Level = widget.Bad
		}
		if of.at != nil {
			all[i].When, all[i].Who = of.at(t)
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

// words returns what puts figures and names into a tale.
func (t *teller) words() *strings.Replacer {
	r := t.row
	the := "Container " + Name(r)
	switch {
	case r.ID == "":
		the = "The pod"
	case r.Sandbox:
		the = "The sandbox"
	}
	source, _ := r.Seen.First()
	found, _ := t.released()
	return strings.NewReplacer(
		"{The}", the, "{name}", cmp.Or(Name(r), "it"), "{pod}", r.Pod.String(), "{kind}", r.Kind.String(), "{event}", say.EventWord(r.Kind),
		"{from}", r.From.String(), "{to}", r.To.String(), "{source}", source.String(), "{told}", t.told(),
		"{time}", cmp.Or(said(r.AtStart, ", before plegtop started"), said(!r.HasLag, "; the runtime keeps no time of it")),
		"{exit}", said(r.Exited, fmt.Sprintf(", exit code %d", r.ExitCode)+said(r.Reason != "", ", "+r.Reason)),
		"{lists}", cmp.Or(
			said(t.relisted, fmt.Sprintf("The relist took %s, its lists %s. ", text.Took(t.relist.Took), text.Took(t.relist.List))),
			said(t.byCRI() && r.Mode == pleg.Evented, "The runtime's stream asked for a relist of this pod alone. ")),
		"{took}", text.Took(found.Sub(r.At)), "{asof}", cmp.Or(said(t.Release < 36, "inspection"), "lists, "+r.At.Local().Format(Clock)), "{entry}", t.entry(), "{address}", cmp.Or(said(r.Kind == pleg.NetworkFailed, "no address"), "an address"),
		"{otherwise}", said(!t.byCRI(), " A kubelet has no other source."),
		"{worker}", t.works(),
		"{capacity}", fmt.Sprint(t.Channel.Capacity), "{waiting}", fmt.Sprint(t.Channel.Len),
	)
}

func said(holds bool, s string) string {
	if holds {
		return s
	}
	return ""
}

// told says who saw it before a relist did.
func (t *teller) told() string {
	first, when := t.row.Seen.First()
	lead, ahead := t.row.Seen.Lead(first)
	return cmp.Or(
		said(first == sources.FromRelist, "The runtime does not tell the kubelet."),
		fmt.Sprintf("The source %s saw it at %s", first, when.Local().Format(Clock))+said(ahead, ", "+text.Took(lead)+" before the relist")+".",
	)
}

// entry says what has become of the entry in the cache.
func (t *teller) entry() string {
	return cmp.Or(said(t.gone, " The pod has gone since, and its entry."), said(!t.gone && t.pod.StatusErr != nil, " Now it has an error in its place."))
}

// works says what the pod's worker does now.
func (t *teller) works() string {
	if t.worker == nil {
		return ""
	}
	return " Now: " + say.WorkerTells(&t.Workers, t.worker, t.At) + "."
}

func (t *teller) byCRI() bool { return t.row.Seen != nil && !t.row.Seen.At[sources.FromCRI].IsZero() }
