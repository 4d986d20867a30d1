package story

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/model"
)

// names are those of the stages.
var names = [Stages]string{Seen: "seen", Found: "found", Inspected: "inspected", Cached: "cached", Sent: "sent", Woken: "woken"}

// A tale is what is told of a stage where it holds.
type tale struct {
	stage int
	when  func(*teller) bool // nil for always
	says  string             // with figures in braces: see [teller.words]
	at    func(*teller) (time.Time, string)
}

// later stands for all stages but the first.
const later = -1

const takes = "The sync loop takes the event and wakes the pod's worker, which compares what should run with what runs"

// tales are all that is told. Of each stage the first one that holds is the one.
var tales = []tale{
	{Seen, (*teller).unseen, "{The} of {pod}: the event source {source} saw it. No relist saw it.{otherwise}", (*teller).sighted},
	{Seen, (*teller).derived, "The runtime sets up the network of {pod} before it calls the sandbox ready. No event of a kubelet tells the result.", nil},
	{Seen, of(pleg.PodSync), "Nothing happened to {pod}: its last inspection had failed, or somebody asked for one.", nil},
	{Seen, nil, "{The} of {pod} went from {from} to {to}{time}{exit}. {told}", (*teller).happened},

	{later, (*teller).unseen, "No relist sees it, so the kubelet does nothing. The next good list reports what is still different then.", nil},

	{Found, (*teller).derived, "The sandbox was new in the lists. Records do not hold the network.", nil},
	{Found, of(pleg.PodSync), "{lists}No state in its record differs. It is inspected all the same.", (*teller).listed},
	{Found, nil, "{lists}In the lists before, {name} was {from}. Now it is {to}: the record differs.", (*teller).listed},

	{Inspected, (*teller).derived, "The status of the sandbox has {address}: plegtop derives the event from that.", (*teller).released},
	{Inspected, (*teller).left, "The pod is no longer listed, so nothing can be asked. The kubelet drops its record and its cache entry.", nil},
	{Inspected, nil, "The kubelet makes one status call per sandbox and container of the pod, one after the other. The relist had taken {took} when they had succeeded.", (*teller).released},

	{Cached, (*teller).derived, "The address is part of the status in the cache. The kubelet reads it there.", nil},
	{Cached, nil, "Now the record moves on: no relist reports this again. The cache has the pod's status as of the start of the {asof}.{entry}", nil},

	{Sent, (*teller).derived, "No kubelet sends {event}: it takes no room in the channel.", nil},
	{Sent, ends(pleg.Filtered), "{kind} is not sent: the sync loop does not wait for created or unknown.", nil},
	{Sent, ends(pleg.Discarded), "{kind} was discarded: the channel was full. Its record has moved on, so no relist sends it again.", nil},
	{Sent, nil, "{kind} is sent. The channel holds {capacity}; {waiting} are in it now.", (*teller).released},

	{Woken, (*teller).derived, "Nobody is told. The worker reads the address when something else wakes it.", nil},
	{Woken, ends(pleg.Discarded), "The event was not sent. The pod's next event or the kubelet's own resync wakes the worker, within about a minute.", nil},
	{Woken, ends(pleg.Filtered), "The event was not sent.", nil},
	{Woken, of(pleg.Removed), "The sync loop takes the event and ignores it: a removal asks for no sync.", nil},
	{Woken, (*teller).spared, "The worker had expected this event of its own doing.{worker}", nil},
	{Woken, (*teller).sandboxDied, takes + ". If the pod is to go on, it makes a new sandbox.{worker}", nil},
	{Woken, of(pleg.Died), takes + ". By the restart policy it starts the container again, after a back-off.{worker}", nil},
	{Woken, nil, takes + ".{worker}", nil},
}

func of(k pleg.Kind) func(*teller) bool { return func(t *teller) bool { return t.row.Kind == k } }

func ends(d pleg.Delivery) func(*teller) bool {
	return func(t *teller) bool { return t.row.Delivery == d }
}

func (t *teller) unseen() bool      { return t.row.Delivery == pleg.Unseen }
func (t *teller) derived() bool     { return t.row.Delivery == pleg.Derived }
func (t *teller) left() bool        { return t.row.Kind == pleg.Removed && t.gone }
func (t *teller) sandboxDied() bool { return t.row.Kind == pleg.Died && t.row.Sandbox }

// spared reports whether the event is the worker's last, and was expected.
func (t *teller) spared() bool {
	w, r := t.worker, t.row
	return w != nil && w.Spared && w.Last.ID == r.ID && w.Last.Kind == r.Kind && w.Last.At.Equal(r.At)
}

// sighted returns who saw it first.
func (t *teller) sighted() (time.Time, string) {
	first, at := t.row.Seen.First()
	return at, first.String()
}

// happened returns when it happened, where the runtime keeps a time of it.
func (t *teller) happened() (time.Time, string) {
	if t.row.AtStart || !t.row.HasLag {
		return time.Time{}, ""
	}
	return t.row.SeenAt.Add(-t.row.Lag), "the runtime's clock"
}

// listed returns when the relist began that found it, and which one it was.
func (t *teller) listed() (time.Time, string) {
	return t.row.At, said(t.relisted, fmt.Sprintf("relist %d", t.relist.Number))
}

// released returns when the event came to the kubelet: with the relist that found it, also
// where an event source had seen it before.
func (t *teller) released() (time.Time, string) {
	if seen := t.row.Seen; seen != nil && !seen.At[sources.FromRelist].IsZero() {
		return seen.At[sources.FromRelist], ""
	}
	return t.row.SeenAt, ""
}

// Name returns what in its pod an event is about; empty for the pod itself.
func Name(r *model.Row) string {
	switch {
	case r.ID == "":
		return ""
	case r.Sandbox:
		return "sandbox"
	case r.Container != "":
		return r.Container
	}
	return pleg.ShortID(r.ID)
}
