package sources

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// onePod is what the relist knows of one pod.
type onePod struct {
	pod    *pleg.Pod
	status *pleg.PodStatus
	gone   bool
}

func (o *onePod) Object(string) (ref pleg.ObjectRef, s pleg.State, known bool) { return ref, s, false }
func (o *onePod) Pod(pleg.UID) *pleg.Pod                                       { return o.pod }
func (o *onePod) Status(pleg.UID) (*pleg.PodStatus, bool)                      { return o.status, !o.gone }

// What is derived of the network of a new sandbox, once for each.
func TestNetworkEvents(t *testing.T) {
	ready := func(ips ...string) pleg.SandboxStatus {
		return pleg.SandboxStatus{ID: "new", State: pleg.Running, IPs: ips}
	}
	ended := pleg.SandboxStatus{ID: "new", State: pleg.Exited}
	host := pleg.SandboxStatus{ID: "new", State: pleg.Running, HostNetwork: true}
	withApp := &pleg.Pod{Containers: []pleg.Container{{ID: "app", SandboxID: "new"}}}
	otherApp := &pleg.Pod{Containers: []pleg.Container{{ID: "app", SandboxID: "old"}}}
	for _, tt := range []struct {
		name    string
		status  pleg.SandboxStatus
		pod     *pleg.Pod
		lists   time.Duration // from the start of the lists before to the end of those that had it
		started bool
		pause   time.Duration             // begins after 5 s
		later   func(o *onePod, f *Facts) // 5 s later
		want    string
	}{
		{name: "an address", status: ready("10.0.0.1"), want: "NetworkSetUp"},
		{name: "no address", status: ready(), want: "NetworkFailed after 30s"},
		{name: "no address yet", status: ready(), later: func(o *onePod, _ *Facts) {
			o.status = &pleg.PodStatus{Sandboxes: []pleg.SandboxStatus{ready("10.0.0.1")}}
		}, want: "NetworkSetUp after 5s"},
		{name: "no address, and paused", status: ready(), later: func(_ *onePod, f *Facts) { f.Paused = true }},
		{name: "no address, and paused for 5 s", status: ready(), pause: 5 * time.Second, want: "NetworkFailed after 35s"},
		{name: "on the node's network", status: host},
		{name: "ended", status: ended, want: "NetworkFailed"},
		{name: "ended, with containers in another sandbox", status: ended, pod: otherApp, want: "NetworkFailed"},
		{name: "ended, with containers", status: ended, pod: withApp},
		{name: "ended, and a source saw it start", status: ended, started: true},
		{name: "ended, and slowly listed", status: ended, lists: 10 * time.Second},
		{name: "not in the status", status: pleg.SandboxStatus{ID: "other"}},
		{name: "gone at once", status: ready(), later: func(o *onePod, _ *Facts) { o.gone = true }},
		{name: "not to be inspected for a while", status: ready(), later: func(o *onePod, _ *Facts) {
			if o.status != nil {
				o.status = nil
			}
		}},
	} {
		o := &onePod{pod: tt.pod, status: &pleg.PodStatus{Sandboxes: []pleg.SandboxStatus{tt.status}}}
		lists := max(tt.lists, time.Second)
		f := Facts{Records: o, Listed: noon, ListedBefore: noon.Add(-lists), ListsBack: noon}
		kind := pleg.Started
		if tt.status.State == pleg.Exited {
			kind = pleg.Died
		}
		e := pleg.Event{Kind: kind, ObjectRef: pleg.ObjectRef{ID: "new", Sandbox: true}, At: noon}
		var n Networks
		n.Released(noon, e, false, tt.started, f)
		n.Released(noon, e, true, false, f)                                                             // what the first relist finds
		n.Released(noon, pleg.Event{Kind: kind, ObjectRef: pleg.ObjectRef{ID: "app"}}, false, false, f) // a container
		n.Released(noon, pleg.Event{Kind: pleg.Died, ObjectRef: e.ObjectRef, From: pleg.Running}, false, false, f)
		got := ""
		for at := noon; at.Before(noon.Add(time.Minute)); at = at.Add(time.Second) {
			if at.Equal(noon.Add(5*time.Second)) && tt.later != nil {
				tt.later(o, &f)
			}
			if tt.pause > 0 {
				f.Paused = !at.Before(noon.Add(5*time.Second)) && at.Before(noon.Add(5*time.Second+tt.pause))
			}
			for _, e := range n.Advance(at, f) {
				if got != "" || e.Delivery != pleg.Derived || e.From != e.To || e.From != tt.status.State || !e.Sandbox || !e.At.Equal(noon) {
					t.Errorf("%s: %s, then %+v", tt.name, got, e)
				}
				if got = e.Kind.String(); at.After(noon) {
					got += " after " + at.Sub(noon).String()
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if waits := len(n.New) > 0; waits != (f.Paused || o.status == nil) {
			t.Errorf("%s: %d wait", tt.name, len(n.New))
		}
	}
}
