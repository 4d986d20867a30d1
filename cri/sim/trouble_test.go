package sim

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// begin is start with so much of the scenario over already.
func begin(t testing.TB, scenario string, ahead time.Duration) (*Server, cri.RuntimeServiceClient) {
	t.Helper()
	s, err := Start(t.Context(), Config{Scenario: scenario, Seed: 1, Clock: standstill, Ahead: ahead})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dial(t, s)
}

// victimOf returns the container that a scenario's fault is about.
func victimOf(s *Server) *container {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scene.victim()
}

func TestAheadIsAsIfTheServerHadRun(t *testing.T) {
	sn, _ := watch(t, "tour", 7)
	sn.advance(epoch.Add(20 * time.Second))
	s, err := Start(t.Context(), Config{
		Scenario: "tour", Seed: 7, Start: epoch.Add(20 * time.Second), Ahead: 20 * time.Second, Clock: standstill,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(everything(sn.world), everything(s.scene.world)) {
		t.Error("the world is another one than after 20 s")
	}
}

// answers says which calls are answered, and with which code if they fail.
// Those that are not are given up, all at once, when all others have returned.
func answers(t *testing.T, s *Server, held int, calls map[string]func(context.Context) error) map[string]codes.Code {
	t.Helper()
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	type end struct {
		name string
		err  error
	}
	ended := make(chan end, len(calls))
	for name, call := range calls {
		go func() { ended <- end{name, call(ctx)} }()
	}
	got := map[string]codes.Code{}
	for range len(calls) - held {
		e := <-ended
		got[e.name] = status.Code(e.err)
	}
	if err := s.AwaitHeld(t.Context(), Match{}, held); err != nil {
		t.Fatal(err)
	}
	giveUp()
	for range held {
		<-ended
	}
	return got
}

func basicCalls(c cri.RuntimeServiceClient) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Version": func(ctx context.Context) error { _, err := c.Version(ctx, &cri.VersionRequest{}); return err },
		"Status":  func(ctx context.Context) error { _, err := c.Status(ctx, &cri.StatusRequest{}); return err },
		"ListPodSandbox": func(ctx context.Context) error {
			_, err := c.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{})
			return err
		},
		"ListContainers": func(ctx context.Context) error {
			_, err := c.ListContainers(ctx, &cri.ListContainersRequest{})
			return err
		},
	}
}

func containerStatus(c cri.RuntimeServiceClient, id string) func(context.Context) error {
	return func(ctx context.Context) error { _, err := statusOf(ctx, c, id); return err }
}

func sandboxStatus(c cri.RuntimeServiceClient, id string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := c.PodSandboxStatus(ctx, &cri.PodSandboxStatusRequest{PodSandboxId: id})
		return err
	}
}

func TestStatusLockHoldsOneStatusAndBothLists(t *testing.T) {
	s, c := begin(t, "status-lock", 6*time.Second)
	victim := victimOf(s)
	calls := basicCalls(c)
	calls["filtered list"] = func(ctx context.Context) error {
		_, err := c.ListContainers(ctx, &cri.ListContainersRequest{
			Filter: &cri.ContainerFilter{LabelSelector: map[string]string{labelPodUID: victim.pod.uid}},
		})
		return err
	}
	calls["victim"], calls["sandbox"] = containerStatus(c, victim.status.Id), sandboxStatus(c, victim.sandbox.status.Id)
	s.mu.Lock()
	others := slices.Clone(s.scene.containers)
	s.mu.Unlock()
	for _, one := range others {
		if one != victim {
			calls[one.status.Id] = containerStatus(c, one.status.Id)
		}
	}
	got := answers(t, s, 4, calls)
	for name := range calls {
		code, answered := got[name]
		hangs := slices.Contains([]string{"victim", "ListPodSandbox", "ListContainers", "filtered list"}, name)
		if hangs == answered || code != codes.OK {
			t.Errorf("%s: answered %v with %v, want it to hang: %v", name, answered, code, hangs)
		}
	}
}

func TestDeadlockSparesVersion(t *testing.T) {
	s, c := begin(t, "deadlock", 6*time.Second)
	calls := basicCalls(c)
	victim := victimOf(s)
	calls["container"], calls["sandbox"] = containerStatus(c, victim.status.Id), sandboxStatus(c, victim.sandbox.status.Id)
	got := answers(t, s, len(calls)-1, calls)
	if code, ok := got["Version"]; len(got) != 1 || !ok || code != codes.OK {
		t.Errorf("answered: %v, want only Version", got)
	}
}

func TestInspectFailing(t *testing.T) {
	s, c := start(t, "inspect-failing")
	victim := victimOf(s)
	for range 3 {
		_, err := statusOf(t.Context(), c, victim.status.Id)
		if status.Code(err) != codes.Unknown || !strings.Contains(err.Error(), victim.status.Id) {
			t.Errorf("status of the container: %v, want code Unknown and its id", err)
		}
	}
	if err := sandboxStatus(c, victim.sandbox.status.Id)(t.Context()); err != nil {
		t.Errorf("its sandbox: %v", err)
	}
	listed, failed := false, 0
	for _, one := range containersOf(t, c, nil) {
		listed = listed || one.Id == victim.status.Id
		if _, err := statusOf(t.Context(), c, one.Id); err != nil {
			failed++
		}
	}
	if !listed || failed != 1 {
		t.Errorf("listed %v, and the status of %d containers fails; want true and 1", listed, failed)
	}
}

func TestListTooBig(t *testing.T) {
	const limit = 16 << 20
	s, c := start(t, "list-too-big")
	list, err := c.ListContainers(t.Context(), &cri.ListContainersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if share := float64(proto.Size(list)) / limit; share < 0.82 || share > 0.88 {
		t.Errorf("the list begins at %.3f of the limit, want 0.85", share)
	}
	for _, tt := range []struct {
		passed time.Duration
		want   codes.Code
	}{{25 * time.Second, codes.OK}, {35 * time.Second, codes.ResourceExhausted}, {time.Hour, codes.ResourceExhausted}} {
		s.clock.Store(&clock{shows: s.began.Add(tt.passed), at: time.Now(), speed: standstill})
		s.step(func() {})
		_, err := c.ListContainers(t.Context(), &cri.ListContainersRequest{})
		if status.Code(err) != tt.want {
			t.Errorf("after %v: %v, want %v", tt.passed, err, tt.want)
		}
		if _, err := c.ListPodSandbox(t.Context(), &cri.ListPodSandboxRequest{}); err != nil {
			t.Errorf("after %v: list of sandboxes: %v", tt.passed, err)
		}
	}
}

func TestNotReadyScenarios(t *testing.T) {
	for scenario, want := range map[string]*cri.RuntimeCondition{
		"overflow": {Type: "RuntimeReady", Reason: "ContainerdNotReady", Message: "containerd is not done with loading its plugins"},
		"network-not-ready": {
			Type: "NetworkReady", Reason: "NetworkPluginNotReady", Message: "Network plugin returns error: cni plugin not initialized",
		},
	} {
		_, c := begin(t, scenario, 5*time.Second)
		got, err := c.Status(t.Context(), &cri.StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, cond := range got.Status.Conditions {
			if cond.Type == want.Type && !proto.Equal(cond, want) || cond.Type != want.Type && !cond.Status {
				t.Errorf("%s: condition %v, want only %v to be false", scenario, cond, want)
			}
		}
	}
}

// TestNoAddress holds that sandboxes which come while the fault is on have no address, and
// those before and after it have one.
func TestNoAddress(t *testing.T) {
	sn := newScene(scenario{pods: func(*scene) {}}, 1, time.Now(), nil)
	address := func() bool {
		return sn.newSandbox(sn.newPod(podSpec{name: "web"}), 0, sn.clock).status.Network.Ip != ""
	}
	before := address()
	off := sets(func(sn *scene) *bool { return &sn.unplugged })(sn)
	during := address()
	if off(); !before || during || !address() {
		t.Errorf("an address before %t, during %t", before, during)
	}
}
