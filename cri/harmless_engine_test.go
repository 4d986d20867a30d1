package cri

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// How long the status of an object takes, so that what may be out side by side is.
const (
	inSweep = 30 * time.Millisecond
	inProbe = 250 * time.Millisecond // the engine looks round every 100 ms
)

// A turnstile counts the calls that are out at once on their way to a runtime.
type turnstile struct {
	engine.Runtime
	mu        sync.Mutex
	out, most map[string]int // by operation, and of the groups in [groups]
}

func newTurnstile(r engine.Runtime) *turnstile {
	return &turnstile{Runtime: r, out: map[string]int{}, most: map[string]int{}}
}

// groups returns what a call counts as.
func groups(op call.Operation) []string {
	switch op {
	case call.PodSandboxStatus, call.ContainerStatus:
		return []string{op.String(), "objects", "all"}
	case call.ListPodSandbox, call.ListContainers:
		return []string{op.String(), "lists", "all"}
	}
	return []string{op.String(), "all"}
}

// pass counts one call in, and out again when leave is called.
func (s *turnstile) pass(op call.Operation) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range groups(op) {
		s.out[g]++
		s.most[g] = max(s.most[g], s.out[g])
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, g := range groups(op) {
			s.out[g]--
		}
	}
}

// forget lets the counts of what is out at most begin anew.
func (s *turnstile) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = maps.Clone(s.out)
}

func (s *turnstile) peak(group string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most[group]
}

func (s *turnstile) Version(ctx context.Context) (pleg.Version, error) {
	defer s.pass(call.Version)()
	return s.Runtime.Version(ctx)
}

func (s *turnstile) Status(ctx context.Context) ([]pleg.Condition, error) {
	defer s.pass(call.Status)()
	return s.Runtime.Status(ctx)
}

func (s *turnstile) ListPodSandbox(ctx context.Context, uid pleg.UID) ([]pleg.ListedSandbox, error) {
	defer s.pass(call.ListPodSandbox)()
	return s.Runtime.ListPodSandbox(ctx, uid)
}

func (s *turnstile) ListContainers(ctx context.Context, uid pleg.UID) ([]pleg.ListedContainer, error) {
	defer s.pass(call.ListContainers)()
	return s.Runtime.ListContainers(ctx, uid)
}

func (s *turnstile) PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, error) {
	defer s.pass(call.PodSandboxStatus)()
	return s.Runtime.PodSandboxStatus(ctx, id)
}

func (s *turnstile) ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, error) {
	defer s.pass(call.ContainerStatus)()
	return s.Runtime.ContainerStatus(ctx, id)
}

// quiet starts a runtime of 110 pods and returns it with a counted client.
func quiet(t *testing.T) (*sim.Server, *turnstile) {
	t.Helper()
	server, err := sim.Start(t.Context(), sim.Config{Scenario: "quiet"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server, newTurnstile(dialed(t, server.Endpoint()))
}

func delayStatus(server *sim.Server, d time.Duration) (undo func()) {
	sandboxes := server.AddRule(sim.Rule{Match: sim.Match{Method: "PodSandboxStatus"}, Delay: d})
	containers := server.AddRule(sim.Rule{Match: sim.Match{Method: "ContainerStatus"}, Delay: d})
	return func() { sandboxes(); containers() }
}

// checkHarmless checks what holds always: the calls that the runtime saw are
// allowed ones, and nothing was asked twice at once.
func checkHarmless(t *testing.T, server *sim.Server, s *turnstile, width, atMost int) {
	t.Helper()
	for _, c := range server.Calls() {
		if !slices.ContainsFunc(harmless, func(m string) bool { return strings.HasSuffix(m, "/"+c.Method) }) {
			t.Errorf("called %s", c.Method)
		}
		if c.Verbose {
			t.Errorf("asked for the verbose answer of %s", c.Method)
		}
	}
	for _, one := range []string{"Version", "Status", "lists"} {
		if n := s.peak(one); n != 1 {
			t.Errorf("%d %s out at once, want 1", n, one)
		}
	}
	if n := s.peak("objects"); n < width || n > atMost {
		t.Errorf("%d status calls of objects out at once, want %d to %d", n, width, atMost)
	}
}

// While a list hangs, the probes, the sweep that begins by itself and the one
// that a person asks for are all that is added to it.
func TestHungListDoesNoHarm(t *testing.T) {
	t.Parallel()
	server, s := quiet(t)
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

	f := e.Feed()
	until(t, f, "the first relist", func(u *engine.Snapshot) bool { return u.Relists.Count > 0 && u.Version.RuntimeName != "" })
	s.forget() // nothing changes: no object is asked for any more but by probes and sweeps
	quicker := delayStatus(server, inProbe)
	server.AddRule(sim.Rule{Match: sim.Match{Method: "ListContainers"}, Hangs: true})
	probed := until(t, f, "a round of probes", func(u *engine.Snapshot) bool {
		for _, p := range u.Probes {
			if p.At.IsZero() {
				return false
			}
		}
		return len(u.Probes) == 4
	})
	if n := s.peak("objects"); probed.Sweep == nil && n != 1 {
		t.Errorf("%d probes out at once", n)
	}
	quicker()
	delayStatus(server, inSweep)
	until(t, f, "the sweep for the list", func(u *engine.Snapshot) bool { return u.Sweep != nil && u.Sweep.Done > 10 })
	if n := s.peak("objects"); n > 1+4 {
		t.Errorf("%d status calls out at once, want a probe's and the sweep's", n)
	}
	e.CancelSweep()
	first := until(t, f, "its end", func(u *engine.Snapshot) bool { return u.Sweep.Canceled || !u.Sweep.Ended.IsZero() })
	e.Sweep()
	until(t, f, "the sweep that was asked for", func(u *engine.Snapshot) bool {
		return u.Sweep.Began.After(first.Sweep.Began) && !u.Sweep.Ended.IsZero() && u.Sweep.Done == 330
	})
	checkHarmless(t, server, s, 4, 4+1)
}

// until reads snapshots, each of which must be harmless, up to one for which done
// says so.
func until(t *testing.T, f *engine.Feed, what string, done func(*engine.Snapshot) bool) *engine.Snapshot {
	t.Helper()
	ctx := within(t, testLimit)
	for {
		u, err := f.Next(ctx)
		if err != nil {
			t.Fatalf("waiting for %s: %v", what, err)
		}
		checkInFlight(t, u.Snapshot)
		if done(u.Snapshot) {
			return u.Snapshot
		}
	}
}

func checkInFlight(t *testing.T, s *engine.Snapshot) {
	t.Helper()
	out := map[call.Asker]int{}
	for _, f := range s.InFlight {
		out[f.By]++
	}
	width := 0
	if s.Sweep != nil {
		width = s.Sweep.Width
	}
	if out[call.ByRelist] > 1 || out[call.ByProbe] > 1 || out[call.BySweep] > width || out[call.ByStatusLoop] > 2 {
		t.Errorf("out at once: %+v, sweep %+v", s.InFlight, s.Sweep)
	}
}
