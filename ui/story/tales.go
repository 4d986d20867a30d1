package story

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/model"
)

// stages are what the stages have in common in all stories.
var stages = [Stages]Stage{
	Seen: {Name: "seen", Places: []Place{Runtime}, Field: "In the field: if the whole runtime hangs, it answers nothing. Nothing moves from here on, though its containers run."},
	Found: {Name: "found", Places: []Place{Lists, Compare}, Field: "In the field: a list that hangs stops everything, and after {threshold} the node is NotReady. " +
		"What begins and ends between two lists is never seen."},
	Inspected: {Name: "inspected", Places: []Place{Inspect}, Field: "In the field: a call that hangs stops here, up to {timeout}, and all pods after it wait. After a failed one the next relist finds the same change."},
	Cached: {Name: "cached", Places: []Place{Cache}, Field: "In the field: a failed inspection puts its error in the place of a status. While relists hang nothing here gets newer, " +
		"and whoever waits for it waits."},
	Sent: {Name: "sent", Places: []Place{Channel}, Field: "In the field: while the node is unhealthy nobody reads. What finds {capacity} events waiting is thrown away for good, so far {discarded}."},
	Woken: {Name: "woken", Places: []Place{Loop, Workers}, Field: "In the field: before each sync a worker waits for a status newer than its last. While a relist hangs all of them end up here: " +
		"no pod starts or stops."},
}

// A tale is what is told of a stage where it holds.
type tale struct {
	stage             int
	when              func(*teller) bool // nil for always
	title, says, then string             // with figures in braces: see [teller.words]
	at                func(*teller) (time.Time, string)
	field             string // instead of the stage's; empty for that
}

const (
	ended = "The kubelet does nothing as long as no relist sees it. If what has changed is still there at the next good list, an event of its own follows."
	takes = "The sync loop takes it and wakes the pod's worker.{worker}"
	syncs = "The worker syncs the pod: what should run is compared with what does."
)

// tales are all that is told. Of each stage the first one that holds is the one.
var tales = []tale{
	{
		stage: Seen, when: (*teller).unseen, at: (*teller).sighted, title: "this {thing} {did}",
		says:  "{The} of {pod}: the event source {source} saw it. No relist has.",
		field: "In the field: what lives shorter than a period is never seen. While the lists hang nothing is.",
	}, {
		stage: Seen, when: (*teller).derived, title: "this {thing} {did}",
		says:  "The runtime sets up the network of {pod} before it calls the sandbox ready. No event of a kubelet tells how that went.",
		field: "In the field: a network plugin that hangs keeps the sandbox from coming up at all. Then there is nothing to be listed.",
	}, {
		stage: Seen, when: of(pleg.PodSync), title: "this {thing} {did}",
		says: "Nothing happened to {pod}: its last inspection had failed, or somebody asked for one.",
	}, {
		stage: Seen, at: (*teller).happened, title: "this {thing} {did}",
		says: "{The} of {pod} went from {from} to {to}{time}{exit}. {told}",
	},

	{stage: Found, when: (*teller).unseen, title: "no record differs", says: ended, then: "{otherwise}"},
	{stage: Found, when: (*teller).derived, title: "this record differed", says: "The sandbox was new in the lists. Records are not compared by what comes of its network."},
	{
		stage: Found, when: (*teller).streamed, at: (*teller).released, title: "no record is compared",
		says:  "The relist, every {period}, is only the safety net. What that finds again it sends again, so far {repeated} times; plegtop lists it once.",
		field: "In the field: what a stream loses while it is broken is found by the next relist, which may be minutes later.",
	},
	{stage: Found, when: of(pleg.PodSync), at: (*teller).listed, title: "this record is the same", says: "{lists}No state in its record differs. It is inspected all the same."},
	{stage: Found, at: (*teller).listed, title: "this record differs", says: "{lists}Compared with those before, {name} was {from} and is {to}: the record differs."},

	{stage: Inspected, when: (*teller).unseen, title: "no inspection", says: ended},
	{stage: Inspected, when: (*teller).derived, at: (*teller).released, title: "this inspection", says: "The status of the sandbox has {address}: from that plegtop derives the event."},
	{
		stage: Inspected, when: (*teller).streamed, title: "no inspection",
		says:  "The event comes with the status of its whole pod, so no call is made.",
		field: "In the field: an event without the state of its sandbox is thrown away.",
	},
	{stage: Inspected, when: (*teller).left, title: "no inspection", says: "Nothing can be asked about a pod that is listed no more: its record and its entry in the cache are dropped without a call."},
	{stage: Inspected, at: (*teller).released, title: "this inspection", says: "Each changed pod is inspected: one status call per sandbox and container, {inspection}."},

	{stage: Cached, when: (*teller).unseen, title: "no cache entry", says: ended},
	{stage: Cached, when: (*teller).derived, title: "this cache entry", says: "The address is part of the status that the cache has. The kubelet reads it there."},
	{
		stage: Cached, when: (*teller).streamed, title: "this cache entry",
		says:  "The cache takes that status as of the event's own time; if it has a newer one, the event is dropped. Every 5 s its time moves on, so that no worker waits for ever.",
		then:  "The pod's record has not moved on: the next relist would send it again, which is counted and not shown.",
		field: "In the field: times of the runtime's clock decide which status is the newer one.",
	},
	{stage: Cached, title: "this cache entry", says: "Only now the record moves on: no relist reports this again. The cache has the pod's status as of the start of the {asof}.{entry}", then: "{atstart}"},

	{stage: Sent, when: (*teller).unseen, title: "no event", says: ended},
	{stage: Sent, when: (*teller).derived, title: "no event is sent", says: "{event} belongs to the proposal of PLEG, and no kubelet sends it: it takes no room in the channel."},
	{
		stage: Sent, when: ends(pleg.Filtered), title: "this event", says: "{kind} is made and never sent: neither created nor unknown is a state that the sync loop waits for.",
		then: "The next event tells when the container runs, ends, or has gone.",
	},
	{stage: Sent, when: ends(pleg.Discarded), title: "this event", says: "{kind} was thrown away: the channel was full. Its record has moved on, so that no relist sends it again."},
	{stage: Sent, when: of(pleg.PodSync), at: (*teller).released, title: "this event", says: "The inspection found no change, so {kind} is sent. The channel holds {capacity}; {waiting} are in it now."},
	{stage: Sent, at: (*teller).released, title: "this event", says: "{kind} is sent, without waiting for anybody. The channel holds {capacity}; {waiting} are in it now."},

	{stage: Woken, when: (*teller).unseen, title: "no worker", says: ended},
	{stage: Woken, when: (*teller).derived, title: "no worker is woken", says: "Nobody is told. The worker reads the address from the cache when something else wakes it."},
	{
		stage: Woken, when: ends(pleg.Discarded), title: "this worker", says: "Nobody is woken: it was not sent.",
		then: "The sync loop never hears of it. The pod is synced with its next event, or with the kubelet's own resync, within about a minute.",
	},
	{stage: Woken, when: ends(pleg.Filtered), title: "this worker", says: "Nobody is woken: it was not sent."},
	{stage: Woken, when: of(pleg.Removed), title: "this worker", says: "The sync loop takes it and ignores it: a removal asks for no sync. Most often the kubelet has removed it itself."},
	{stage: Woken, when: (*teller).spared, title: "this worker", says: "The worker had expected it of its own doing, and so was not woken.{worker}"},
	{
		stage: Woken, when: (*teller).sandboxDied, title: "this worker", says: takes,
		then: syncs + " If the pod is to go on, it makes a new sandbox and starts all containers in it.",
	}, {
		stage: Woken, when: of(pleg.Died), title: "this worker", says: takes,
		then: syncs + " By the restart policy it starts the container again, after a back-off if that has happened before. It also deletes exited containers of the pod that are surplus.",
	},
	{stage: Woken, title: "this worker", says: takes, then: syncs},
}

func of(k pleg.Kind) func(*teller) bool { return func(t *teller) bool { return t.row.Kind == k } }

func ends(d pleg.Delivery) func(*teller) bool {
	return func(t *teller) bool { return t.row.Delivery == d }
}

func (t *teller) unseen() bool      { return t.row.Delivery == pleg.Unseen }
func (t *teller) derived() bool     { return t.row.Delivery == pleg.Derived }
func (t *teller) streamed() bool    { return !t.row.ByRelist() }
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
	if seen := t.row.Seen; seen != nil && !seen.At[ledger.FromRelist].IsZero() {
		return seen.At[ledger.FromRelist], ""
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
