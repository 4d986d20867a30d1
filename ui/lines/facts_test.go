package lines

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/jsonline"
)

// All but what a kubelet says of its PLEG is said as what one that started now would say;
// the Ready condition itself is never called known.
// That a node is ready is never its kubelet's word: what it posts goes by a clock of 30 s
// that no metric has, and may have a reason of its own. That its PLEG is not healthy is.
func TestWhatTheKubeletSees(t *testing.T) {
	silent := evidence.Answer{Asked: true, TimedOut: true, Took: 2 * time.Second, Err: "took the connection and gave no answer within 2s"}
	refused := evidence.Answer{Asked: true, Refused: true, Err: "not available: connection refused"}
	tests := []struct {
		name          string
		change        func(*engine.Snapshot, *evidence.Kubelet)
		basis         string
		node, kubelet string // parts of the rows
	}{
		{"well", func(*engine.Snapshot, *evidence.Kubelet) {}, "model", "a kubelet 1.36.2 started now would say Ready, as far as the runtime and PLEG go", "PLEG is healthy, its last relist began 960ms ago; one every 1.0s since it started; healthz ok"},
		{"the runtime hangs for us", func(s *engine.Snapshot, _ *evidence.Kubelet) {
			s.Node.Ready, s.Node.Reason, s.Node.Message = false, "KubeletNotReady", "container runtime status check may not have completed yet"
		}, "model", "a kubelet 1.36.2 started now would say NotReady", "PLEG is healthy"},
		{"its relist is not fresh", func(_ *engine.Snapshot, k *evidence.Kubelet) { k.LastSeen = k.ReadAt.Add(-time.Minute) }, "model", "a kubelet 1.36.2 started now would say Ready", "PLEG is healthy, its last relist began 1m"},
		{"its PLEG is not healthy", func(_ *engine.Snapshot, k *evidence.Kubelet) { k.LastSeen = k.ReadAt.Add(-4 * time.Minute) }, "kubelet", "NotReady by what its kubelet 1.36.2 says of its PLEG (KubeletNotReady: PLEG is not healthy: pleg was last seen active 4m0s ago; threshold is 3m0s), though plegtop's own lists are answered", "PLEG is not healthy: its last relist began 4m ago"},
		{"it goes by events, and relists every 5 min", func(_ *engine.Snapshot, k *evidence.Kubelet) {
			k.LastSeen, k.Interval.Mean = k.ReadAt.Add(-4*time.Minute), 5*time.Minute
		}, "model", "a kubelet 1.36.2 started now would say Ready", "its last relist began 4m ago; one every 5m since it started"},
		{"its events' health check says when it was seen", func(_ *engine.Snapshot, k *evidence.Kubelet) { k.Version, k.Streams = "v1.36.2", 1 },
			"model", "a kubelet 1.36.2 started now would say Ready", "EventedPLEG is on, in its alpha form: the runtime's events write its cache, and it relists every 5m"},
		{"it has given its events up", func(_ *engine.Snapshot, k *evidence.Kubelet) { k.Version, k.StreamErrors = "v1.36.2", 5 },
			"model", "a kubelet 1.36.2 started now would say Ready", "EventedPLEG is on, in its alpha form, and has given the runtime's event stream up"},
		{"its sync loop stands", func(_ *engine.Snapshot, k *evidence.Kubelet) {
			k.SyncLoop = evidence.Answer{Asked: true, Text: "sync Loop took longer than expected", Err: "not available: it answers 500"}
		}, "model", "started now", "sync loop fails: sync Loop took longer than expected"},
		{"its healthz fails", func(_ *engine.Snapshot, k *evidence.Kubelet) {
			k.Health = evidence.Answer{Asked: true, Text: "no", Err: "not available: it answers 500"}
		}, "model", "started now", "healthz fails: no"},
		{"it answers nothing", func(_ *engine.Snapshot, k *evidence.Kubelet) {
			*k = evidence.Kubelet{Ping: silent, Health: silent, SyncLoop: silent, Metrics: silent}
		}, "model", "started now", "metrics no answer in 2.0s; healthz no answer in 2.0s; sync loop no answer in 2.0s; ping no answer in 2.0s"},
		{"nobody is there", func(_ *engine.Snapshot, k *evidence.Kubelet) {
			*k = evidence.Kubelet{Ping: refused, Health: refused, SyncLoop: refused, Metrics: refused}
		}, "model", "started now", "nobody listens at its ports"},
		{"only the ping can be asked", func(_ *engine.Snapshot, k *evidence.Kubelet) {
			*k = evidence.Kubelet{Ping: k.Ping, Health: refused, SyncLoop: refused, Metrics: refused}
		}, "model", "started now", "metrics not available: connection refused; ping ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := healthyCheck().Snapshot
			tt.change(s, &s.Evidence.Kubelet)
			if got := newReadyObject(s); got.Known || got.Basis != tt.basis {
				t.Errorf("nodeReady = %+v, want the basis %q, and never known", got, tt.basis)
			}
			if got := ready(s, "", "1.36.2", func(string) bool { return false }); !strings.Contains(got, tt.node) {
				t.Errorf("node %q, want %q", got, tt.node)
			}
			if got := kubeletSays(s.Evidence); !strings.Contains(got, tt.kubelet) {
				t.Errorf("kubelet %q, want %q", got, tt.kubelet)
			}
		})
	}
}

// The clock of a headline has a range only where the moment is not known, and is no
// part of what makes a headline another one.
func TestClockOfTheHeadline(t *testing.T) {
	h := diagnose.Headline{Clock: diagnose.Clock{What: "NotReady", In: time.Second, To: 11 * time.Second}}
	if got := string(jsonline.Append(nil, &h)); !strings.HasSuffix(got, `"clock":{"what":"NotReady","inSeconds":1,"toSeconds":11}}`+"\n") {
		t.Errorf("a range: %s", got)
	}
	if got := withoutFigures(h).Clock; got != (diagnose.Clock{What: "NotReady"}) {
		t.Errorf("without figures: %+v", got)
	}
	h.Clock.To = 0
	if got := string(jsonline.Append(nil, &h)); !strings.HasSuffix(got, `"inSeconds":1}}`+"\n") {
		t.Errorf("a moment: %s", got)
	}
}
