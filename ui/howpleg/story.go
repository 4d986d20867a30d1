package howpleg

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/journal"
	"github.com/plegtop/plegtop/ui/look"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
)

// clock is how moments are written: as parts of a second tell of a relist.
const clock = "15:04:05.000"

// A story is the way of one event, put into words with its names and figures.
type story struct {
	v *pane.View
	r *journal.Row
}

func at(t time.Time) string { return t.Local().Format(clock) }

// byRelist is the way of an event that a relist has found.
func (s story) byRelist() []chapter {
	return []chapter{s.happened(), s.differs(), s.inspected(), s.cached(), s.sent(), s.worked()}
}

// happened tells of what the runtime knows, and when.
func (s story) happened() chapter {
	r := s.r
	says := fmt.Sprintf("%s of %s went from %s to %s", the(r), r.Pod, r.From, r.To)
	switch {
	case r.Kind == pleg.PodSync:
		says = fmt.Sprintf("Nothing happened to %s: its last inspection had failed, or somebody asked for one", r.Pod)
	case r.AtStart:
		says += ", before plegtop first looked"
	case r.HasLag:
		says += " at " + at(r.SeenAt.Add(-r.Lag)) + " by the runtime's clock"
	default:
		says += "; the runtime keeps no time of it"
	}
	if r.Exited {
		says += fmt.Sprintf(", exit code %d", r.ExitCode)
		if r.Reason != "" {
			says += ", " + r.Reason
		}
	}
	if first, when := r.Seen.First(); wayOf(r) == byStream {
		says += ". The runtime says so by itself, over its event stream"
	} else if first != ledger.FromRelist {
		says += fmt.Sprintf(". The source %s saw it at %s", first, at(when))
		if lead, ok := r.Seen.Lead(first); ok {
			says += ", " + text.Took(lead) + " before the relist"
		}
	} else if r.Kind != pleg.PodSync {
		says += ". Nobody tells the kubelet"
	}
	return chapter{
		title: "this " + thing(r) + " " + did(r), parts: []part{runtime}, says: says + ".",
		field: "In the field: a runtime that hangs as a whole answers nothing, and nothing moves from here on, though its containers run.",
	}
}

// the names what an event is about at the start of a sentence.
func the(r *journal.Row) string {
	switch {
	case r.ID == "":
		return "The pod"
	case r.Sandbox:
		return "The sandbox"
	}
	return "Container " + name(r)
}

// relist names the relist that found the event.
func (s story) relist() string {
	if of, known := s.v.Journal.Relist(s.r.At); known {
		return fmt.Sprintf("Relist %d began at %s, its lists took %s", of.Number, at(s.r.At), text.Took(of.List))
	}
	if useOf(s.v) == asks && s.r.Seen != nil && !s.r.Seen.At[ledger.FromCRI].IsZero() {
		return "The runtime's stream asked for a relist of this pod alone, which began at " + at(s.r.At)
	}
	return "The relist that found it began at " + at(s.r.At)
}

func (s story) differs() chapter {
	r := s.r
	says := fmt.Sprintf("%s. Compared with those before, %s was %s and is %s: the record differs.", s.relist(), name(r), r.From, r.To)
	if r.Kind == pleg.PodSync {
		says = s.relist() + ". No state in its record differs; it is inspected all the same."
	}
	return chapter{
		title: "this record differs", parts: []part{lists, records}, says: says,
		field: "In the field: a list that hangs stops everything, and after " + text.Took(s.v.Threshold) + " the node is NotReady. What begins and ends between two lists is never seen.",
	}
}

// asked counts what is asked for to inspect the pod; 0 if nothing is known of it any more.
func (s story) asked() int {
	p := s.pod()
	if p == nil || p.Seen() == nil {
		return 0
	}
	return len(p.Seen().Sandboxes) + len(p.Seen().Containers)
}

// pod returns the pod as it is now, or was last; nil if nothing is known of it.
func (s story) pod() *engine.Pod {
	if p := s.v.Pods.Find(s.r.Pod.UID); p != nil {
		return p.Pod
	}
	return s.v.Journal.Gone(s.r.Pod.UID)
}

func (s story) inspected() chapter {
	r, p := s.r, s.pod()
	c := chapter{
		title: "this inspection", parts: []part{inspection},
		field: "In the field: one that hangs stops here, up to " + text.Took(s.v.Timeout) + ", and all pods after it wait. After one that fails the next relist finds the same change.",
	}
	found := r.SeenAt
	if r.Seen != nil && !r.Seen.At[ledger.FromRelist].IsZero() {
		found = r.Seen.At[ledger.FromRelist]
	}
	took := text.Took(found.Sub(r.At)) + " from the start of the relist until it had succeeded"
	if p != nil && p.Inspected > 0 && found.Sub(p.InspectedAt).Abs() < 100*time.Millisecond {
		took = "it took " + text.Took(p.InspectLast) + ", " + took
	}
	if n := s.asked(); n > 0 {
		c.says = fmt.Sprintf("A pod that differs is inspected: a call for each of its sandboxes and containers, now %d, one by one; %s.", n, took)
	} else {
		c.says = fmt.Sprintf("A pod that differs is inspected: a call for each of its sandboxes and containers, one by one; %s.", took)
	}
	if r.To == pleg.Absent && s.v.Pods.Find(r.Pod.UID) == nil {
		c.says = "Of a pod that is listed no more nothing can be asked: its record and its entry in the cache are dropped without a call."
	}
	return c
}

func (s story) cached() chapter {
	r, p := s.r, s.pod()
	says := "Only now the record moves on: no relist reports this again. The cache has the pod's status as of "
	if s.v.Release < 36 {
		says += "the start of the inspection."
	} else {
		says += "the start of the lists, " + at(r.At) + "."
	}
	switch {
	case s.v.Pods.Find(r.Pod.UID) == nil:
		says += " By now the pod has gone, and its entry."
	case p != nil && p.StatusErr != nil:
		says += " By now it has an error in its place."
	case p != nil && p.StatusAt.After(r.At):
		says += " By now it has one of " + at(p.StatusAt) + "."
	}
	return chapter{
		title: "this cache entry", parts: []part{settle, cache}, says: says,
		field: "In the field: a failed inspection puts its error in the place of a status. While relists hang nothing here gets newer, and whoever waits for it waits.",
	}
}

func (s story) sent() chapter {
	r, c := s.r, &s.v.Channel
	out := chapter{
		title: "this event", parts: []part{channel},
		field: fmt.Sprintf("In the field: while the node is unhealthy nobody reads; what finds %d events waiting is thrown away for good, so far %s.", c.Capacity, text.Count(c.Discarded)),
	}
	switch r.Delivery {
	case pleg.Filtered:
		out.says = fmt.Sprintf("%s is made and never sent: neither created nor unknown is a state that the sync loop waits for.", r.Kind)
	case pleg.Discarded:
		out.says = fmt.Sprintf("%s was thrown away: the channel was full. Its record has moved on, so that no relist sends it again.", r.Kind)
	default:
		out.says = fmt.Sprintf("%s is sent at %s, without waiting for anybody. The channel holds %d; %d are in it now.", r.Kind, at(r.SeenAt), c.Capacity, c.Len)
	}
	return out
}

func (s story) worked() chapter {
	r, w := s.r, s.v.Workers.Of(s.r.Pod.UID)
	c := chapter{
		title: "this worker", parts: []part{loop, workers},
		field: "In the field: before each sync a worker waits for a status newer than its last. While a relist hangs all of them end up here: no pod starts or stops.",
	}
	woke, now := "The sync loop takes it and wakes the pod's worker", ""
	if w != nil {
		now = "Now: " + look.WorkerTells(&s.v.Workers, w, s.v.At) + "."
	}
	switch {
	case r.Delivery == pleg.Filtered, r.Delivery == pleg.Discarded:
		c.says = "Nobody is woken: it was not sent."
	case r.Kind == pleg.Removed:
		c.says = "The sync loop takes it and ignores it: a removal wakes nobody. Most often the kubelet has removed it itself."
	case w == nil:
		c.says = woke + ", which syncs the pod: what should run is compared with what does."
	case w.Spared && sameEvent(&w.Last, r):
		c.says = "The worker had expected it of its own doing, and so was not woken. " + now
	default:
		c.says = woke + ". " + now
	}
	return c
}

func sameEvent(a *pleg.Event, r *journal.Row) bool {
	return a.ID == r.ID && a.Kind == r.Kind && a.At.Equal(r.At)
}

// byStream is the way of an event that the runtime's stream wrote.
func (s story) byStream() []chapter {
	return []chapter{s.happened(), {
		title: "no record is compared", parts: []part{runtime, sources},
		says: fmt.Sprintf("It came at %s. The relist, every %s, is only the safety net. What that finds again it sends again, so far %s times; plegtop lists it once.",
			at(s.r.SeenAt), span(s.v.Period), text.Count(s.v.Mode.Repeated)),
		field: "In the field: what a stream loses while it is broken is found by the next relist, which may be minutes later.",
	}, {
		title: "no inspection", parts: []part{sources},
		says:  "The event comes with the status of its whole pod, so no call is made.",
		field: "In the field: an event without the state of its sandbox is thrown away.",
	}, {
		title: "this cache entry", parts: []part{cache},
		says:  "The cache takes that status as of the event's own time; if it has a newer one, the event is dropped. Every 5 s its time moves on, so that no worker waits for ever.",
		field: "In the field: times of the runtime's clock decide which status is the newer one.",
	}, s.sent(), s.worked()}
}

// unseen is the way of an event that no relist has seen: it ends where it began.
func (s story) unseen() []chapter {
	r := s.r
	first, when := r.Seen.First()
	happened := chapter{
		title: "this " + thing(r) + " " + did(r), parts: []part{runtime, sources},
		says:  fmt.Sprintf("%s of %s: the event source %s saw it at %s. No relist has.", the(r), r.Pod, first, at(when)),
		field: "In the field: what lives shorter than a period is never seen; and while the lists hang nothing is.",
	}
	nothing := func(title string, p part) chapter {
		return chapter{title: title, parts: []part{p}, says: "The way has ended before: the kubelet does not know of it. If it is still so at the next good list, an event of its own follows."}
	}
	return []chapter{
		happened, nothing("no record differs", records), nothing("no inspection", inspection), nothing("no cache entry", cache),
		nothing("no event", channel), nothing("no worker", workers),
	}
}

// derived is the way of an event that no kubelet makes.
func (s story) derived() []chapter {
	r := s.r
	address := "no address"
	if p := s.pod(); p != nil && p.Status != nil {
		if i := slices.IndexFunc(p.Status.Sandboxes, func(b pleg.SandboxStatus) bool { return b.ID == r.ID }); i >= 0 && len(p.Status.Sandboxes[i].IPs) > 0 {
			address = "the address " + p.Status.Sandboxes[i].IPs[0]
		}
	}
	return []chapter{{
		title: "this sandbox " + did(r), parts: []part{runtime},
		says:  "The runtime sets up the network of " + r.Pod.String() + " before it calls the sandbox ready. No event of a kubelet tells how that went.",
		field: "In the field: a network plugin that hangs keeps the sandbox from coming up at all; then there is nothing to be listed.",
	}, {
		title: "this record differed", parts: []part{lists, records}, says: "The sandbox was new in the lists. What comes of its network is nothing that records are compared by.",
	}, {
		title: "this inspection", parts: []part{inspection}, says: "The status of the sandbox has " + address + ": from that plegtop derives the event, at " + at(r.SeenAt) + ".",
	}, {
		title: "this cache entry", parts: []part{settle, cache}, says: "The address is part of the status that the cache has; the kubelet reads it there.",
	}, {
		title: "no event is sent", parts: []part{channel}, says: fmt.Sprintf("%s is of the proposal of PLEG, and no kubelet sends it: it takes no room in the channel.", event(r)),
	}, {
		title: "no worker is woken", parts: []part{loop, workers}, says: "Nobody is told. The worker reads the address from the cache when something else wakes it.",
	}}
}
