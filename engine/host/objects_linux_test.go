package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// Control groups show sandboxes and containers where no list does, but not those that
// are no pod's, another runtime's, or within a container.
func TestGroupObjects(t *testing.T) {
	root := t.TempDir()
	sandbox, container, plainParent, inner := fixtureID("1"), fixtureID("2"), fixtureID("3"), fixtureID("4")
	writePod(t, root, 100, sandbox, container)
	writeProc(t, root, proc{pid: 103, parent: 102, comm: "worker", cgroup: fixtureCgroup(container)})
	writeProc(t, root, proc{pid: 104, parent: 103, comm: "sh", cgroup: fixtureCgroup(container) + "/docker/" + inner})
	writeProc(t, root, proc{pid: 105, parent: 100, comm: "late", cgroup: "/k8s.io/" + plainParent})
	writeProc(t, root, fixtureShim(200, fixtureID("9"), "/run/k3s/containerd/containerd.sock"))
	writeProc(t, root, proc{pid: 201, parent: 200, comm: "pause", cgroup: fixtureCgroup(fixtureID("9"))})
	writeProc(t, root, proc{pid: 300, parent: 1, comm: "redis", cgroup: "/docker/" + fixtureID("8")})
	writeProc(t, root, proc{pid: 400, parent: 1, comm: "pause", cgroup: "/kubepods/podabc/" + fixtureID("5")}) // its shim is gone
	writeProc(t, root, proc{pid: 500, parent: 1, comm: "app", cgroup: "/kubepods/podabc/" + fixtureID("6")})
	found := newFixtureWalker(root).lookAt(t.Context(), fixtureLook)
	want := []evidence.Object{
		{ID: sandbox, Sandbox: true, UID: "5f1a", From: "its control group"},
		{ID: container, SandboxID: sandbox, UID: "5f1a", From: "its control group"},
		{ID: plainParent, SandboxID: sandbox, From: "its control group"},
		{ID: fixtureID("5"), Sandbox: true, UID: "abc", From: "its control group"},
		{ID: fixtureID("6"), UID: "abc", From: "its control group"},
	}
	if diff := cmp.Diff(want, found.Objects); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// What the whole node is in is no object of its runtime.
func TestGroupObjectsOfANodeInAContainer(t *testing.T) {
	root := t.TempDir()
	node := "/kubepods/podf00/" + fixtureID("0")
	writeProc(t, root, proc{pid: 1, comm: "systemd", cgroup: node + "/init.scope"})
	writeProc(t, root, proc{pid: 400, parent: 1, comm: "pause", cgroup: node + "/kubepods/podabc/" + fixtureID("5")})
	want := []evidence.Object{{ID: fixtureID("5"), Sandbox: true, UID: "abc", From: "its control group"}}
	if diff := cmp.Diff(want, newFixtureWalker(root).lookAt(t.Context(), fixtureLook).Objects); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
