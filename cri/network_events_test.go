package cri

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// TestNetworkEventsOfARuntime holds what is derived of the networks of a runtime's sandboxes:
// each that starts on a network of its own has been set up once, one that has no address or is
// never ready has failed, and nothing is told of those that were there.
func TestNetworkEventsOfARuntime(t *testing.T) {
	t.Parallel()
	server, err := sim.Start(t.Context(), sim.Config{Scenario: "tour", Seed: 1, Clock: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	eng, err := engine.New(engine.Config{Runtime: dialed(t, server.Endpoint()), Clock: server})
	if err != nil {
		t.Fatal(err)
	}
	bare := func(answer proto.Message) {
		answer.(*runtimev1.PodSandboxStatusResponse).Status.Network = nil
	}
	down := func(answer proto.Message) {
		bare(answer)
		answer.(*runtimev1.PodSandboxStatusResponse).Status.State = runtimev1.PodSandboxState_SANDBOX_NOTREADY
	}
	server.AddRule(sim.Rule{Match: sim.Match{Method: "PodSandboxStatus", Pod: "test/bare"}, Change: bare})
	server.AddRule(sim.Rule{Match: sim.Match{Method: "PodSandboxStatus", Pod: "test/down"}, Change: down})
	feed := eng.Feed()
	go func() { _ = eng.Run(t.Context()) }()

	started, derived := map[string]bool{}, map[string]pleg.Kind{}
	begun, failed := time.Time{}, 0
	for failed < 2 || len(derived) < 8 {
		u, err := feed.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if begun.IsZero() && !u.Snapshot.Health.ListedAt.IsZero() {
			begun = u.Snapshot.At
			server.AddPod(sim.PodSpec{Namespace: "test", Name: "bare"})
			server.AddPod(sim.PodSpec{Namespace: "test", Name: "down"})
		}
		for _, e := range u.Events {
			switch {
			case e.Sandbox && e.Kind == pleg.Started && !e.AtStart:
				started[e.ID] = true
			case e.Delivery != pleg.Derived:
				continue
			case derived[e.ID] != 0:
				t.Errorf("%v: %v after %v", e.Pod, e.Kind, derived[e.ID])
			case !started[e.ID]:
				t.Errorf("%v: %v of a sandbox that was there", e.Pod, e.Kind)
			case (e.Kind == pleg.NetworkFailed) != (e.Pod.Namespace == "test"):
				t.Errorf("%v: %v", e.Pod, e.Kind)
			}
			if e.Delivery == pleg.Derived {
				derived[e.ID] = e.Kind
				if e.Kind == pleg.NetworkFailed {
					failed++
				}
			}
		}
		if !begun.IsZero() && u.Snapshot.At.Sub(begun) > time.Hour {
			t.Fatalf("after an hour %d networks have failed, and of %d is something known", failed, len(derived))
		}
	}
}
