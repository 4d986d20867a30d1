package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// saidByNode returns what a diagnosis reports for one kind of finding in the node's own words.
func saidByNode(findings []Finding, id ID) (lines []string) {
	for _, f := range findings {
		for _, line := range f.Evidence {
			for _, begin := range []string{"the kernel, ", "in flight in the runtime", "the runtime warns", "containerd.service ", "kubelet.service ", "k3s.service "} {
				if f.ID == id && strings.HasPrefix(line, begin) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

// putInKernel puts a process into the kernel for long, for a file system.
func putInKernel(p *evidence.Process, m evidence.Mount) {
	p.State, p.For, p.Mount = evidence.Uninterrupted, time.Minute, m
}

func TestWhatTheKernelSaid(t *testing.T) {
	nas, disk := evidence.Mount{Point: "/data", Type: "nfs4", Source: "nas:/vol", Device: "0:51"}, evidence.Mount{Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}
	line := func(kind string, about knowledge.About, device, command string, pid int) evidence.KernelLine {
		return evidence.KernelLine{Kind: kind, About: about, Device: device, Command: command, PID: pid, Age: 2 * time.Minute, Text: kind, Count: 1}
	}
	hung := func(pid int) evidence.KernelLine { return line("hung task", knowledge.AboutTask, "", "x", pid) }
	list := func() *node { return healthy(3).hang(call.ListContainers, 10*time.Second).probesAnswered() }
	inspect := func() *node { return healthy(3).hangOn(1, "app", 10*time.Second).probesAnswered() }
	none := func(*evidence.Report) {}
	pool := evidence.Mount{Point: "/data", Type: "zfs", Source: "tank/db", Device: "0:77"}
	const unitGroup = "/system.slice/containerd.service"
	listLong := func() *node { return healthy(3).hang(call.ListContainers, 2*time.Minute).probesAnswered() }
	killed := func(command, group string) evidence.KernelLine {
		l := line("oom kill", knowledge.AboutKill, "", command, 9)
		l.Group = group
		return l
	}
	seenKilled := killed("containerd", "")
	seenKilled.Own = true
	for _, tt := range []struct {
		name   string
		node   *node
		change func(*evidence.Report)
		line   evidence.KernelLine
		of     ID
		said   bool
	}{
		{"the runtime", list(), none, line("hung task", knowledge.AboutTask, "", "containerd", 99), ListHung, true},
		{"another program", list(), none, line("hung task", knowledge.AboutTask, "", "java", 99), ListHung, false},
		{"a process of the object", inspect(), func(r *evidence.Report) { r.Processes.Containers["container-1-0"][0].PID = 77 }, hung(77), InspectHung, true},
		{"a thread of it", inspect(), func(r *evidence.Report) { r.Processes.Containers["container-1-0"][0].Thread = 78 }, hung(78), InspectHung, true},
		{"a process of another pod", inspect(), func(r *evidence.Report) { r.Processes.Containers["container-2-0"][0].PID = 77 }, hung(77), InspectHung, false},
		{"no process", inspect(), none, hung(0), InspectHung, false},
		{"the server", inspect(), func(r *evidence.Report) { putInKernel(&r.Processes.Containers["container-1-0"][0], nas) }, line("file server silent", knowledge.AboutServer, "nas", "", 0), InspectHung, true},
		{"another server", inspect(), func(r *evidence.Report) { putInKernel(&r.Processes.Containers["container-1-0"][0], nas) }, line("file server silent", knowledge.AboutServer, "nas2", "", 0), InspectHung, false},
		{"the server of another pod", inspect(), func(r *evidence.Report) { putInKernel(&r.Processes.Containers["container-2-0"][0], nas) }, line("file server silent", knowledge.AboutServer, "nas", "", 0), InspectHung, false},
		{"a server that nobody waits for", list(), none, line("file server silent", knowledge.AboutServer, "nas", "", 0), ListHung, false},
		{"the server of those that wait together", healthy(3), func(r *evidence.Report) {
			putInKernel(&r.Processes.Containers["container-1-0"][0], nas)
			putInKernel(&r.Processes.Containers["container-2-0"][0], nas)
		}, line("file server silent", knowledge.AboutServer, "nas", "", 0), ProcessStuck, true},
		{"the disk of the store", healthy(3), func(r *evidence.Report) { r.Disk.ReadOnly, r.Disk.Mount = "it is", disk }, line("file system read-only", knowledge.AboutDisk, "sdb1", "", 0), StoreFailing, true},
		{"the whole disk", healthy(3), func(r *evidence.Report) { r.Disk.ReadOnly, r.Disk.Mount = "it is", disk }, line("I/O error", knowledge.AboutDisk, "sdb", "", 0), StoreFailing, true},
		{"another disk", healthy(3), func(r *evidence.Report) { r.Disk.ReadOnly, r.Disk.Mount = "it is", disk }, line("I/O error", knowledge.AboutDisk, "sdb12", "", 0), StoreFailing, false},
		{"a disk, where nobody knows for which a process waits", healthy(3), func(r *evidence.Report) { putInKernel(&r.Processes.Containers["container-1-0"][0], evidence.Mount{}) }, line("device offline", knowledge.AboutDisk, "sdb", "", 0), ProcessStuck, true},
		{"another disk than the one that it waits for", healthy(3), func(r *evidence.Report) { putInKernel(&r.Processes.Containers["container-1-0"][0], disk) }, line("device offline", knowledge.AboutDisk, "sdc", "", 0), ProcessStuck, false},
		{"its pool", healthy(3), func(r *evidence.Report) { putInKernel(&r.Processes.Containers["container-1-0"][0], pool) }, line("pool suspended", knowledge.AboutDisk, "tank", "", 0), ProcessStuck, true},
		{"another pool", healthy(3), func(r *evidence.Report) { putInKernel(&r.Processes.Containers["container-1-0"][0], pool) }, line("pool suspended", knowledge.AboutDisk, "spare", "", 0), ProcessStuck, false},
		{"the session of a disk", healthy(3), func(r *evidence.Report) { putInKernel(&r.Processes.Containers["container-1-0"][0], disk) }, line("disk server silent", knowledge.AboutSession, "session1", "", 0), ProcessStuck, true},
		{"the session of a disk, while it waits for a file server", healthy(3), func(r *evidence.Report) { putInKernel(&r.Processes.Containers["container-1-0"][0], nas) }, line("disk server silent", knowledge.AboutSession, "session1", "", 0), ProcessStuck, false},
		{"any disk where all wait for one", healthy(3), func(r *evidence.Report) { r.Pressure.IO = evidence.Stall{Full10: 80, Full60: 80} }, line("I/O error", knowledge.AboutDisk, "sdx", "", 0), HostPressure, true},
		{"a device that is in use", list(), none, line("network device in use", knowledge.AboutNetwork, "veth1", "", 0), ListHung, true},
		{"a shim was killed", listLong(), none, killed("containerd-shim", unitGroup), ListHung, true},
		{"the runtime, which was seen", listLong(), none, seenKilled, ListHung, true},
		{"a shim in its pod", listLong(), none, killed("containerd-shim", "/kubepods/burstable/poduid-2/x"), ListHung, true},
		{"a shim in its pod, with systemd", listLong(), none, killed("containerd-shim", "/kubepods.slice/kubepods-poduid_2.slice/x.scope"), ListHung, true},
		{"a shim in another kubelet's pod", listLong(), none, killed("containerd-shim", "/kubepods/burstable/poduid-9/x"), ListHung, false},
		{"a runtime in a container", listLong(), none, killed("containerd", "/docker/0123"+unitGroup), ListHung, false},
		{"another service's", listLong(), none, killed("containerd", "/system.slice/docker.service"), ListHung, false},
		{"nobody knows whose", listLong(), none, killed("containerd", ""), ListHung, false},
		{"long before the hang", list(), none, killed("containerd", unitGroup), ListHung, false},
		{"before check, which does not know when it began", checked(3).fail(call.ListContainers, call.ErrDeadline, tooLate, 1), none, killed("containerd", unitGroup), ListHung, true},
		{"a program was killed", listLong(), none, killed("java", unitGroup), ListHung, false},
		{"no shim of this object", healthy(3).hangOn(1, "app", 2*time.Minute).probesAnswered(), none, killed("containerd-shim", unitGroup), InspectHung, false},
		{"a kind that nobody knows", list(), none, line("other", "", "", "containerd", 0), ListHung, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := looked(tt.node)
			tt.change(r)
			tt.node.saw(r)
			in := tt.node.input()
			in.Evidence, in.Endpoint = r, "unix://"+ourSocket
			before := Diagnose(in)
			r.Kernel.Lines = []evidence.KernelLine{tt.line}
			got := Diagnose(in)
			var want []string
			if tt.said {
				want = []string{"the kernel, 2m0s ago: " + tt.line.Kind}
			}
			if diff := cmp.Diff(want, saidByNode(got, tt.of)); diff != "" || !has(got, tt.of) {
				t.Errorf("of %v is said (-want +got):\n%s", ids(got), diff)
			}
			if !slices.Equal(ids(before), ids(got)) {
				t.Errorf("it makes findings %v of %v", ids(got), ids(before))
			}
		})
	}
}

// The lines of the members stay the last ones.

// If there are many lines, the few youngest are shown.
func TestKernelSaysNotTooMuch(t *testing.T) {
	n := healthy(3).hang(call.ListContainers, 10*time.Second).probesAnswered()
	in := n.input()
	in.Evidence = looked(n)
	for i := range 9 {
		in.Evidence.Kernel.Lines = append(in.Evidence.Kernel.Lines, evidence.KernelLine{Kind: "network device in use", About: knowledge.AboutNetwork, Age: time.Duration(i) * time.Second, Text: "x", Count: i + 1})
	}
	want := []string{"the kernel, less than 1s ago: x", "the kernel, 1s ago: x (2 times)", "the kernel, 2s ago: x (3 times)"}
	if diff := cmp.Diff(want, saidByNode(Diagnose(in), ListHung)); diff != "" {
		t.Error(diff)
	}
}

func TestCallsOfEverybody(t *testing.T) {
	n := healthy(3).hang(call.ListContainers, 2*time.Minute).probesAnswered()
	in := n.input()
	in.Evidence = looked(n)
	in.Evidence.Deep = &evidence.Deep{Calls: evidence.RuntimeCalls{InFlight: []evidence.InFlight{
		{Method: "ContainerStatus", Count: 1, For: time.Second}, {Method: "GetContainerEvents", Count: 1, For: time.Hour},
		{Method: "ListContainers", Count: 3, For: 2 * time.Minute}, {Method: "StopContainer", Count: 1}, {Method: "UpdateContainerResources", Count: 1, For: 10 * time.Minute},
	}}}
	want := []string{"in flight in the runtime (all clients): UpdateContainerResources 1 in flight for at least 10m0s, ListContainers 3 in flight for at least 2m0s, StopContainer 1 in flight"}
	if diff := cmp.Diff(want, saidByNode(Diagnose(in), ListHung)); diff != "" {
		t.Error(diff)
	}
	in.Evidence.Deep.Calls.InFlight = in.Evidence.Deep.Calls.InFlight[:2]
	if got := saidByNode(Diagnose(in), ListHung); got != nil {
		t.Errorf("of calls that are no news: %q", got)
	}
}

func TestWhatTheInitSystemSays(t *testing.T) {
	down := func() *node {
		return healthy(3).fail(call.Status, call.ErrUnavailable, "refused", 9).fail(call.ListContainers, call.ErrUnavailable, "refused", 9).fail(call.Version, call.ErrUnavailable, "refused", 9)
	}
	for _, tt := range []struct {
		name string
		node *node
		of   ID
		unit evidence.Unit
		want string
	}{
		{"it comes and goes", down(), RuntimeDown, evidence.Unit{Name: "containerd.service", State: "activating (auto-restart)", Restarts: 12}, "containerd.service is activating (auto-restart), restarted 12 times by systemd"},
		{"it failed", down(), RuntimeDown, evidence.Unit{Name: "containerd.service", State: "failed (failed)"}, "containerd.service is failed (failed)"},
		{"it has just come", down(), RuntimeDown, evidence.Unit{Name: "containerd.service", State: "active", Restarts: 1, Up: 3 * time.Second}, "containerd.service was started 3s ago, restarted once by systemd"},
		{"nobody but the looks tells", down(), RuntimeDown, evidence.Unit{Name: "k3s.service", Restarts: 2, Up: 3 * time.Second}, "k3s.service was started 3s ago, restarted 2 times since plegtop began"},
		{"long ago", down(), RuntimeDown, evidence.Unit{Name: "containerd.service", State: "active", Restarts: 12, Up: time.Hour}, ""},
		{"nothing is known", down(), RuntimeDown, evidence.Unit{Name: "containerd.service"}, ""},
		{"not the kubelet's", down(), RuntimeDown, evidence.Unit{Name: "kubelet.service", State: "failed"}, ""},
		{"under another finding", healthy(3).condition("NetworkReady"), NetworkNotReady, evidence.Unit{Name: "containerd.service", State: "failed"}, ""},
	} {
		in := tt.node.input()
		in.Evidence = looked(tt.node)
		in.Evidence.Deep = &evidence.Deep{Units: evidence.Units{All: []evidence.Unit{tt.unit}}}
		got := Diagnose(in)
		if said := strings.Join(saidByNode(got, tt.of), "; "); said != tt.want || !has(got, tt.of) {
			t.Errorf("%s: of %v is said %q, want %q", tt.name, ids(got), said, tt.want)
		}
	}
}

// The runtime's own warnings are shown if it is not ready, and are no finding.
func TestDeprecatedConfiguration(t *testing.T) {
	warns := func(n *node, message string) []Finding {
		n.Conditions = append(n.Conditions, pleg.Condition{Type: noWarnings, Reason: "ContainerdHasDeprecationWarnings", Message: message})
		return n.diagnose()
	}
	if got := warns(healthy(3), `{"a":"b"}`); got != nil {
		t.Errorf("found %+v", got)
	}
	for message, want := range map[string][]string{
		`{"io.containerd.deprecation/x":"cgroup v1 goes","io.containerd.deprecation/a":"mirrors go"}`: {"the runtime warns: mirrors go", "the runtime warns: cgroup v1 goes"},
		`{"1":"a","2":"b","3":"c","4":"d"}`: {"the runtime warns: a", "the runtime warns: b", "the runtime warns: c"},
		"in plain words":                    {"the runtime warns: in plain words"},
		`{}`:                                {"the runtime warns: {}"},
		"":                                  {"the runtime warns: ContainerdHasDeprecationWarnings"},
	} {
		got := saidByNode(warns(healthy(3).condition("RuntimeReady"), message), RuntimeNotReady)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", message, diff)
		}
	}
}

func TestPartOfADisk(t *testing.T) {
	for _, tt := range []struct {
		source, device string
		want           bool
	}{
		{"/dev/sdb1", "sdb", true},
		{"/dev/sdb1", "sdb1", true},
		{"/dev/sdb12", "sdb1", false},
		{"/dev/dm-12", "dm-1", false},
		{"/dev/nvme0n1p3", "nvme0n1", true},
		{"/dev/nvme0n1p3", "nvme0", true},
		{"/dev/dm-0", "dm-0", true},
		{"/dev/sdbc", "sdb", false},
		{"/dev/sdb", "sdb1", false},
		{"/dev/sdb", "", false},
		{"nas:/sdb", "sdb", false},
		{"", "", false},
	} {
		if got := isPartOf(tt.source, tt.device); got != tt.want {
			t.Errorf("%s on %s: %v", tt.source, tt.device, got)
		}
	}
	for source, want := range map[string]string{"nas:/vol": "nas", "[fe80::1]:/vol": "fe80::1", "//nas/share": "nas", "/dev/sda": "", "tmpfs": ""} {
		if got := serverOf(evidence.Mount{Source: source}); got != want {
			t.Errorf("server of %s: %q", source, got)
		}
	}
}

func TestProcessesBehindAFinding(t *testing.T) {
	n := healthy(2)
	r := looked(n)
	r.Processes.Helpers = []evidence.Process{{PID: 9, Command: "bridge", Verb: "CNI ADD", Pod: pleg.PodRef{Namespace: "ns", Name: "web"}}, {PID: 10, Command: "runc", Container: "container-1-0"}}
	putInKernel(&r.Processes.Containers["container-0-0"][0], evidence.Mount{Type: "nfs4", Source: "nas:/vol", Device: "0:51"})
	in := n.input()
	in.Evidence = r
	v := factsOf(in)
	stuck := r.Processes.Containers["container-0-0"][0].PID
	for _, tt := range []struct {
		name string
		f    Finding
		want []int
	}{
		{"of a container", Finding{Subject: Subject{ObjectRef: pleg.ObjectRef{ID: "container-1-0"}}}, []int{10, r.Processes.Containers["container-1-0"][0].PID, r.Processes.Containers["container-1-0"][1].PID}},
		{"of a plugin's pod", Finding{Subject: Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "ns", Name: "web"}}}}, []int{9}},
		{"of another pod", Finding{Subject: Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "ns", Name: "api"}}}}, nil},
		{"of a chain", Finding{Subject: Subject{ObjectRef: pleg.ObjectRef{ID: "x"}}, Nodes: []string{"container container-0-0"}}, []int{stuck}},
		{"of what a process waits for", Finding{Group: "file system " + "0:51", Members: make([]Subject, 1), Nodes: []string{"mount 0:51"}}, []int{stuck}},
	} {
		var got []int
		for _, p := range v.behindFinding(&tt.f) {
			got = append(got, p.PID)
		}
		if slices.Sort(got); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	all := v.behindFinding(&Finding{ID: ListHung})
	if want := len(r.Processes.Shims) + len(r.Processes.Helpers) + len(r.Processes.Daemons) + 1; len(all) != want {
		t.Errorf("of all: %d processes, want %d", len(all), want)
	}
}
