package proc

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proctest"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Control groups show sandboxes and containers where no list does, but not those that
// are no pod's, another runtime's, or within a container.
func TestGroupObjects(t *testing.T) {
	root := t.TempDir()
	sandbox, container, plainParent, inner := proctest.ID("1"), proctest.ID("2"), proctest.ID("3"), proctest.ID("4")
	proctest.WritePod(t, root, 100, sandbox, container)
	proctest.Write(t, root, proctest.Process{PID: 103, Parent: 102, Comm: "worker", Cgroup: proctest.Cgroup(container)})
	proctest.Write(t, root, proctest.Process{PID: 104, Parent: 103, Comm: "sh", Cgroup: proctest.Cgroup(container) + "/docker/" + inner})
	proctest.Write(t, root, proctest.Process{PID: 105, Parent: 100, Comm: "late", Cgroup: "/k8s.io/" + plainParent})
	proctest.Write(t, root, proctest.Shim(200, proctest.ID("9"), "/run/k3s/containerd/containerd.sock"))
	proctest.Write(t, root, proctest.Process{PID: 201, Parent: 200, Comm: "pause", Cgroup: proctest.Cgroup(proctest.ID("9"))})
	proctest.Write(t, root, proctest.Process{PID: 300, Parent: 1, Comm: "redis", Cgroup: "/docker/" + proctest.ID("8")})
	proctest.Write(t, root, proctest.Process{PID: 400, Parent: 1, Comm: "pause", Cgroup: "/kubepods/podabc/" + proctest.ID("5")}) // its shim is gone
	proctest.Write(t, root, proctest.Process{PID: 500, Parent: 1, Comm: "app", Cgroup: "/kubepods/podabc/" + proctest.ID("6")})
	found := newFixtureWalker(root).lookAt(t.Context(), proctest.Look)
	want := []evidence.Object{
		{ObjectRef: pleg.ObjectRef{ID: sandbox, Pod: pleg.PodRef{UID: "5f1a"}, Sandbox: true}, From: "its control group"},
		{ObjectRef: pleg.ObjectRef{ID: container, Pod: pleg.PodRef{UID: "5f1a"}}, SandboxID: sandbox, From: "its control group"},
		{ObjectRef: pleg.ObjectRef{ID: plainParent}, SandboxID: sandbox, From: "its control group"},
		{ObjectRef: pleg.ObjectRef{ID: proctest.ID("5"), Pod: pleg.PodRef{UID: "abc"}, Sandbox: true}, From: "its control group"},
		{ObjectRef: pleg.ObjectRef{ID: proctest.ID("6"), Pod: pleg.PodRef{UID: "abc"}}, From: "its control group"},
	}
	if diff := cmp.Diff(want, found.Objects); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// What the whole node is in is no object of its runtime.
func TestGroupObjectsOfANodeInAContainer(t *testing.T) {
	root := t.TempDir()
	node := "/kubepods/podf00/" + proctest.ID("0")
	proctest.Write(t, root, proctest.Process{PID: 1, Comm: "systemd", Cgroup: node + "/init.scope"})
	proctest.Write(t, root, proctest.Process{PID: 400, Parent: 1, Comm: "pause", Cgroup: node + "/kubepods/podabc/" + proctest.ID("5")})
	want := []evidence.Object{{ObjectRef: pleg.ObjectRef{ID: proctest.ID("5"), Pod: pleg.PodRef{UID: "abc"}, Sandbox: true}, From: "its control group"}}
	if diff := cmp.Diff(want, newFixtureWalker(root).lookAt(t.Context(), proctest.Look).Objects); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
