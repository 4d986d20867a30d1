package sim

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Hang holds all calls that m matches.
func (s *Server) Hang(m Match) (release func()) { return s.AddRule(Rule{Match: m, Hangs: true}) }

// Fail lets the next calls that m matches fail, as many as times says; 0: all from now on.
func (s *Server) Fail(m Match, code codes.Code, text string, times int) (undo func()) {
	r := failing(m, code, text)
	r.Left = times
	return s.AddRule(r)
}

// Delay lets all calls that m matches take d longer.
func (s *Server) Delay(m Match, d time.Duration) (undo func()) {
	return s.AddRule(Rule{Match: m, Delay: d})
}

// Rewrite lets change have every answer that m matches.
func (s *Server) Rewrite(m Match, change func(answer proto.Message)) (undo func()) {
	return s.AddRule(Rule{Match: m, Change: change})
}

// setFault does as SetFault, but the socket and the node's files have followed when it
// returns. It fails for a name that is not among Faults.
func (s *Server) setFault(name string, on bool) error {
	var err error
	s.edit(func() { err = s.scene.set(name, on) })
	return err
}

func TestEveryFaultCanBeSwitchedLiveOnEveryScenario(t *testing.T) {
	for _, sc := range playable() {
		if sc.name == "big" && testing.Short() {
			continue
		}
		sn, _ := watch(t, sc.name, 1)
		rest := 10 * time.Second
		if sc.name == "empty" {
			rest = 40 * time.Second // for what a fault leaves to go as well
		}
		for _, f := range scenarios() {
			if f.fault == nil {
				continue
			}
			if err := sn.set(f.name, true); err != nil {
				t.Fatal(err)
			}
			sn.advance(sn.now.Add(4 * time.Second))
			if err := sn.set(f.name, false); err != nil {
				t.Fatal(err)
			}
			sn.advance(sn.now.Add(rest))
		}
		if sc.name == "empty" && (len(sn.pods) != 0 || len(sn.rules) != 0 || sn.away || sn.networkBad || sn.runtimeBad) {
			t.Errorf("after all faults: %d pods, %d rules, away %v, network bad %v, runtime bad %v; want nothing left",
				len(sn.pods), len(sn.rules), sn.away, sn.networkBad, sn.runtimeBad)
		}
	}
}

func TestFaultsAreListedWithTheirState(t *testing.T) {
	s, _ := start(t, "empty")
	if err := s.setFault("slow", true); err != nil {
		t.Fatal(err)
	}
	if err := s.setFault("nonsense", true); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("unknown fault: %v", err)
	}
	var names []string
	for _, f := range s.Faults() {
		names = append(names, f.Name)
		if f.On != (f.Name == "slow") || f.Summary == "" {
			t.Errorf("fault %+v, want only slow to be on", f)
		}
	}
	want := []string{
		"crashloop", "slow", "hung-inspect", "hung-list", "runtime-down", "failing-store", "overflow", "inspect-failing", "status-lock", "hung-update", "deadlock",
		"churn-storm", "runtime-not-ready", "network-not-ready", "no-address", "ghost", "event-drift", "events-late",
	}
	if !slices.Equal(names, want) {
		t.Errorf("faults %v, want %v", names, want)
	}
	if _, err := Start(t.Context(), Config{Scenario: "runtime-down"}); err == nil {
		t.Error("what is only a fault can be chosen as a scenario")
	}
}

func TestHungInspect(t *testing.T) {
	s, c := start(t, "quiet")
	if err := s.setFault("hung-inspect", true); err != nil {
		t.Fatal(err)
	}
	// Of all containers only those of one name in one pod hang.
	var hangs []*cri.Container
	for _, one := range containersOf(t, c, nil) {
		s.mu.Lock()
		v := s.scene.decide(s.scene.describe("ContainerStatus", &cri.ContainerStatusRequest{ContainerId: one.Id}))
		s.mu.Unlock()
		if len(v.holds) > 0 {
			hangs = append(hangs, one)
		}
	}
	if len(hangs) != 1 {
		t.Fatalf("the status of %d containers hangs, want 1", len(hangs))
	}
	// And its pod has changed, so that a relist will ask.
	changed := false
	for _, one := range containersOf(t, c, &cri.ContainerFilter{PodSandboxId: hangs[0].PodSandboxId}) {
		changed = changed || one.State == cri.ContainerState_CONTAINER_EXITED
	}
	if !changed {
		t.Error("nothing changed in the pod of the container that hangs")
	}
	done := make(chan error, 1)
	go func() {
		_, err := statusOf(t.Context(), c, hangs[0].Id)
		done <- err
	}()
	if err := s.AwaitHeld(t.Context(), Match{ID: hangs[0].Id}, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.setFault("hung-inspect", false); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("call after the fault: %v", err)
	}
}

func TestRuntimeDownAndBack(t *testing.T) {
	s, c := start(t, "quiet")
	version := func(opts ...grpc.CallOption) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := c.Version(ctx, &cri.VersionRequest{}, opts...)
		return err
	}
	for range 2 {
		if err := version(grpc.WaitForReady(true)); err != nil {
			t.Fatalf("up: %v", err)
		}
		if err := s.setFault("runtime-down", true); err != nil {
			t.Fatal(err)
		}
		if err := version(); status.Code(err) != codes.Unavailable {
			t.Fatalf("down: %v, want Unavailable", err)
		}
		if err := s.setFault("runtime-down", false); err != nil {
			t.Fatal(err)
		}
	}
	if err := version(grpc.WaitForReady(true)); err != nil {
		t.Errorf("back: %v", err)
	}
	if n := len(containersOf(t, c, nil)); n != 220 {
		t.Errorf("%d containers after the restart, want 220 as before", n)
	}
}
