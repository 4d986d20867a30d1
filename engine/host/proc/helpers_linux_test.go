package proc

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// Programs that the runtime and its shims have started are found by their name, their arguments or their
// environment, in any state, once they have lasted for a while. So are the programs that those have started.
func TestLookFindsHelpers(t *testing.T) {
	const (
		containerd, kubelet, crio = 300, 301, 302
		shim, other               = 310, 311
	)
	sandbox, container := longID("1"), longID("2")
	plugin := "CNI_COMMAND=ADD\x00CNI_CONTAINERID=" + sandbox + "\x00CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=pay;K8S_POD_NAME=api-0\x00CNI_PATH=/opt/cni/bin\x00"
	runcArgs := func(program, verb string) []string {
		return []string{program, "--root", "/run/containerd/runc/k8s.io", "--log-format", "json", verb, container}
	}
	helper := func(pid, parent int, comm, verb, id, of string) evidence.Process {
		return evidence.Process{PID: pid, Parent: parent, Command: comm, Verb: verb, State: evidence.Sleeping, Age: time.Minute, Start: ticksAt(testUptime - time.Minute), Container: id, Sandbox: of, Own: true}
	}
	cni := helper(400, containerd, "calico", "CNI ADD", sandbox, "")
	cni.Pod.Namespace, cni.Pod.Name = "pay", "api-0"
	iptables := helper(401, 400, "iptables", "iptables", sandbox, "")
	iptables.Pod.Namespace, iptables.Pod.Name = "pay", "api-0"
	lost := helper(400, 1, "runc", "kill", container, "")
	lost.Own = false
	tests := []struct {
		name    string
		procs   []fakeProcess
		environ string // of 400
		want    []evidence.Process
	}{
		{"runc", []fakeProcess{{PID: 400, Parent: shim, Comm: "runc", Args: runcArgs("runc", "update")}}, "", []evidence.Process{helper(400, shim, "runc", "update", container, sandbox)}},
		{"runc of any name", []fakeProcess{{PID: 400, Parent: shim, Comm: "wrapped", Args: runcArgs("/usr/local/bin/wrapped", "kill")}}, "", []evidence.Process{helper(400, shim, "wrapped", "kill", container, sandbox)}},
		{"a script around runc", []fakeProcess{{PID: 400, Parent: shim, Comm: "runc-slow", Args: append([]string{"/bin/bash"}, runcArgs("/x/runc-slow", "create")...)}}, "", []evidence.Process{helper(400, shim, "runc-slow", "create", container, sandbox)}},
		{"the id is in the bundle's path alone", []fakeProcess{{PID: 400, Parent: shim, Comm: "r", Args: []string{"/x/r", "create", "--bundle", "/run/x/k8s.io/" + container, "short"}}}, "", []evidence.Process{helper(400, shim, "r", "create", container, sandbox)}},
		{"a script and what it waits for", []fakeProcess{
			{PID: 400, Parent: shim, Comm: "runc", Args: append([]string{"/bin/bash"}, runcArgs("/x/runc", "delete")...)},
			{PID: 399, Parent: 400, Comm: "sleep", Args: []string{"sleep", "1"}}, // numbers begin anew after the last
			{PID: 402, Parent: 399, Comm: "umount.nfs4", Args: []string{"umount.nfs4", "/data"}},
		}, "", []evidence.Process{helper(399, 400, "sleep", "sleep", container, sandbox), helper(400, shim, "runc", "delete", container, sandbox), helper(402, 399, "umount.nfs4", "umount.nfs4", container, sandbox)}},
		{"runsc, called by CRI-O", []fakeProcess{{PID: 400, Parent: crio, Comm: "runsc", Args: []string{"runsc", "wait", container}}}, "", []evidence.Process{helper(400, crio, "runsc", "wait", container, "")}},
		{"a network plugin", []fakeProcess{{PID: 400, Parent: containerd, Comm: "calico", Args: []string{"/opt/cni/bin/calico"}}}, plugin, []evidence.Process{cni}},
		{"a network plugin's own", []fakeProcess{{PID: 400, Parent: containerd, Comm: "calico"}, {PID: 401, Parent: 400, Comm: "iptables", Args: []string{"iptables", "-w", "-L"}}}, plugin, []evidence.Process{cni, iptables}},
		{"what unpacks an image", []fakeProcess{{PID: 400, Parent: containerd, Comm: "unpigz", Args: []string{"unpigz", "-d", "-c"}}}, "", []evidence.Process{helper(400, containerd, "unpigz", "unpigz", "", "")}},
		{"what the kernel has cut", []fakeProcess{{PID: 400, Parent: containerd, Comm: "nvidia-containe", Args: append([]string{"/usr/bin/nvidia-container-runtime"}, runcArgs("runc", "create")[1:]...)}}, "", []evidence.Process{helper(400, containerd, "nvidia-container-runtime", "create", container, "")}},
		{"what bears another name", []fakeProcess{{PID: 400, Parent: crio, Comm: "exe", Args: []string{"storage-applyLayer", "/x"}}}, "", []evidence.Process{helper(400, crio, "exe", "storage-applyLayer", "", "")}},
		{"umount", []fakeProcess{{PID: 400, Parent: shim, Comm: "umount", Args: []string{"umount", "/x"}}}, "", []evidence.Process{helper(400, shim, "umount", "umount", "", sandbox)}},
		{"what stays beside the runtime", []fakeProcess{{PID: 400, Parent: containerd, Comm: "nri-plugin", Args: []string{"10-plugin", "exec"}}, {PID: 401, Parent: 400, Comm: "umount"}}, "PATH=/bin\x00", nil},
		{"what stays beside a container", []fakeProcess{{PID: 400, Parent: shim, Comm: "virtiofsd", Args: []string{"virtiofsd", "--socket", "/run/" + sandbox}}}, "", nil},
		{"a container's own", []fakeProcess{{PID: 400, Parent: shim, Comm: "runc", Args: runcArgs("runc", "update"), Cgroup: cgroupOf(container)}, {PID: 401, Parent: 400, Comm: "mount"}}, "", nil},
		{"a person's", []fakeProcess{{PID: 400, Parent: kubelet, Comm: "mount"}, {PID: 401, Parent: 9, Comm: "iptables"}}, "", nil},
		{"another runtime's shim's", []fakeProcess{{PID: 400, Parent: other, Comm: "umount"}}, "", nil},
		{"another runtime's shim's runc", []fakeProcess{{PID: 400, Parent: other, Comm: "runc", Args: runcArgs("runc", "kill")}}, "", nil},
		{"a runc whose caller has ended", []fakeProcess{{PID: 400, Parent: 1, Comm: "runc", Args: runcArgs("runc", "kill")}}, "", []evidence.Process{lost}},
		{"just begun", []fakeProcess{{PID: 400, Parent: containerd, Comm: "calico", Started: testUptime - 900*time.Millisecond}, {PID: 401, Parent: shim, Comm: "umount", Started: testUptime - 900*time.Millisecond}}, plugin, nil},
		{"ended", []fakeProcess{{PID: 400, Parent: shim, Comm: "umount", State: evidence.Zombie}}, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeProcess(t, root, fakeProcess{PID: containerd, Comm: "containerd"})
			writeProcess(t, root, fakeProcess{PID: kubelet, Comm: "kubelet"})
			writeProcess(t, root, fakeProcess{PID: crio, Comm: "crio"})
			writeProcess(t, root, fakeShim(shim, sandbox, testSocket))
			writeProcess(t, root, fakeShim(other, longID("9"), "/run/k3s/containerd/containerd.sock"))
			for _, p := range tt.procs {
				if p.Started == 0 {
					p.Started = testUptime - time.Minute
				}
				writeProcess(t, root, p)
				writeFile(t, filepath.Join(root, "proc", strconv.Itoa(p.PID), "environ"), "PATH=/bin\x00")
			}
			if tt.environ != "" {
				writeFile(t, filepath.Join(root, "proc/400/environ"), tt.environ)
			}
			w := newFixtureWalker(root)
			for look := range 2 {
				if diff := cmp.Diff(tt.want, w.lookAt(t.Context(), firstLook).Helpers); diff != "" {
					t.Errorf("helpers of look %d (-want +got):\n%s", look+1, diff)
				}
			}
		})
	}
}

// What a helper waits for is reported once it has lasted for a while, unless it may last. It is what the first
// thread waits for that does not just wait for another thread.
func TestLookSaysWhatHelpersWaitFor(t *testing.T) {
	root, id := t.TempDir(), longID("1")
	writeProcess(t, root, fakeShim(300, id, testSocket))
	for pid, p := range map[int]fakeProcess{
		400: {Wchan: "do_wait", Stack: "[<0>] do_wait+0x1/0x2\n"},
		401: {Wchan: "futex_wait_queue", Threads: []fakeProcess{{PID: 450, Wchan: "ep_poll"}, {PID: 451, Wchan: "unix_stream_read_generic"}}},
		402: {Wchan: "futex_wait_queue", Threads: []fakeProcess{{PID: 452, Wchan: "futex_wait_queue"}}},
		403: {Wchan: "do_wait", Started: testUptime - helperWaits + time.Second},
		404: {Wchan: "do_wait", Args: []string{"runc", "exec", id}},
	} {
		p.PID, p.Parent, p.Comm = pid, 300, "runc"
		if p.Args == nil {
			p.Args = []string{"runc", "update", id}
		}
		writeProcess(t, root, p)
	}
	got := map[int]string{}
	for _, p := range newFixtureWalker(root).lookAt(t.Context(), firstLook).Helpers {
		got[p.PID] = fmt.Sprint(p.Thread, p.Wchan, p.Stack)
	}
	want := map[int]string{400: "0do_wait[do_wait]", 401: "451unix_stream_read_generic[]", 402: "0futex_wait_queue[]", 403: "0[]", 404: "0[]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

// ticksAt returns when after the boot a process began, as its stat file has it.
func ticksAt(uptime time.Duration) uint64 { return uint64(uptime / (10 * time.Millisecond)) }
