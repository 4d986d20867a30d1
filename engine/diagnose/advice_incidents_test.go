package diagnose

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// Advice that once did harm is not given any more, and something better has taken its place.
func TestWhatIsAdvisedNoMore(t *testing.T) {
	inD := func(p *evidence.Process, function string, m evidence.Mount) {
		p.State, p.For, p.Wchan, p.Stack, p.Mount = evidence.Uninterrupted, time.Minute, function, []string{function}, m
	}
	helper := func(r *evidence.Report, command, verb string) {
		r.Processes.Helpers = append(r.Processes.Helpers, evidence.Process{
			PID: 9000, Parent: shimOf(r, 1).PID, Command: command, Verb: verb, Container: "container-1-0", Own: true, State: evidence.Sleeping, Age: 10 * time.Minute, Start: 4711,
		})
	}
	const k3s = "unix:///run/k3s/containerd/containerd.sock"
	for _, tt := range []struct {
		name     string
		endpoint string
		node     *node
		change   func(*node, *evidence.Report)
		never    string // patterns over all steps
		want     string
	}{
		{"a server behind some mount", "", checked(3), func(_ *node, r *evidence.Report) {
			inD(&r.Processes.Daemons[0], "rpc_wait_bit_killable", evidence.Mount{})
		}, `umount -a|umount [^|]*-t|ceph .*umount`, `unmount only the mount that hangs`},
		{"Ceph", "", checked(3), func(_ *node, r *evidence.Report) {
			inD(&r.Processes.Daemons[0], "ceph_get_caps", evidence.Mount{Point: "/data", Type: "ceph", Source: "10.0.0.9:6789:/", Device: "0:60", Node: "/data"})
		}, `umount -`, `Use no forced unmount`},
		{"a pod that cannot be inspected", "", healthy(5).podFails(1, "app", call.ErrOther, "broken", 8), nil, `kubectl|--force`, `crictl stopp sandbox-1.*RISK: its containers are killed without their grace period`},
		{"the network's pod", "", healthy(3).condition(networkReady), func(n *node, _ *evidence.Report) {
			n.pod(1).Namespace, n.pod(1).Name = "kube-system", "calico-node-x7k2p"
		}, `kubectl`, `A restart of the runtime does not.*crictl stopp sandbox-1`},
		{"a disk that takes no writes", "", checked(3), func(_ *node, r *evidence.Report) { r.Disk.ReadOnly = "it is mounted read-only" }, `remount,|fsck|xfs_repair`, `drain the node with --timeout=5m`},
		{"a restart of k3s", k3s, healthy(3).condition(runtimeReady), nil, ``, `it also restarts the kubelet, and on a server the API server and the datastore`},
		{"a frozen file system of a container", "", checked(3), func(_ *node, r *evidence.Report) {
			inD(&r.Processes.Daemons[0], "percpu_rwsem_wait", evidence.Mount{Point: "/in/the/container", Type: "ext4", Source: "/dev/sdb1", Device: "8:17", Node: "/on/the/node"})
			r.Processes.Daemons[0].Stack = []string{"percpu_rwsem_wait", "vfs_write"}
		}, `/in/the/container \#|xargs`, `fsfreeze --unfreeze /on/the/node`},
		{"a frozen file system whose place on the node is not known", "", checked(3), func(_ *node, r *evidence.Report) {
			inD(&r.Processes.Daemons[0], "percpu_rwsem_wait", evidence.Mount{Point: "/in/the/container", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"})
			r.Processes.Daemons[0].Stack = []string{"percpu_rwsem_wait", "vfs_write"}
		}, `--unfreeze`, `find what froze the file system`},
		{"NFS", "", checked(3), func(_ *node, r *evidence.Report) {
			inD(&r.Processes.Daemons[0], "rpc_wait_bit_killable", evidence.Mount{Point: "/data", Type: "nfs4", Source: "nas:/x", Device: "0:60", Node: "/on/the/node"})
		}, `findmnt|head -n 1\b`, `bring the file server back.*umount -f /on/the/node.*if the server does not come back.*RISK.*umount -l /on/the/node.*RISK: what was not written yet is lost`},
		{"a shim whose process is in the kernel", "", healthy(5).hangOn(3, "app", 47*time.Second), func(_ *node, r *evidence.Report) {
			inD(&r.Processes.Containers["container-3-0"][0], "rpc_wait_bit_killable", evidence.Mount{})
		}, `kill -9|ends only this pod|pkill`, `a second instance beside it`},
		{"a stuck runc", "", checked(3), func(_ *node, r *evidence.Report) { helper(r, "runc", "update") }, `#[^#]*kill 9000$`, `kill 9000 .*RISK: the container may stay half made, and frozen`},
		{"a stuck network plugin", "", checked(3), func(_ *node, r *evidence.Report) { helper(r, "calico", "CNI ADD") }, `kubectl`, `kill 9000 .*RISK: an address that the plugin has taken may stay in use`},
		{"a full disk", "", checked(3), func(_ *node, r *evidence.Report) { fillDisk(r) }, `who needs one pulls it again|\bdu\b|df -h;`, `df -h /var/lib/containerd.*rmi --prune.*a registry has them.*RISK: an image that was loaded by hand or comes from no registry is gone for good`},
		{"an answer that cannot be read", "", healthy(3).fail(call.ListContainers, call.ErrUnreadable, garbled, 20), nil, `crictl (rm|rmp) `, `through its owner`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.node.input()
			r := looked(tt.node)
			if tt.change != nil {
				tt.change(tt.node, r)
			}
			in.Evidence, in.Endpoint = r, tt.endpoint
			if tt.endpoint == "" {
				in.Endpoint = "unix://" + ourSocket
			}
			found := Diagnose(in)
			if len(found) == 0 {
				t.Fatal("nothing is found")
			}
			said := ""
			for _, f := range found {
				keepsTheRules(t, f)
				said += fmt.Sprintln(f.Next)
			}
			if tt.never != "" && regexp.MustCompile(tt.never).MatchString(said) || !regexp.MustCompile("(?s)"+tt.want).MatchString(said) {
				t.Errorf("never %q, but %q:\n%s", tt.never, tt.want, said)
			}
		})
	}
}

// A kubelet that does nothing writes its goroutines after a signal to it alone. If it shares its unit with the runtime
// and the shims, it gets no signal.
func TestAStuckKubeletAloneGetsASignal(t *testing.T) {
	for endpoint, want := range map[string]string{
		"unix://" + ourSocket: "kill -ABRT 4711", "unix:///run/k3s/containerd/containerd.sock": "it also restarts the kubelet, and on a server the API server",
	} {
		v := healthy(3).facts()
		v.Endpoint = endpoint
		steps := v.advise("kubelet.stuck", processValues(evidence.Process{PID: 4711, Start: 7}))
		keepsTheRules(t, Finding{ID: KubeletStuck, Next: steps})
		if said := fmt.Sprint(steps); strings.Contains(said, "systemctl kill") || !strings.Contains(said, want) || strings.Contains(said, "ABRT") != (endpoint == "unix://"+ourSocket) {
			t.Errorf("%s: %s", endpoint, said)
		}
	}
}

// The entries of another namespace have the same names: both the namespace and the name choose what is removed.
func TestRemovalKnowsTheNamespace(t *testing.T) {
	for _, r := range knowledge.Remedies() {
		for _, a := range r.Steps {
			if strings.Contains(a.Act, "pod.name") && !strings.Contains(a.Act, "pod.namespace={namespace}") {
				t.Errorf("%s: %s", r.Culprit, a.Act)
			}
		}
	}
}

// A node whose services systemd does not manage gets no systemd commands.
func TestNoSystemctlWithoutSystemd(t *testing.T) {
	for unit, want := range map[string]string{"k3s": "rc-service k3s restart", "snap.microk8s.daemon-containerd.service": "snap restart microk8s.daemon-containerd"} {
		n := healthy(3).condition(runtimeReady)
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix:///run/k3s/containerd/containerd.sock"
		in.Evidence.Processes.Daemons[0].Unit = unit
		if strings.HasPrefix(unit, "snap.") {
			in.Endpoint = "unix:///var/snap/microk8s/common/run/containerd.sock"
		}
		said := fmt.Sprint(Diagnose(in))
		if !strings.Contains(said, want) || strings.Contains(said, "systemctl") || strings.Contains(said, "journalctl") {
			t.Errorf("%s: %s", unit, said)
		}
	}
}

// If the processes of the runtime and the kubelet are gone, the folder of the init system shows which init system runs.
func TestNoSystemctlWithoutAnyProcess(t *testing.T) {
	n := healthy(3).dead(40)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix:///run/k3s/containerd/containerd.sock"
	in.Evidence.Processes.Daemons, in.Evidence.Init = nil, "openrc"
	said := fmt.Sprint(Diagnose(in))
	if strings.Contains(said, "systemctl") || strings.Contains(said, "journalctl") || !strings.Contains(said, "/var/log/messages") {
		t.Error(said)
	}
}

// k3s and RKE2 write the log of their containerd to a file, and RKE2 that of its kubelet.
func TestLogsInFiles(t *testing.T) {
	for unit, want := range map[string][2]string{
		"k3s.service":         {"tail -n 300 /var/lib/rancher/k3s/agent/containerd/containerd.log", "timeout 5 journalctl -n 300 --no-pager -u k3s"},
		"rke2-server.service": {"tail -n 300 /var/lib/rancher/rke2/agent/containerd/containerd.log", "tail -n 300 /var/lib/rancher/rke2/agent/logs/kubelet.log"},
	} {
		in := healthy(3).input()
		in.Evidence, in.Endpoint = looked(healthy(3)), "unix:///run/k3s/containerd/containerd.sock"
		in.Evidence.Processes.Daemons = in.Evidence.Processes.Daemons[:1]
		in.Evidence.Processes.Daemons[0].Unit = unit
		v := factsOf(in)
		if got := [2]string{v.logs()[0].Command, v.advise("kubelet.stuck", nil)[0].Command}; got != want {
			t.Errorf("%s: %q, want %q", unit, got, want)
		}
	}
}

// A process of a container that waits for a server may be killed; a process of the runtime may not.
func TestOnlyAContainersProcessIsKilled(t *testing.T) {
	n := healthy(3)
	in := n.input()
	in.Evidence = looked(n)
	v := factsOf(in)
	nas := evidence.Mount{Point: "/data", Type: "nfs4", Source: "nas:/x", Device: "0:52", Node: "/srv/data"}
	app := in.Evidence.Processes.Containers["container-1-0"][0]
	for p, want := range map[*evidence.Process]bool{&app: true, shimOf(in.Evidence, 1): false, &in.Evidence.Processes.Daemons[0]: false} {
		p.State = evidence.Uninterrupted
		if said := fmt.Sprint(v.freeingMount(*p, nas)); strings.Contains(said, fmt.Sprintf("kill -9 %d", p.PID)) != want {
			t.Errorf("%s: %s", p.Command, said)
		}
	}
}

// A socket may be lost because the folder around it was emptied: then a restart forgets everything that runs.
func TestALostSocketLooksForTheShims(t *testing.T) {
	n := healthy(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
	in.Evidence.State.Path = "/run/containerd"
	steps := factsOf(in).newSocket()
	last := steps[len(steps)-1]
	if said := fmt.Sprint(steps); !strings.Contains(said, "ls /run/containerd/io.containerd.runtime.v2.task/k8s.io") || last.Command != "systemctl restart containerd" || last.When != "the folders of the check are there" {
		t.Error(said)
	}
}

// On Talos only the kubelet can be restarted alone: for the runtime the step says what restarts it.
func TestRestartsOnTalos(t *testing.T) {
	n := healthy(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
	in.Evidence.OS = "talos"
	v := factsOf(in)
	if s := v.restart("x")[0]; s.Command != "" || !strings.Contains(s.Text, "talosctl --nodes NODE reboot") {
		t.Errorf("runtime: %v", s)
	}
	restarted := func(s Step) bool { return s.Command == "talosctl --nodes NODE service kubelet restart" }
	if steps := v.advise("events.lost", nil); !slices.ContainsFunc(steps, restarted) {
		t.Errorf("kubelet: %v", steps)
	}
}

// No step uses a runtime that does not answer.
func TestNoCrictlWhereNothingIsAnswered(t *testing.T) {
	for name, n := range map[string]*node{
		"silent": healthy(5).hang(call.ListPodSandbox, 20*time.Second).hang(call.Version, 20*time.Second).hang(call.Status, 20*time.Second),
		"down":   healthy(5).dead(40),
	} {
		in := n.input()
		in.Evidence = looked(n)
		fillDisk(in.Evidence)
		for _, f := range Diagnose(in) {
			if said := fmt.Sprint(f.Next); strings.Contains(said, "crictl ") && f.ID != ListHung {
				t.Errorf("%s: %s: %s", name, f.ID, said)
			}
		}
	}
}

// If a step is said to have no risk, the reason is beside it.
func TestNoRiskIsArgued(t *testing.T) {
	table, err := os.ReadFile("../knowledge/remedies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(table), "\n") {
		if risk, is := strings.CutPrefix(strings.TrimSpace(line), "risk: none"); is && !strings.HasPrefix(risk, " # ") {
			t.Errorf("line %d: %s", i+1, line)
		}
	}
}

// The risk of a restart of the runtime says what it costs, on every kind of node.
func TestARestartHasItsRisk(t *testing.T) {
	for _, r := range knowledge.Remedies() {
		for _, a := range r.Steps {
			if strings.Contains(a.Act, "{runtime.restart}") && !strings.Contains(a.Risk, "{livesOn}") {
				t.Errorf("%s: %s", r.Culprit, a.Risk)
			}
			if strings.Contains(a.Act, ".restart}") && !strings.Contains(a.Risk, "until it") {
				t.Errorf("%s: %s", r.Culprit, a.Risk)
			}
		}
	}
	n := healthy(3)
	v := n.facts()
	v.Endpoint = "unix:///run/k3s/containerd/containerd.sock"
	if again := v.restart("x"); len(again) != 1 || again[0].Scope != "node" || !strings.Contains(again[0].Risk, "API server") {
		t.Errorf("%+v", again)
	}
}
