package diagnose

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// lose adds an update at a moment. In it the channel has discarded this many events, and as many events are reported as
// pods are named.
func (n *node) lose(at time.Duration, discarded uint64, pods ...int) *node {
	if n.past == nil {
		n.past = newWitness()
	}
	s := n.Snapshot
	s.At, s.Channel.Discarded = ago(at), discarded
	var events []engine.Event
	for _, i := range pods {
		ref := pleg.PodRef{UID: pleg.UID(fmt.Sprintf("uid-%d", i)), Namespace: "ns", Name: fmt.Sprintf("pod-%d", i)}
		events = append(events, engine.Event{Event: pleg.Event{Kind: pleg.Died, Delivery: pleg.Discarded, ObjectRef: pleg.ObjectRef{Pod: ref, Container: "app"}}})
	}
	n.past.Add(engine.Update{Snapshot: &s, Events: events})
	n.Channel.Discarded = discarded
	return n
}

func TestEventsDiscarded(t *testing.T) {
	tests := []struct {
		name string
		node *node
		want string // summary
	}{
		{"none", healthy(2).lose(time.Minute, 0).lose(0, 0), ""},
		{"all before we came", healthy(2).lose(time.Minute, 40).lose(0, 40), ""},
		{"one pass", checked(2), ""},
		{"some", healthy(2).lose(time.Minute, 0).lose(30*time.Second, 3, 1, 1, 2).lose(0, 3), "the kubelet likely lost 3 events of 2 pods, the last 30s ago: its event channel was full"},
		{"in two updates", healthy(2).lose(time.Minute, 0).lose(30*time.Second, 1, 1).lose(10*time.Second, 2, 2), "the kubelet likely lost 2 events of 2 pods, the last 10s ago: its event channel was full"},
		{"mostly of one owner", healthy(2).lose(time.Minute, 0).lose(30*time.Second, 4, 1, 2, 3, 4).lose(0, 4), "the kubelet likely lost 4 events of 4 pods (most of ns/pod), the last 30s ago: its event channel was full"},
		{"long over", healthy(2).lose(20*time.Minute, 0).lose(10*time.Minute, 3, 1, 1, 2).lose(0, 3), ""},
		{"counted again after a rest", healthy(2).lose(20*time.Minute, 0).lose(10*time.Minute, 3, 1, 1, 2).lose(0, 4, 3), "the kubelet likely lost 1 event of 1 pod, the last less than 1s ago: its event channel was full"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := find(&eventsDiscarded, tt.node.facts())
			switch {
			case len(got) == 0 && tt.want != "" || len(got) > 0 && tt.want == "":
				t.Errorf("found %+v, want %q", got, tt.want)
			case len(got) > 0 && (got[0].Summary != tt.want || got[0].Severity != Warning):
				t.Errorf("%s %q, want %q", got[0].Severity, got[0].Summary, tt.want)
			}
		})
	}
}

func TestEventsDiscardedNamesPods(t *testing.T) {
	n := healthy(1).lose(time.Minute, 0).lose(30*time.Second, 3, 7, 7, 8)
	n.Channel.Len, n.Channel.Capacity = 1000, 1000
	got := find(&eventsDiscarded, n.facts())[0]
	for _, want := range []string{"ns/pod-7 lost 2 ContainerDied (app)", "ns/pod-8 lost 1 ContainerDied (app)"} {
		if !slices.Contains(got.Evidence, want) {
			t.Errorf("evidence %q lacks %q", got.Evidence, want)
		}
	}
	if one := find(&eventsDiscarded, healthy(1).lose(time.Minute, 0).lose(0, 1, 7).facts())[0]; one.Subject.Pod.Name != "pod-7" {
		t.Errorf("subject of one pod's loss: %+v", one.Subject)
	}
}

func TestEventsDiscardedHasCause(t *testing.T) {
	n := healthy(1).lose(time.Minute, 0).lose(0, 1, 7)
	n.Health.Healthy = false
	if got := gist(n.diagnose()); got != "critical pleg-unhealthy\nwarning events-discarded ns/pod-7 < pleg-unhealthy\n" {
		t.Errorf("while PLEG is unhealthy:\n%s", got)
	}
	n.Health.Healthy, n.Conditions = true, []pleg.Condition{{Type: "RuntimeReady"}, {Type: "NetworkReady", Status: true}}
	if got := gist(n.diagnose()); got != "critical runtime-not-ready Status\nwarning events-discarded ns/pod-7 < runtime-not-ready\n" {
		t.Errorf("while the runtime is not ready:\n%s", got)
	}
}

func TestLossesAreBounded(t *testing.T) {
	const most = 500
	n := healthy(1).lose(time.Minute, 0)
	many := make([]int, 3*most)
	for i := range many {
		many[i] = i
	}
	n.lose(time.Second, uint64(len(many)), many...)
	if got := len(n.facts().Memory.Losses.Pods); got != most {
		t.Errorf("remembers %d pods, want %d", got, most)
	}
	got := find(&eventsDiscarded, n.facts())[0].Evidence
	if len(got) > losersMost+5 || !slices.Contains(got, "1,000 events of pods not named here") {
		t.Errorf("evidence %q", got)
	}
}
