package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// EventsDiscarded is a channel of the kubelet that had no room for events.
const EventsDiscarded ID = "events-discarded"

const (
	// losersNamed is how many pods one owner must have to be named as the owner of most.
	losersNamed = 3
	// losersMost is how many pods are named.
	losersMost = 10
)

// The kubelet's channel had no room for events. That happens while its reader, the sync loop, stands still.
var eventsDiscarded = Rule{
	ID: EventsDiscarded,
	Find: func(f *Facts, report func(Match)) {
		l := f.Memory.Losses
		if l == nil || f.at().Sub(l.Last) > past.LossShown {
			return
		}
		c := f.Channel
		m := Match{Severity: Warning, Lines: map[string][]line{}, Values: Values{
			"events": many{int(l.Total), "event"}, "pods": many{len(l.Pods), "pod"}, "age": age(max(f.at().Sub(l.Last), 0)),
			"taken": c.Len, "places": c.Capacity, "first": l.First, "last": l.Last,
		}}
		if who, n := mostOwned(maps.Keys(l.Pods)); n >= losersNamed && 2*n > len(l.Pods) {
			m.Values["owner"] = who
		}
		refs := slices.SortedFunc(maps.Keys(l.Pods), func(a, b pleg.PodRef) int {
			return cmp.Or(cmp.Compare(l.Pods[b].Total, l.Pods[a].Total), cmp.Compare(a.String(), b.String()), cmp.Compare(a.UID, b.UID))
		})
		if len(refs) == 1 && l.Unnamed() == 0 {
			m.Subject.Pod = refs[0]
		}
		for i, ref := range refs {
			if i == losersMost {
				m.Lines["pods"] = append(m.Lines["pods"], line{"and {more} more", Values{"more": many{len(refs) - i, "pod"}}})
				break
			}
			m.Lines["pods"] = append(m.Lines["pods"], lineOf("pod-lost", Values{"pod": ref.String(), "lost": lossText(l.Pods[ref])}))
		}
		if n := l.Unnamed(); n > 0 {
			m.Values["unnamed"] = many{int(n), "event"}
		}
		if n := f.Look.Kubelet.Discarded; n > 0 {
			m.Values["counted"] = many{int(n), "event"}
		}
		report(m)
	},
}

// lossText returns in words which events a pod lost, and of which containers.
func lossText(l past.Loss) string {
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(l.Kinds)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", l.Kinds[k], k))
	}
	return join(kinds) + " (" + join(l.IDs) + ")"
}
