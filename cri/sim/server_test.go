package sim

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// made returns when the runtime made something.
func made(of interface{ GetCreatedAt() int64 }) time.Time { return time.Unix(0, of.GetCreatedAt()) }

// standstill is the pace of a clock that all but stands still, so that a slow machine sees
// what a fast one does.
const standstill = 1e-5

// start returns a server of a scenario with seed 1 and a client to it. Its clock all but
// stands still.
func start(t testing.TB, scenario string) (*Server, cri.RuntimeServiceClient) {
	t.Helper()
	s, err := Start(t.Context(), Config{Scenario: scenario, Seed: 1, Clock: standstill})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dial(t, s)
}

func dial(t testing.TB, s *Server) cri.RuntimeServiceClient {
	t.Helper()
	conn, err := grpc.NewClient(s.Endpoint(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return cri.NewRuntimeServiceClient(conn)
}

func TestStartMakesAPrivateFolderAndCloseRemovesIt(t *testing.T) {
	s, c := start(t, "quiet")
	if _, err := c.Version(t.Context(), &cri.VersionRequest{}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(strings.TrimPrefix(s.Endpoint(), "unix://"))
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("folder has mode %v, want 0700", info.Mode().Perm())
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder after Close: %v, want it gone", err)
	}
}

func TestContextEndsTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, s)
	s.Hang(Match{Method: "Status"})
	ended := make(chan error, 1)
	go func() {
		_, err := c.Status(t.Context(), &cri.StatusRequest{})
		ended <- err
	}()
	if err := s.AwaitHeld(t.Context(), Match{}, 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if code := status.Code(<-ended); code != codes.Unavailable && code != codes.Canceled {
		t.Errorf("call ended with %v", code)
	}
	_ = s.Close() // waits for the one that the context began
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder: %v, want it gone", err)
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	s, c := start(t, "tour")
	s.Hang(Match{Method: "Status"})
	go func() { _, _ = c.Status(t.Context(), &cri.StatusRequest{}) }()
	if err := s.AwaitHeld(t.Context(), Match{}, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		for _, ours := range []string{"sim.(*Server).", "sim.runtimeService", "grpc.(*Server)."} {
			if strings.Contains(stack, ours) {
				t.Errorf("after Close:\n%s", stack)
				break
			}
		}
	}
}

func TestStartRefuses(t *testing.T) {
	for name, c := range map[string]Config{
		"an unknown scenario": {Scenario: "nonsense"},
		"a negative speed":    {Clock: -1},
		"a missing folder":    {Dir: "/nonexistent/folder"},
		"a path too long":     {Dir: longFolder(t)},
	} {
		s, err := Start(t.Context(), c)
		if err == nil {
			_ = s.Close()
			t.Errorf("%s: no error", name)
			continue
		}
		if left, _ := filepath.Glob(filepath.Join(c.Dir, "plegtop-*")); c.Dir != "" && len(left) > 0 {
			t.Errorf("%s: %v is left behind", name, left)
		}
		if name == "a path too long" && !strings.Contains(err.Error(), "TMPDIR") {
			t.Errorf("%s: %v does not say what to do", name, err)
		}
	}
	_, err := Start(t.Context(), Config{Scenario: "nonsense"})
	if !strings.Contains(err.Error(), "tour, quiet") || strings.Contains(err.Error(), "empty") {
		t.Errorf("error %q does not list the scenarios", err)
	}
}

func longFolder(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// containersOf returns the containers that pass a filter.
func containersOf(t testing.TB, c cri.RuntimeServiceClient, f *cri.ContainerFilter) []*cri.Container {
	t.Helper()
	list, err := c.ListContainers(t.Context(), &cri.ListContainersRequest{Filter: f})
	if err != nil {
		t.Fatal(err)
	}
	return list.Containers
}

func TestEverythingThatChangesSomethingIsUnimplemented(t *testing.T) {
	_, c := start(t, "quiet")
	ctx := t.Context()
	calls := map[string]func() error{
		"RunPodSandbox":    func() error { _, err := c.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{}); return err },
		"StopPodSandbox":   func() error { _, err := c.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{}); return err },
		"RemovePodSandbox": func() error { _, err := c.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{}); return err },
		"CreateContainer":  func() error { _, err := c.CreateContainer(ctx, &cri.CreateContainerRequest{}); return err },
		"StartContainer":   func() error { _, err := c.StartContainer(ctx, &cri.StartContainerRequest{}); return err },
		"StopContainer":    func() error { _, err := c.StopContainer(ctx, &cri.StopContainerRequest{}); return err },
		"RemoveContainer":  func() error { _, err := c.RemoveContainer(ctx, &cri.RemoveContainerRequest{}); return err },
		"ExecSync":         func() error { _, err := c.ExecSync(ctx, &cri.ExecSyncRequest{}); return err },
	}
	for name, call := range calls {
		if code := status.Code(call()); code != codes.Unimplemented {
			t.Errorf("%s: %v, want Unimplemented", name, code)
		}
	}
}
