package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// EventsDiscarded is a channel of the kubelet's that had no room for events.
const EventsDiscarded ID = "events-discarded"

var eventsDiscardedKind = &kind{
	id: EventsDiscarded, find: eventsDiscarded,
	because: unready | unhealthy,
	pod:     "lost events",
	words:   []nodeWord{(*view).kernelSaid, (*view).allUnits}, killed: eitherKilled,
	severity: "warning", scenario: "`overflow`",
	when: "the kubelet's event channel overflowed in the last 5 minutes; whose events were lost",
}

// losersNamed is from how many pods on the owner of most is named.
const losersNamed = 3

// losersTold is how many pods are told.
const losersTold = 10

// eventsDiscarded tells of events that the kubelet's channel had no room for,
// which is so while its reader, the sync loop, stands still.
func eventsDiscarded(v *view) []Finding {
	l := v.Memory.Losses
	if l == nil || v.At.Sub(l.Last) > past.LossShown {
		return nil
	}
	f := Finding{
		ID: EventsDiscarded, Severity: Warning,
		Summary: fmt.Sprintf("the kubelet likely lost %s of %s%s, the last %s ago: its event channel was full", count(l.Total, "event"), count(len(l.Pods), "pod"), mostLosers(l.Pods), going(max(v.At.Sub(l.Last), 0))),
	}
	f.sayLosses(l, v)
	if len(l.Pods) == 1 && l.Unnamed() == 0 {
		for ref := range l.Pods {
			f.Subject.Pod = ref
		}
	}
	f.Next = v.advise("events.lost", nil)
	return []Finding{f}
}

// mostLosers says in brackets whose most of several pods are; empty where they are nobody's.
func mostLosers(pods map[pleg.PodRef]past.Loss) string {
	if who, n := mostOwned(maps.Keys(pods)); n >= losersNamed && 2*n > len(pods) {
		return " (most of " + who + ")"
	}
	return ""
}

// sayLosses adds who lost events, those that lost most first.
func (f *Finding) sayLosses(l *past.Losses, v *view) {
	c := v.Channel
	f.say(fmt.Sprintf("%d of %d places in the channel are taken; first event lost at %s, the last at %s", c.Len, c.Capacity, v.clock(l.First), v.clock(l.Last)))
	refs := slices.SortedFunc(maps.Keys(l.Pods), func(a, b pleg.PodRef) int {
		return cmp.Or(cmp.Compare(l.Pods[b].Total, l.Pods[a].Total), cmp.Compare(a.String(), b.String()), cmp.Compare(a.UID, b.UID))
	})
	sayFirst(f, refs, losersTold, "pod", func(ref pleg.PodRef) string { return ref.String() + " lost " + lossText(l.Pods[ref]) })
	if n := l.Unnamed(); n > 0 {
		f.say(count(n, "event") + " of pods not named here")
	}
	if n := v.evidence.Kubelet.Discarded; n > 0 {
		f.say(fmt.Sprintf("the kubelet has counted %s lost since its start", count(n, "event")))
	}
	f.say("the kubelet looks at each pod again within 2 minutes, and then knows what it has missed")
}

// lossText says which events a pod lost, and of which containers.
func lossText(l past.Loss) string {
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(l.Kinds)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", l.Kinds[k], k))
	}
	return join(kinds) + " (" + join(l.IDs) + ")"
}

// eitherKilled reports whether the kernel has killed the channel's reader or the runtime.
func eitherKilled(v *view, f *Finding, l evidence.KernelLine) bool {
	return kubeletKilled(v, f, l) || v.ofRuntime(l)
}
