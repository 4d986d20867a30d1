package proc

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Control groups show sandboxes and containers if there is no list. They leave out those that belong to no pod,
// to another runtime, or to a container.
func TestGroupObjects(t *testing.T) {
	root := t.TempDir()
	sandbox, container, plainParent, inner := longID("1"), longID("2"), longID("3"), longID("4")
	writePod(t, root, 100, sandbox, container)
	writeProcess(t, root, fakeProcess{PID: 103, Parent: 102, Comm: "worker", Cgroup: cgroupOf(container)})
	writeProcess(t, root, fakeProcess{PID: 104, Parent: 103, Comm: "sh", Cgroup: cgroupOf(container) + "/docker/" + inner})
	writeProcess(t, root, fakeProcess{PID: 105, Parent: 100, Comm: "late", Cgroup: "/k8s.io/" + plainParent})
	writeProcess(t, root, fakeShim(200, longID("9"), "/run/k3s/containerd/containerd.sock"))
	writeProcess(t, root, fakeProcess{PID: 201, Parent: 200, Comm: "pause", Cgroup: cgroupOf(longID("9"))})
	writeProcess(t, root, fakeProcess{PID: 300, Parent: 1, Comm: "redis", Cgroup: "/docker/" + longID("8")})
	writeProcess(t, root, fakeProcess{PID: 400, Parent: 1, Comm: "pause", Cgroup: "/kubepods/podabc/" + longID("5")}) // its shim is gone
	writeProcess(t, root, fakeProcess{PID: 500, Parent: 1, Comm: "app", Cgroup: "/kubepods/podabc/" + longID("6")})
	found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
	want := []evidence.Object{
		{ObjectRef: pleg.ObjectRef{ID: sandbox, Pod: pleg.PodRef{UID: "5f1a"}, Sandbox: true}, From: "its control group"},
		{ObjectRef: pleg.ObjectRef{ID: container, Pod: pleg.PodRef{UID: "5f1a"}}, SandboxID: sandbox, From: "its control group"},
		{ObjectRef: pleg.ObjectRef{ID: plainParent}, SandboxID: sandbox, From: "its control group"},
		{ObjectRef: pleg.ObjectRef{ID: longID("5"), Pod: pleg.PodRef{UID: "abc"}, Sandbox: true}, From: "its control group"},
		{ObjectRef: pleg.ObjectRef{ID: longID("6"), Pod: pleg.PodRef{UID: "abc"}}, From: "its control group"},
	}
	if diff := cmp.Diff(want, found.Objects); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// The first look, which may be the only one of a check, sees that a shim stands still, since when, and who
// caused it.
func TestFirstLookSeesAShimThatStandsStill(t *testing.T) {
	for _, tt := range []struct {
		state, want evidence.State
		lasts       time.Duration
	}{
		{evidence.Traced, evidence.Traced, time.Minute},
		{evidence.Stopped, evidence.Stopped, time.Minute},
		{evidence.Sleeping, evidence.Frozen, 0}, // it may have slept long before
	} {
		t.Run(tt.want.String(), func(t *testing.T) {
			root := t.TempDir()
			p := fakeShim(300, longID("1"), testSocket)
			p.State, p.Ran, p.Cgroup = tt.state, 1000, "/system.slice/shims"
			p.Threads = []fakeProcess{{PID: 301, State: tt.state}}
			p.Files = map[string]string{"status": "Name:\tcontainerd-shim\nTracerPid:\t77\n"}
			writeProcess(t, root, p)
			writeProcess(t, root, fakeProcess{PID: 77, Comm: "gdb", Started: 2 * time.Hour})
			if tt.want == evidence.Frozen {
				writeFile(t, filepath.Join(root, "sys/fs/cgroup/system.slice/shims/cgroup.events"), "frozen 1\n")
			}
			w := newFixtureWalker(root)
			w.clock = func(int) time.Duration { return time.Second + time.Minute }
			found := w.lookAt(t.Context(), firstLook).Shims
			tracer := evidence.Tracer{}
			if tt.want == evidence.Traced {
				tracer = evidence.Tracer{PID: 77, Command: "gdb", Start: ticksAt(2 * time.Hour)}
			}
			if len(found) != 1 || found[0].State != tt.want || found[0].For != tt.lasts || found[0].Tracer != tracer || found[0].Start == 0 {
				t.Errorf("found %+v, want it %v for %v by %+v", found, tt.want, tt.lasts, tracer)
			}
		})
	}
}
