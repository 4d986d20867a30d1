package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// EventsDiscarded is a channel of the kubelet's that had no room for events.
const EventsDiscarded ID = "events-discarded"

var eventsDiscardedKind = &kind{
	id: EventsDiscarded, find: eventsDiscarded,
	because: unready | unhealthy,
	pod:     "events lost",
	words:   []nodeWord{(*view).kernelSaid, (*view).allUnits}, killed: eitherKilled,
	severity: "warning", scenario: "`overflow`",
	when: "the kubelet's event channel overflowed in the last 5 minutes; whose events were lost",
}

const (
	// discardedShown is how long after the last discarded event there is still
	// something to tell. The kubelet looks at each pod again within about a minute
	// whatever became of its events; five leave people time to see it.
	discardedShown = 5 * time.Minute
	// losersMost is how many pods are remembered by name, and losersTold how many
	// of them are told.
	losersMost = 500
	losersTold = 10
)

// eventsDiscarded tells of events that the kubelet's channel had no room for,
// which is so while its reader, the sync loop, stands still. It
// needs a history: what a first relist makes of a node that has long been up is
// no loss to anybody.
func eventsDiscarded(v *view) []Finding {
	l := &v.past.losses
	at := v.At
	if l.total == 0 || at.Sub(l.last) > discardedShown {
		return nil
	}
	f := Finding{
		ID: EventsDiscarded, Severity: Warning,
		Summary: fmt.Sprintf("%s of %s found no room in the kubelet's channel, the last %s ago", count(l.total, "event"), count(len(l.pods), "pod"), going(max(at.Sub(l.last), 0))),
	}
	l.tell(&f, v)
	if len(l.pods) == 1 && l.unnamed() == 0 {
		for ref := range l.pods {
			f.Subject.Pod = ref
		}
	}
	f.Next = []Step{
		{Text: "which of these pods are not in the state that the kubelet reports", Command: v.crictl("pods")},
		{Text: "how many the kubelet itself has counted: kubelet_pleg_discard_events on its /metrics"},
	}
	return []Finding{f}
}

// losses is what is known of discarded events since they began to be discarded.
type losses struct {
	begun bool
	count uint64 // of the channel, in the last snapshot

	total       uint64 // discarded since first
	first, last time.Time
	pods        map[pleg.PodRef]*loss
}

// A loss is what one pod lost.
type loss struct {
	total uint64
	kinds map[pleg.Kind]uint64
	ids   []string // the first few containers
}

// lossIDs is how many containers of a pod are told.
const lossIDs = 3

func (l *losses) add(u engine.Update) {
	s := u.Snapshot
	if !l.begun || s.Channel.Discarded < l.count { // the second: another engine
		*l = losses{begun: s.Relists.Count > 0, count: s.Channel.Discarded}
		return
	}
	grown := s.Channel.Discarded - l.count
	l.count = s.Channel.Discarded
	if grown == 0 {
		return
	}
	if l.total == 0 || s.At.Sub(l.last) > discardedShown {
		l.total, l.first, l.pods = 0, s.At, make(map[pleg.PodRef]*loss)
	}
	l.total += grown
	l.last = s.At
	for _, e := range u.Events {
		if e.Delivery == pleg.Discarded {
			l.lose(e)
		}
	}
}

func (l *losses) lose(e engine.Event) {
	pod := l.pods[e.Pod]
	if pod == nil {
		if len(l.pods) >= losersMost {
			return
		}
		pod = &loss{kinds: make(map[pleg.Kind]uint64)}
		l.pods[e.Pod] = pod
	}
	pod.total++
	pod.kinds[e.Kind]++
	if name := cmp.Or(e.Container, e.ID); len(pod.ids) < lossIDs && !slices.Contains(pod.ids, name) {
		pod.ids = append(pod.ids, name)
	}
}

// unnamed returns how many discarded events nobody knows the pod of, since the
// reader of the events was too slow for them or too many pods lost some.
func (l *losses) unnamed() uint64 {
	named := uint64(0)
	for _, pod := range l.pods {
		named += pod.total
	}
	return l.total - min(named, l.total)
}

// tell adds who lost events, those that lost most first.
func (l *losses) tell(f *Finding, v *view) {
	c := v.Channel
	f.say(fmt.Sprintf("%d of %d places in the channel are taken; first event lost at %s, the last at %s", c.Len, c.Capacity, v.clock(l.first), v.clock(l.last)))
	refs := slices.SortedFunc(maps.Keys(l.pods), func(a, b pleg.PodRef) int {
		return cmp.Or(cmp.Compare(l.pods[b].total, l.pods[a].total), cmp.Compare(a.String(), b.String()), cmp.Compare(a.UID, b.UID))
	})
	sayFirst(f, refs, losersTold, "pod", func(ref pleg.PodRef) string { return ref.String() + " lost " + l.pods[ref].String() })
	if n := l.unnamed(); n > 0 {
		f.say(count(n, "event") + " of pods not named here")
	}
	if n := v.evidence.Kubelet.Discarded; n > 0 {
		f.say(fmt.Sprintf("the kubelet has counted %s lost since its start", count(n, "event")))
	}
}

// String returns which events, and of which containers.
func (l *loss) String() string {
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(l.kinds)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", l.kinds[k], k))
	}
	return join(kinds) + " (" + join(l.ids) + ")"
}

// eitherKilled reports whether the kernel has killed the channel's reader or the runtime.
func eitherKilled(f *Finding, l evidence.KernelLine) bool { return kubeletKilled(f, l) || ofRuntime(l) }
