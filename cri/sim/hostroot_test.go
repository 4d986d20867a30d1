package sim

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A sighting is one process as a reader of /proc finds it.
type sighting struct {
	procfs.ProcStat
	args   []string
	cgroup string
	wchan  string
	stack  string
}

// look reads all processes of a server's node.
func look(t testing.TB, s *Server) map[int]sighting {
	t.Helper()
	node, err := procfs.NewFS(filepath.Join(s.HostRoot(), "proc"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := node.AllProcs()
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]sighting{}
	for _, p := range all {
		found[p.PID] = lookAt(t, s, node, p)
	}
	return found
}

func lookAt(t testing.TB, s *Server, node procfs.FS, p procfs.Proc) sighting {
	t.Helper()
	stat, err1 := p.Stat()
	args, err2 := p.CmdLine()
	groups, err3 := p.Cgroups()
	wchan, err4 := p.Wchan()
	state, err5 := p.NewStatus()
	threads, err6 := node.AllThreads(p.PID)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		t.Fatalf("process %d: %v", p.PID, err)
	}
	if len(groups) != 1 || len(threads) != stat.NumThreads || state.TGID != p.PID || state.VmRSS != uint64(stat.RSS)*4096 {
		t.Errorf("process %d: %d cgroups, %d threads, %+v, %+v", p.PID, len(groups), len(threads), stat, state)
	}
	for _, thread := range threads {
		if one, err := thread.Stat(); err != nil || one.State != stat.State || one.PID != thread.PID {
			t.Errorf("thread %d of %d: %+v, %v", thread.PID, p.PID, one, err)
		}
	}
	stack, err := os.ReadFile(filepath.Join(s.HostRoot(), "proc", strconv.Itoa(p.PID), "stack"))
	if err != nil {
		t.Error(err)
	}
	comm, err := p.Comm()
	if err != nil || comm != stat.Comm || len(comm) > 15 {
		t.Errorf("process %d: comm %q, in stat %q, %v", p.PID, comm, stat.Comm, err)
	}
	return sighting{stat, args, groups[0].Path, wchan, string(stack)}
}

// byID returns the sightings in the cgroup of each container and sandbox.
func byID(all map[int]sighting) map[string][]sighting {
	found := map[string][]sighting{}
	for _, p := range all {
		if _, id, ok := strings.Cut(p.cgroup, "/cri-containerd-"); ok {
			id = strings.TrimSuffix(id, ".scope")
			found[id] = append(found[id], p)
		}
	}
	return found
}

// shims returns the sightings of shims by the sandbox that they were started for.
func shims(all map[int]sighting) map[string]sighting {
	found := map[string]sighting{}
	for _, p := range all {
		if i := slices.Index(p.args, "-id"); i > 0 && p.Comm == "containerd-shim" {
			found[p.args[i+1]] = p
		}
	}
	return found
}

// wantProcesses checks that the node shows what the runtime says, but for the
// container without a process, if there is one.
func wantProcesses(t *testing.T, s *Server, ghost string) {
	t.Helper()
	all := look(t, s)
	found, shim := byID(all), shims(all)
	s.mu.Lock()
	defer s.mu.Unlock()
	want := 3 // systemd, kubelet, containerd
	for _, sb := range s.scene.sandboxes {
		if !sb.ready() {
			continue
		}
		want += 2
		if p := found[sb.status.Id]; len(p) != 1 || p[0].Comm != "pause" || p[0].PPID != shim[sb.status.Id].PID {
			t.Errorf("sandbox of %s: processes %v, want one pause of shim %d", sb.pod.ref(), p, shim[sb.status.Id].PID)
		}
		if got := shim[sb.status.Id].args; !slices.Equal(got[1:], []string{"-namespace", "k8s.io", "-id", sb.status.Id, "-address", s.wire.path}) {
			t.Errorf("shim of %s: %q", sb.pod.ref(), got)
		}
	}
	for _, c := range s.scene.containers {
		n := 0
		if c.runs() && c.status.Id != ghost {
			n = 1
		}
		want += n
		if len(found[c.status.Id]) != n {
			t.Errorf("%s %s, %v: processes %v, want %d", c.pod.ref(), c.spec.name, c.status.State, found[c.status.Id], n)
		}
	}
	if len(all) != want {
		t.Errorf("%d processes, want %d", len(all), want)
	}
}

func TestHostRootShowsEveryProcess(t *testing.T) {
	s, _ := begin(t, "tour", 21*time.Second)
	wantProcesses(t, s, "")
}

func TestHostRootFollowsTheWorld(t *testing.T) {
	s, _ := start(t, "tour")
	p := addPair(s)
	id := p.Containers["a"]
	edit := func(do func(*world)) func() error {
		return func() error { s.edit(func() { do(s.scene.world) }); return nil }
	}
	for _, step := range []struct {
		what        string
		do          func() error
		shim, pause bool
		a, b        int
	}{
		{"add", func() error { return nil }, true, true, 1, 0},
		{"start b", edit(func(w *world) { w.run(w.containerOf[p.Containers["b"]], w.clock) }), true, true, 1, 1},
		{"exit a", func() error { return s.ExitContainer(id, 1, "", "") }, true, true, 0, 1},
		{"stop the sandbox", edit(func(w *world) { w.stopSandbox(w.sandboxOf[p.Sandbox]) }), true, false, 0, 1},
		{"exit b", func() error { return s.ExitContainer(p.Containers["b"], 1, "", "") }, false, false, 0, 0},
		{"remove", edit(func(w *world) { w.removePod(w.pod(p.UID)) }), false, false, 0, 0},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		all := look(t, s)
		found := byID(all)
		_, shim := shims(all)[p.Sandbox]
		if shim != step.shim || len(found[p.Sandbox]) == 1 != step.pause || len(found[id]) != step.a || len(found[p.Containers["b"]]) != step.b {
			t.Errorf("after %s: shim %v, pause %v, a %v, b %v; want %+v",
				step.what, shim, found[p.Sandbox], found[id], found[p.Containers["b"]], step)
		}
	}
}

func TestHeldContainerIsInUninterruptibleSleep(t *testing.T) {
	for _, scenario := range []string{"hung-inspect", "status-lock"} {
		s, _ := begin(t, scenario, 6*time.Second)
		wantStuck(t, s, victimOf(s).status.Id)
		if err := s.setFault(scenario, false); err != nil {
			t.Fatal(err)
		}
		wantStuck(t, s, "")
	}
}

// wantStuck checks that only the process of that container is stuck.
func wantStuck(t *testing.T, s *Server, id string) {
	t.Helper()
	for _, p := range look(t, s) {
		held := id != "" && strings.Contains(p.cgroup, id)
		if got := p.State == "D"; got != held {
			t.Errorf("%s in %s is in state %s", p.Comm, p.cgroup, p.State)
		}
		if held {
			wantMount(t, s, p.PID)
		}
		if held && (p.wchan != "rpc_wait_bit_killable" || !strings.Contains(p.stack, "nfs_getattr+")) {
			t.Errorf("%s waits in %q:\n%s", p.Comm, p.wchan, p.stack)
		}
	}
}

// wantMount checks that the system call of a process is about a file of a file server.
func wantMount(t *testing.T, s *Server, pid int) {
	t.Helper()
	node, err := procfs.NewFS(filepath.Join(s.HostRoot(), "proc"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := node.Proc(pid)
	if err != nil {
		t.Fatal(err)
	}
	call, err := os.ReadFile(filepath.Join(s.HostRoot(), "proc", strconv.Itoa(pid), "syscall"))
	file, err2 := p.FDInfo("7")
	mounts, err3 := p.MountInfo()
	if err := errors.Join(err, err2, err3); err != nil || strings.Fields(string(call))[1] != "0x7" {
		t.Fatalf("system call %q, %v", call, err)
	}
	if len(mounts) != 1 || strconv.Itoa(mounts[0].MountID) != file.MntID || mounts[0].FSType != "nfs4" {
		t.Errorf("mounts %+v, the file is of %s", mounts, file.MntID)
	}
}

func TestGhostHasNoProcess(t *testing.T) {
	s, c := start(t, "ghost")
	ghost := victimOf(s)
	got, err := statusOf(t.Context(), c, ghost.status.Id)
	if err != nil || got.State != cri.ContainerState_CONTAINER_RUNNING {
		t.Errorf("the runtime says %v, %v; want running", got.GetState(), err)
	}
	wantProcesses(t, s, ghost.status.Id)
	if err := s.setFault("ghost", false); err != nil {
		t.Fatal(err)
	}
	if got, err = statusOf(t.Context(), c, ghost.status.Id); err != nil || got.State != cri.ContainerState_CONTAINER_EXITED {
		t.Errorf("after the fault the runtime says %v, %v; want exited", got.GetState(), err)
	}
	wantProcesses(t, s, "")
}

func TestRuntimesOwnProcess(t *testing.T) {
	s, _ := start(t, "tour")
	for _, tt := range []struct{ fault, state string }{{"deadlock", "S"}, {"runtime-down", ""}} {
		if err := s.setFault(tt.fault, true); err != nil {
			t.Fatal(err)
		}
		if p := look(t, s)[containerdPID]; p.State != tt.state {
			t.Errorf("%s: containerd is in state %q, want %q", tt.fault, p.State, tt.state)
		}
		if err := s.setFault(tt.fault, false); err != nil {
			t.Fatal(err)
		}
	}
	if p := look(t, s)[containerdPID]; p.State != "S" {
		t.Errorf("after all faults containerd is in state %q", p.State)
	}
}

func TestHostRootGoesWithTheServer(t *testing.T) {
	for scenario, want := range map[string]bool{"tour": true, "ghost": true, "quiet": false, "big": false, "list-too-big": false, "empty": false} {
		s, _ := start(t, scenario)
		root := s.HostRoot()
		if got := root != ""; got != want {
			t.Errorf("%s: host root %q", scenario, root)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s.AddPod(PodSpec{Namespace: "ns", Name: "p"}) // must not bring it back
		if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: folder after Close: %v, want it gone", scenario, err)
		}
	}
}

// BenchmarkStartTour is a start with the node's files.
func BenchmarkStartTour(b *testing.B) {
	for b.Loop() {
		s, err := Start(b.Context(), Config{Scenario: "tour", Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		_ = s.Close()
	}
}
