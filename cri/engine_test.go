package cri

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A turnstile counts the calls that are out at once on their way to a runtime.
type turnstile struct {
	engine.Runtime
	mu        sync.Mutex
	out, most map[string]int
}

// pass counts one call in, and out when leave is called.
func (s *turnstile) pass(kind string) (leave func()) {
	add := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.out[kind] += n
		s.most[kind] = max(s.most[kind], s.out[kind])
	}
	add(1)
	return func() { add(-1) }
}

func (s *turnstile) Version(ctx context.Context) (pleg.Version, error) {
	defer s.pass("Version")()
	return s.Runtime.Version(ctx)
}

func (s *turnstile) Status(ctx context.Context) ([]pleg.Condition, error) {
	defer s.pass("Status")()
	return s.Runtime.Status(ctx)
}

func (s *turnstile) ListPodSandbox(ctx context.Context, uid pleg.UID) ([]*pleg.ListedSandbox, error) {
	defer s.pass("list")()
	return s.Runtime.ListPodSandbox(ctx, uid)
}

func (s *turnstile) ListContainers(ctx context.Context, uid pleg.UID) ([]*pleg.ListedContainer, error) {
	defer s.pass("list")()
	return s.Runtime.ListContainers(ctx, uid)
}

func (s *turnstile) PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, error) {
	defer s.pass("object")()
	return s.Runtime.PodSandboxStatus(ctx, id)
}

func (s *turnstile) ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, error) {
	defer s.pass("object")()
	return s.Runtime.ContainerStatus(ctx, id)
}

// While a list hangs and every object is asked for, one Version, one Status and one list are out at
// once, and status calls of four objects and that of the relist.
func TestCallsSideBySide(t *testing.T) {
	t.Parallel()
	server, err := sim.Start(t.Context(), sim.Config{Scenario: "quiet"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := &turnstile{Runtime: dialed(t, server.Endpoint()), out: map[string]int{}, most: map[string]int{}}
	e, err := engine.New(engine.Config{Runtime: s, Period: engine.MinPeriod})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	defer running.Wait()
	defer cancel()
	feed := e.Feed()
	until := func(what string, done func(*engine.Snapshot) bool) {
		t.Helper()
		for {
			u, err := feed.Next(within(t, testLimit))
			if err != nil {
				t.Fatalf("waiting for %s: %v", what, err)
			}
			if done(u.Snapshot) {
				return
			}
		}
	}
	until("the first relist", func(u *engine.Snapshot) bool { return u.Relists.Count > 0 && u.Version.RuntimeName != "" })
	for _, method := range []string{"PodSandboxStatus", "ContainerStatus"} {
		server.AddRule(sim.Rule{Match: sim.Match{Method: method}, Delay: 30 * time.Millisecond})
	}
	server.AddRule(sim.Rule{Match: sim.Match{Method: "ListContainers"}, Hangs: true})
	e.Sweep()
	until("the check of all objects", func(u *engine.Snapshot) bool {
		return u.Sweep != nil && !u.Sweep.Ended.IsZero() && u.Sweep.Done == 330
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.most["object"]; n < 4 || n > 4+1 || s.most["Version"] != 1 || s.most["Status"] != 1 || s.most["list"] != 1 {
		t.Errorf("out at once: %v", s.most)
	}
	for _, c := range server.Calls() {
		if c.Verbose || !slices.ContainsFunc(harmless, func(m string) bool { return strings.HasSuffix(m, "/"+c.Method) }) {
			t.Errorf("called %s, verbose: %t", c.Method, c.Verbose)
		}
	}
}

// The engine learns of a list over 16 MiB what the kubelet learns.
func TestEngineSeesListTooLarge(t *testing.T) {
	s := healthy()
	large := goodContainer()
	large.Annotations = map[string]string{"large": strings.Repeat("x", messageLimit)}
	s.answers[listContainers] = reply(&runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{large}})
	got, err := engine.Examine(within(t, testLimit), engine.Config{Runtime: start(t, s)}, engine.Examination{})
	if err != nil {
		t.Fatal(err)
	}
	if f := got.Failure; f == nil || f.Op != call.ListContainers || !errors.Is(f.Err, call.ErrTooLarge) {
		t.Errorf("failure = %+v", f)
	}
}
