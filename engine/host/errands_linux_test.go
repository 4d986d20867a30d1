package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// What the runtime and its shims call is found by its name, its arguments or its
// environment, in any state, once it has lasted, and so is what that calls.
func TestLookFindsErrands(t *testing.T) {
	const (
		containerd, kubelet, crio = 300, 301, 302
		shim, other               = 310, 311
	)
	sandbox, container := fixtureID("1"), fixtureID("2")
	plugin := "CNI_COMMAND=ADD\x00CNI_CONTAINERID=" + sandbox + "\x00CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=pay;K8S_POD_NAME=api-0\x00CNI_PATH=/opt/cni/bin\x00"
	runcArgs := func(program, verb string) []string {
		return []string{program, "--root", "/run/containerd/runc/k8s.io", "--log-format", "json", verb, container}
	}
	errand := func(pid, parent int, comm, verb, id, of string) evidence.Process {
		return evidence.Process{PID: pid, Parent: parent, Command: comm, Verb: verb, State: evidence.Sleeping, Age: time.Minute, Container: id, Sandbox: of, Own: true}
	}
	cni := errand(400, containerd, "calico", "CNI ADD", sandbox, "")
	cni.Namespace, cni.Pod = "pay", "api-0"
	iptables := errand(401, 400, "iptables", "iptables", sandbox, "")
	iptables.Namespace, iptables.Pod = "pay", "api-0"
	lost := errand(400, 1, "runc", "kill", container, "")
	lost.Own = false
	tests := []struct {
		name    string
		procs   []proc
		environ string // of 400
		want    []evidence.Process
	}{
		{"runc", []proc{{pid: 400, parent: shim, comm: "runc", args: runcArgs("runc", "update")}}, "", []evidence.Process{errand(400, shim, "runc", "update", container, sandbox)}},
		{"runc of any name", []proc{{pid: 400, parent: shim, comm: "wrapped", args: runcArgs("/usr/local/bin/wrapped", "kill")}}, "", []evidence.Process{errand(400, shim, "wrapped", "kill", container, sandbox)}},
		{"a script around runc", []proc{{pid: 400, parent: shim, comm: "runc-slow", args: append([]string{"/bin/bash"}, runcArgs("/x/runc-slow", "create")...)}}, "", []evidence.Process{errand(400, shim, "runc-slow", "create", container, sandbox)}},
		{"the id is in the bundle's path alone", []proc{{pid: 400, parent: shim, comm: "r", args: []string{"/x/r", "create", "--bundle", "/run/x/k8s.io/" + container, "short"}}}, "", []evidence.Process{errand(400, shim, "r", "create", container, sandbox)}},
		{"a script and what it waits for", []proc{
			{pid: 400, parent: shim, comm: "runc", args: append([]string{"/bin/bash"}, runcArgs("/x/runc", "delete")...)},
			{pid: 399, parent: 400, comm: "sleep", args: []string{"sleep", "1"}}, // numbers begin anew after the last
			{pid: 402, parent: 399, comm: "umount.nfs4", args: []string{"umount.nfs4", "/data"}},
		}, "", []evidence.Process{errand(399, 400, "sleep", "sleep", container, sandbox), errand(400, shim, "runc", "delete", container, sandbox), errand(402, 399, "umount.nfs4", "umount.nfs4", container, sandbox)}},
		{"runsc, called by CRI-O", []proc{{pid: 400, parent: crio, comm: "runsc", args: []string{"runsc", "wait", container}}}, "", []evidence.Process{errand(400, crio, "runsc", "wait", container, "")}},
		{"a network plugin", []proc{{pid: 400, parent: containerd, comm: "calico", args: []string{"/opt/cni/bin/calico"}}}, plugin, []evidence.Process{cni}},
		{"a network plugin's own", []proc{{pid: 400, parent: containerd, comm: "calico"}, {pid: 401, parent: 400, comm: "iptables", args: []string{"iptables", "-w", "-L"}}}, plugin, []evidence.Process{cni, iptables}},
		{"what unpacks an image", []proc{{pid: 400, parent: containerd, comm: "unpigz", args: []string{"unpigz", "-d", "-c"}}}, "", []evidence.Process{errand(400, containerd, "unpigz", "unpigz", "", "")}},
		{"what bears another name", []proc{{pid: 400, parent: crio, comm: "exe", args: []string{"storage-applyLayer", "/x"}}}, "", []evidence.Process{errand(400, crio, "exe", "storage-applyLa", "", "")}},
		{"umount", []proc{{pid: 400, parent: shim, comm: "umount", args: []string{"umount", "/x"}}}, "", []evidence.Process{errand(400, shim, "umount", "umount", "", sandbox)}},
		{"what stays beside the runtime", []proc{{pid: 400, parent: containerd, comm: "nri-plugin", args: []string{"10-plugin", "exec"}}, {pid: 401, parent: 400, comm: "umount"}}, "PATH=/bin\x00", nil},
		{"what stays beside a container", []proc{{pid: 400, parent: shim, comm: "virtiofsd", args: []string{"virtiofsd", "--socket", "/run/" + sandbox}}}, "", nil},
		{"a container's own", []proc{{pid: 400, parent: shim, comm: "runc", args: runcArgs("runc", "update"), cgroup: fixtureCgroup(container)}, {pid: 401, parent: 400, comm: "mount"}}, "", nil},
		{"a person's", []proc{{pid: 400, parent: kubelet, comm: "mount"}, {pid: 401, parent: 9, comm: "iptables"}}, "", nil},
		{"another runtime's shim's", []proc{{pid: 400, parent: other, comm: "umount"}}, "", nil},
		{"another runtime's shim's runc", []proc{{pid: 400, parent: other, comm: "runc", args: runcArgs("runc", "kill")}}, "", nil},
		{"a runc whose caller has ended", []proc{{pid: 400, parent: 1, comm: "runc", args: runcArgs("runc", "kill")}}, "", []evidence.Process{lost}},
		{"just begun", []proc{{pid: 400, parent: containerd, comm: "calico", started: fixtureUptime - 900*time.Millisecond}, {pid: 401, parent: shim, comm: "umount", started: fixtureUptime - 900*time.Millisecond}}, plugin, nil},
		{"ended", []proc{{pid: 400, parent: shim, comm: "umount", state: evidence.Zombie}}, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeProc(t, root, proc{pid: containerd, comm: "containerd"})
			writeProc(t, root, proc{pid: kubelet, comm: "kubelet"})
			writeProc(t, root, proc{pid: crio, comm: "crio"})
			writeProc(t, root, fixtureShim(shim, sandbox, fixtureSocket))
			writeProc(t, root, fixtureShim(other, fixtureID("9"), "/run/k3s/containerd/containerd.sock"))
			for _, p := range tt.procs {
				if p.started == 0 {
					p.started = fixtureUptime - time.Minute
				}
				writeProc(t, root, p)
				writeFile(t, filepath.Join(root, "proc", strconv.Itoa(p.pid), "environ"), "PATH=/bin\x00")
			}
			if tt.environ != "" {
				writeFile(t, filepath.Join(root, "proc/400/environ"), tt.environ)
			}
			w := newFixtureWalker(root)
			for look := range 2 {
				if diff := cmp.Diff(tt.want, w.lookAt(t.Context(), fixtureLook).Errands); diff != "" {
					t.Errorf("errands of look %d (-want +got):\n%s", look+1, diff)
				}
			}
		})
	}
}

// Whoever is old is asked once; whoever is none is left alone.
func TestLookRemembersErrands(t *testing.T) {
	root := t.TempDir()
	writeProc(t, root, proc{pid: 300, comm: "containerd"})
	writeProc(t, root, proc{pid: 400, parent: 300, comm: "wrapped", args: []string{"wrapped", "kill", fixtureID("1")}})
	writeProc(t, root, proc{pid: 401, parent: 300, comm: "nri"})
	writeFile(t, filepath.Join(root, "proc/401/environ"), "PATH=/bin\x00")
	w := newFixtureWalker(root)
	first := w.lookAt(t.Context(), fixtureLook)
	for _, file := range []string{"400/cmdline", "401/cmdline", "401/environ"} {
		if err := os.Remove(filepath.Join(root, "proc", file)); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(root, "proc/401/cmdline"), "wrapped\x00kill\x00"+fixtureID("1")+"\x00")
	second := w.lookAt(t.Context(), fixtureLook)
	if diff := cmp.Diff(first.Errands, second.Errands); diff != "" || len(first.Errands) != 1 {
		t.Errorf("errands of the second look (-first +second):\n%s", diff)
	}
}

// What an errand waits for is told once it has lasted, unless it may; of its threads the
// first that waits for something else than another.
func TestLookSaysWhatErrandsWaitFor(t *testing.T) {
	root, id := t.TempDir(), fixtureID("1")
	writeProc(t, root, fixtureShim(300, id, fixtureSocket))
	for pid, p := range map[int]proc{
		400: {wchan: "do_wait", stack: "[<0>] do_wait+0x1/0x2\n"},
		401: {wchan: "futex_wait_queue", threads: []proc{{pid: 450, wchan: "ep_poll"}, {pid: 451, wchan: "unix_stream_read_generic"}}},
		402: {wchan: "futex_wait_queue", threads: []proc{{pid: 452, wchan: "futex_wait_queue"}}},
		403: {wchan: "do_wait", started: fixtureUptime - errandWaits + time.Second},
		404: {wchan: "do_wait", args: []string{"runc", "exec", id}},
	} {
		p.pid, p.parent, p.comm = pid, 300, "runc"
		if p.args == nil {
			p.args = []string{"runc", "update", id}
		}
		writeProc(t, root, p)
	}
	got := map[int]string{}
	for _, p := range newFixtureWalker(root).lookAt(t.Context(), fixtureLook).Errands {
		got[p.PID] = fmt.Sprint(p.Thread, p.Wchan, p.Stack)
	}
	want := map[int]string{400: "0do_wait[do_wait]", 401: "451unix_stream_read_generic[]", 402: "0futex_wait_queue[]", 403: "0[]", 404: "0[]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}
