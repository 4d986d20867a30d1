package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// Nobody has to fill in anything in a command, and a command that checks something changes nothing.
var (
	toFillIn = regexp.MustCompile(`\b(NAMESPACE|UNIT|NODE|POD|NAME|ID)\b`)
	changes  = regexp.MustCompile(`(^|[;&|] *)(dd|rm|mv|kill|pkill -9|umount|mount|mktemp|fsck|sysctl -w|kubectl delete|systemctl (re)?start|ctr .* kill|crictl .*(rm|rmp|rmi|stop|stopp) ) |[^2]> ?/[^d]`)
)

// answered checks that a finding has a step that shows more of it and a step that ends it, or says in words what to do
// if no command ends it. The tests of all rules call it.
func answered(t *testing.T, f Finding) {
	t.Helper()
	check, act := f.check(), f.act()
	if check.Command == "" || act == (Step{}) {
		t.Errorf("%s: %s\n  check %q\n  act %q of %q", f.ID, f.Summary, check, act, f.Next)
	}
	keepsTheRules(t, f)
	for _, s := range f.Next {
		if toFillIn.MatchString(strings.ReplaceAll(s.Command, "/ID/g", "")) || s.Looks() && changes.MatchString(s.Command) || s.Text == "" {
			t.Errorf("%s: step %q", f.ID, s)
		}
	}
}

// The step that ends a finding is what an operator does about its likely cause.
func TestWhatEndsIt(t *testing.T) {
	const restart = "systemctl restart containerd"
	disk := func(r *evidence.Report) {
		r.Disk.Mount = evidence.Mount{Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}
	}
	lost := func(kind string, holder evidence.Process) func(*node, *evidence.Report) {
		return func(n *node, r *evidence.Report) {
			n.fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 20).fail(call.Status, call.ErrUnavailable, notThere, 4).neverAnswered()
			r.Socket = evidence.Socket{Kind: kind, Holder: holder, Unlinked: evidence.Process{PID: 5, Command: "containerd"}}
		}
	}
	condition := func(name, pod string) func(*node, *evidence.Report) {
		return func(n *node, _ *evidence.Report) {
			n.condition(name)
			if pod != "" {
				n.pod(1).Namespace, n.pod(1).Name = "kube-system", pod
			}
		}
	}
	for _, tt := range []struct {
		name       string
		change     func(*node, *evidence.Report)
		id         ID
		check, act string // their commands; of act its text where it has none
	}{
		{"socket gone", lost("", evidence.Process{}), RuntimeDown, "ls -ld " + ourSocket, restart},
		{"a folder in its place", lost("folder", evidence.Process{}), RuntimeDown, "ls -ld", "mv -T " + ourSocket + " " + ourSocket + ".old"},
		{"another program in its place", lost("socket", evidence.Process{PID: 77, Command: "nc"}), RuntimeDown, "-p 77", "kill 77"},
		{"not running", func(n *node, r *evidence.Report) {
			lost("", evidence.Process{})(n, r)
			r.Socket, r.Processes.Daemons = evidence.Socket{}, nil
		}, RuntimeDown, "systemctl status", "systemctl start containerd"},
		{"runtime not ready", condition("RuntimeReady", ""), RuntimeNotReady, "journalctl -n 300 --no-pager -u containerd", restart},
		{"network not ready", condition("NetworkReady", "calico-node-x7k2p"), NetworkNotReady, "crictl logs --tail=50 container-1-0", "get the network plugin's pod to run"},
		{"network of nobody", condition("NetworkReady", "cilium-operator-x7k2p"), NetworkNotReady, "ls -l /etc/cni/net.d", "A restart of the runtime does not"},
		{"a disk that loses writes", func(_ *node, r *evidence.Report) {
			disk(r)
			r.Kernel.Lines = []evidence.KernelLine{{Kind: "I/O error", About: knowledge.AboutDisk, Age: time.Second, Text: "lost async page write", Device: "sdb1", Failed: "write", Count: 1}}
		}, StoreFailing, "dmesg", "drain the node with --timeout=5m"},
		{"a disk that is gone", func(_ *node, r *evidence.Report) {
			disk(r)
			r.Disk.Broken, r.Disk.Missing = true, "input/output error"
		}, StoreFailing, "dmesg", "drain the node with --timeout=5m"},
		{"a read-only store", func(_ *node, r *evidence.Report) { r.Disk.ReadOnly = "it is mounted read-only" }, StoreFailing, "dmesg", "drain the node with --timeout=5m"},
		{"no room for images", func(_ *node, r *evidence.Report) { r.Disk.Free, r.Disk.Left = 0, 0 }, DiskFull, "df -h /var/lib/containerd", "crictl rmi --prune"},
		{"no room for the state", func(_ *node, r *evidence.Report) {
			r.State = evidence.Disk{Path: "/run/containerd", Mount: evidence.Mount{Type: "tmpfs", Device: "0:24", Node: "/run"}, Total: 800 << 20, Inodes: 1000, InodesUnused: 900}
		}, DiskFull, "df -h /run/containerd", "mount -o remount,size=1638400k,nr_inodes=2000 /run"},
		{"files of the runtime", func(_ *node, r *evidence.Report) {
			r.Limits = []evidence.Limit{{What: evidence.OpenFiles, Of: "containerd", PID: 5, Used: 1000, Most: 1024, Hard: 524288, Path: "/proc/5/limits"}}
		}, LimitsNear, "ls -l /proc/5/fd", "prlimit --pid 5 --nofile=524288:524288"},
		{"files of the node", func(_ *node, r *evidence.Report) {
			r.Limits = []evidence.Limit{{What: evidence.OpenFiles, Used: 1000, Most: 1024, Path: "/proc/sys/fs/file-nr"}}
		}, LimitsNear, "cat /proc/sys/fs/file-nr", "sysctl -w fs.file-max=2048"},
		{"the clock", func(_ *node, r *evidence.Report) {
			r.Clock = evidence.Clock{Watched: time.Hour, Step: time.Minute, Steps: 1}
		}, ClockStep, "timedatectl status", "timedatectl set-ntp true"},
		{"a crash", func(n *node, _ *evidence.Report) {
			n.instances(0, "app", instance{6, false, 40 * time.Second, 2 * time.Second, 137, "OOMKilled"})
		}, CrashLoop, "crictl logs", "raise the memory limit of ns-0/pod-00000"},
		{"a crash by its own", func(n *node, _ *evidence.Report) {
			n.instances(0, "app", instance{6, false, 40 * time.Second, 2 * time.Second, 1, "Error"})
		}, CrashLoop, "crictl logs", "roll back the last change of ns-0/pod-00000"},
		{"a disk without answer", func(_ *node, r *evidence.Report) {
			p := &r.Processes.Daemons[0]
			p.State, p.For, p.Stack = evidence.Uninterrupted, time.Minute, []string{"folio_wait_bit"}
			p.Mount = evidence.Mount{Point: "/data", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}
		}, ProcessStuck, "ps -eLo", "no command on the node ends it"},
		{"a server without answer", func(_ *node, r *evidence.Report) {
			p := &r.Processes.Daemons[0]
			p.State, p.For, p.Stack = evidence.Uninterrupted, time.Minute, []string{"wait_for_response"}
			p.Mount = evidence.Mount{Point: "/data", Type: "cifs", Source: "//nas/x", Device: "0:52"}
		}, ProcessStuck, "ps -eLo", "bring the file server back"},
		{"a program without answer", func(_ *node, r *evidence.Report) {
			p := &r.Processes.Daemons[0]
			p.State, p.For, p.Wchan = evidence.Uninterrupted, time.Minute, "request_wait_answer"
		}, ProcessStuck, "ps -o", "end the program that serves it"},
		{"a churn", func(n *node, r *evidence.Report) {
			more := healthy(300)
			for i, p := range more.Pods {
				p.Namespace, p.Name = "batch", "import-"+hash(i)
				p.Old.Sandboxes[0].CreatedAt = ago(time.Minute)
			}
			slices.SortFunc(more.Pods, func(a, b *engine.Pod) int { return a.PodRef.Compare(b.PodRef) })
			n.Snapshot = more.relisted(engine.Relist{Took: 9 * time.Millisecond}, engine.Relist{Took: 40 * time.Second, List: 30 * time.Millisecond, Inspected: 280}).Snapshot
			*r = *looked(n)
		}, RelistSlowChurn, "crictl ps -a --last 50", "suspend or spread batch/import (300 of 300 changed pods)"},
		{"pods without an address", func(n *node, r *evidence.Report) {
			n.Snapshot = healthy(5).noAddress(4, time.Minute).Snapshot
			*r = *looked(n)
			n.pod(4).Namespace, n.pod(4).Name = "kube-system", "kube-flannel-ds-x7k2p"
		}, NoAddress, "crictl logs --tail=50 container-4-0", "give the node's range more addresses"},
		{"a stopped runtime", func(_ *node, r *evidence.Report) { r.Processes.Daemons[0].State = evidence.Stopped }, ProcessStuck, "ps -o", "kill -CONT 1019"},
		{"orphans", func(_ *node, r *evidence.Report) { shimOf(r, 1).Sandbox = "lost" }, OrphanShims, "ps -o", "kill -9 1007"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := checked(3)
			in := n.input()
			in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
			tt.change(n, in.Evidence)
			found := Diagnose(in)
			if len(found) == 0 {
				t.Fatal("nothing found")
			}
			f := RootCause(found)
			check, act := f.check(), f.act()
			if f.ID != tt.id || !strings.Contains(check.Command, tt.check) || !strings.Contains(act.Command+"# "+act.Text, tt.act) {
				t.Errorf("%s: check %q, act %q of %q, want %q and %q", f.ID, check, act, f.Next, tt.check, tt.act)
			}
		})
	}
}

// An entry that cannot be read is shown without the CRI, by the id that the error names: the CRI cannot remove what it
// cannot read.
func TestUnreadableEntryIsShown(t *testing.T) {
	for text, want := range map[string]string{garbled: "ctr -n k8s.io containers info 3f2a", "unreadable answer: string field contains invalid UTF-8": "journalctl"} {
		n := healthy(3).fail(call.ListPodSandbox, call.ErrUnreadable, text, 20)
		found := n.diagnose()
		if len(found) == 0 || found[0].ID != UnreadableAnswer {
			t.Fatalf("found %s", gist(found))
		}
		if act := found[0].act(); act.Command != "" || !strings.Contains(act.Text, "through its owner") || !strings.Contains(fmt.Sprint(found[0].Next), want) {
			t.Errorf("%q, want %q", found[0].Next, want)
		}
	}
}

// Before a step deletes the pod that sets up the network, another step shows the state of that pod.
func TestNetworkStateIsSaid(t *testing.T) {
	n := healthy(3)
	n.condition(networkReady)
	n.pod(1).Namespace, n.pod(1).Name = "kube-system", "cilium-x7k2p"
	got := find(&networkNotReady, factsOf(n.input()))
	want := "the pod that sets up the network is kube-system/cilium-x7k2p: 2 of 2 containers running"
	if len(got) != 1 || !slices.Contains(got[0].Evidence, want) {
		t.Errorf("%+v, want evidence %q", got, want)
	}
}

// A command has ids as short as crictl prints them, so that the command and its purpose fit on one line.
func TestShortIDs(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	v := factsOf(healthy(1).input())
	for want, given := range map[string]string{"0123456789abc": id, id[1:]: id[1:]} {
		if got, _ := v.command("{crictl} inspect {id}", Values{"id": short(given)}); !strings.HasSuffix(got, "inspect "+want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
