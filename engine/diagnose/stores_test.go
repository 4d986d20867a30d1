package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

func TestDiskFull(t *testing.T) {
	state := func(r *evidence.Report, free uint64) {
		r.State = evidence.Disk{Path: "/run/containerd", Mount: evidence.Mount{Type: "tmpfs", Device: "0:24"}, Total: 800 << 20, Free: free, Left: free}
	}
	runHostTests(t, by(&diskFull), checked, []hostTest{
		{"nearly full", func(_ *node, r *evidence.Report) { r.Disk.Free = 3 << 30 }, "the runtime's data has hardly any room: 3.0 GiB of 200.0 GiB free (1.5 %) in /var/lib/containerd", Warning, Subject{}},
		{"only root's reserve", func(_ *node, r *evidence.Report) { r.Disk.Free = 0 }, "the runtime's data has hardly any room: 0 B of", Warning, Subject{}},
		{"full", func(_ *node, r *evidence.Report) { r.Disk.Free, r.Disk.Left = 0, 0 }, "the runtime's data has hardly any room: 0 B of", Critical, Subject{}},
		{"small share of a large disk", func(_ *node, r *evidence.Report) { r.Disk.Total, r.Disk.Free = 4<<40, 100<<30 }, "", 0, Subject{}},
		{"few inodes", func(_ *node, r *evidence.Report) { r.Disk.InodesUnused = 1000 }, "the runtime's data has hardly an inode left: 1,000 of 1,048,576", Warning, Subject{}},
		{"no inode", func(_ *node, r *evidence.Report) { r.Disk.InodesUnused = 0 }, "the runtime's data has hardly an inode left: 0 of", Critical, Subject{}},
		{"no table of inodes", func(_ *node, r *evidence.Report) { r.Disk.Inodes, r.Disk.InodesUnused = 0, 0 }, "", 0, Subject{}},
		{"not read", func(_ *node, r *evidence.Report) { r.Disk = evidence.Disk{Missing: "no such folder"} }, "", 0, Subject{}},
		{"state in memory", func(_ *node, r *evidence.Report) { state(r, 600<<20) }, "", 0, Subject{}},
		{"state is full", func(_ *node, r *evidence.Report) { state(r, 0) }, "the runtime's state has hardly any room: 0 B of 800.0 MiB free (0.0 %) in /run/containerd", Critical, Subject{}},
		{"no inode for its state", func(_ *node, r *evidence.Report) {
			state(r, 600<<20)
			r.State.Inodes, r.State.InodesUnused = 1000, 0
		}, "the runtime's state has hardly an inode left: 0 of 1,000", Critical, Subject{}},
		{"a call says so", func(n *node, _ *evidence.Report) {
			n.fail(call.Status, call.ErrOther, "write /run/x: no space left on device", 1)
		}, "the runtime has no room on a disk: Status: ", Warning, Subject{}},
	})
}

func TestStoreFailing(t *testing.T) {
	runHostTests(t, by(&storeFailing), checked, []hostTest{
		{"well", func(_ *node, r *evidence.Report) { r.Disk.Errors, r.Disk.ErrorAge = 1, 24*time.Hour }, "", 0, Subject{}},
		{"mounted so", func(_ *node, r *evidence.Report) { r.Disk.ReadOnly = "it is mounted read-only" }, "the runtime's data cannot be written: /var/lib/containerd: it is mounted read-only", Critical, Subject{}},
		{"errors", func(_ *node, r *evidence.Report) { r.Disk.Errors, r.Disk.ErrorAge = 3, time.Minute }, "the file system of the runtime's data has errors: 3 errors, the last 1m0s ago", Warning, Subject{}},
		{"gone", func(_ *node, r *evidence.Report) {
			r.State = evidence.Disk{Path: "/run/containerd", Missing: "no such file or directory", Broken: true}
		}, "the runtime's state cannot be reached: /run/containerd: no such file or directory", Critical, Subject{}},
		{"state", func(_ *node, r *evidence.Report) {
			r.State = evidence.Disk{Path: "/run/containerd", ReadOnly: "it is mounted read-only"}
		}, "the runtime's state cannot be written: /run/containerd: it is mounted read-only", Critical, Subject{}},
		{"not permitted to know", func(_ *node, r *evidence.Report) {
			r.State = evidence.Disk{Path: "/run/containerd", Missing: "permission denied"}
		}, "", 0, Subject{}},
		{"a call says so", func(n *node, _ *evidence.Report) {
			n.podFails(1, "app", call.ErrOther, "open /var/lib/x: Input/output error", 4)
		}, "the runtime's disk fails: ", Warning, Subject{}},
	})
}

// A store whose writes fail is found by the kernel's recent lines about that very device, even if every call is
// answered and nothing is read-only.
func TestAStoreThatLosesWhatIsWritten(t *testing.T) {
	const text = "Buffer I/O error on dev dm-0, logical block 77, lost async page write"
	const summary = "the kernel could not write the disk of the runtime's data: /var/lib/containerd on /dev/dm-0"
	line := evidence.KernelLine{Kind: "I/O error", About: knowledge.AboutDisk, Age: 4 * time.Minute, Text: text, Device: "dm-0", Failed: "write", Count: 9}
	for _, tt := range []struct {
		name   string
		change func(*evidence.KernelLine)
		want   string
		severe Severity
	}{
		{"of late", func(*evidence.KernelLine) {}, summary, Critical},
		{"reads", func(l *evidence.KernelLine) { l.Failed = "read" }, strings.Replace(summary, "could not write", "could not read", 1), Warning},
		{"what has ended", func(l *evidence.KernelLine) { l.Age = failedFresh }, "", 0},
		{"another device", func(l *evidence.KernelLine) { l.Device = "dm-00" }, "", 0},
		{"the whole disk", func(l *evidence.KernelLine) { l.Device = "dm-" }, "", 0},
		{"nothing that a file system asked for", func(l *evidence.KernelLine) { l.Failed = "" }, "", 0},
	} {
		for name, n := range map[string]*node{"live": healthy(3), "check": checked(3)} {
			r := looked(n)
			r.Disk.Mount = evidence.Mount{Type: "ext4", Source: "/dev/dm-0", Device: "252:0"}
			l := line
			tt.change(&l)
			read := l
			read.Failed, read.Age = "read", time.Second
			if r.Kernel.Lines = []evidence.KernelLine{l}; tt.want == summary {
				r.Kernel.Lines = []evidence.KernelLine{read, l}
			}
			in := n.input()
			in.Evidence = r
			found := Diagnose(in)
			h := factsOf(in).headline(found)
			if tt.want == "" {
				if wantIDs(t, found); !h.Sound() {
					t.Errorf("%s, %s: headline %+v", tt.name, name, h)
				}
				continue
			}
			if len(found) != 1 || found[0].Summary != tt.want || found[0].Severity != tt.severe {
				t.Fatalf("%s, %s: found %+v, want %q", tt.name, name, found, tt.want)
			}
			says := fmt.Sprint(found[0].Evidence, found[0].Next)
			for _, want := range []string{"/var/lib/containerd is on /dev/dm-0 (ext4)", "the kernel, 4m0s ago: " + text + " (9 times)", "the kernel said so last at 09:22:51: without another such line the finding ends at 09:27:51, which does not mean that the disk is well", "lsblk -s", "drain the node with --timeout=5m"} {
				if !strings.Contains(says, want) {
					t.Errorf("%s, %s: %s lacks %q", tt.name, name, says, want)
				}
			}
			if tt.severe == Critical && (h.Word != "AT RISK" || h.StaysReady() != strings.HasPrefix(h.Text, readyNow) || h.StaysReady() == (name == "check")) {
				t.Errorf("%s, %s: headline %+v", tt.name, name, h)
			}
		}
	}
}

// If a path was served by a program that has ended, that is no trouble of the runtime or its disk.
func TestNobodyServesAPath(t *testing.T) {
	const conmon = "container create failed: lstat /srv/fuse data/x: is wrong, open '/srv/fuse': Transport endpoint is not connected"
	for text, want := range map[string]string{
		conmon: "the program that served a file system has ended: /srv/fuse",
		"stat /mnt/a: transport endpoint is not connected":                          "the program that served a file system has ended: /mnt/a",
		"write unix @->/run/crio/crio.sock: transport endpoint is not connected":    "",
		"write unix /run/a.sock->@: write: transport endpoint is not connected":     "",
		"shutdown: transport endpoint is not connected (errno 107): /run/crio.sock": "",
	} {
		n := checked(8)
		r := looked(n)
		onCRIO(n, r)
		for i := range 7 {
			n.podFails(i, "app", call.ErrOther, text, 4)
		}
		in := n.input()
		in.Evidence, in.Endpoint = r, "unix:///var/run/crio/crio.sock"
		got := ""
		for _, f := range Diagnose(in) {
			if f.ID == StoreFailing {
				got = f.Summary
			}
			if steps := fmt.Sprint(f.Next); want != "" && strings.Contains(steps, "systemctl restart") {
				t.Errorf("%q: %s: %s", text, f.ID, steps)
			}
		}
		if got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}

// If both folders are on one disk, the trouble is reported once.
func TestOneDiskIsToldOnce(t *testing.T) {
	n := checked(3)
	r := looked(n)
	r.Disk.Free, r.Disk.Mount.Device = 1<<30, "8:1"
	r.State = r.Disk
	r.State.Path = "/data/state"
	in := n.input()
	in.Evidence = r
	if got := find(&diskFull, factsOf(in)); len(got) != 1 {
		t.Errorf("found %+v, want one", got)
	}
}

func TestLimitsNear(t *testing.T) {
	limit := func(of, what string, used, most uint64) func(*node, *evidence.Report) {
		return func(_ *node, r *evidence.Report) {
			r.Limits = []evidence.Limit{{Of: of, PID: 812, What: what, Used: used, Most: most, Path: "/sys/fs/cgroup/x"}}
		}
	}
	runHostTests(t, by(&limitsNear), checked, []hostTest{
		{"many connections", limit("containerd", evidence.OpenFiles, 4_800, 1<<20), "", 0, Subject{}},
		{"files", limit("containerd", evidence.OpenFiles, 930, 1024), "containerd (pid 812) has 930 of 1,024 files open", Warning, Subject{}},
		{"all files", limit("containerd", evidence.OpenFiles, 1024, 1024), "containerd (pid 812) has 1,024 of 1,024 files open", Critical, Subject{}},
		{"files of the node", limit("", evidence.OpenFiles, 95, 100), "the node has 95 of 100 files open", Warning, Subject{}},
		{"threads", limit("containerd", evidence.Threads, 100, 100), "the control group of containerd (pid 812) has 100 of 100 threads", Critical, Subject{}},
		{"threads of the node", limit("", evidence.Threads, 32_000, 32_768), "the node has 32,000 of 32,768 threads", Warning, Subject{}},
		{"memory", limit("crio", evidence.Memory, 99<<20, 100<<20), "the control group of crio (pid 812) has 99.0 MiB of 100.0 MiB of memory", Warning, Subject{}},
		{"killed for want of memory", limit("containerd", evidence.OOMKills, 2, 1), "the kernel has killed 2 processes of the control group of containerd (pid 812) for want of memory", Warning, Subject{}},
		{"a call says so", func(n *node, _ *evidence.Report) {
			n.podFails(1, "app", call.ErrOther, "dial: "+strings.Repeat("x", 100)+": too many open files", 4)
		}, "the runtime has used up a limit: ", Warning, Subject{}},
	})
}

// The reason is at the end of an error's text.
func TestExcerptKeepsTheEnd(t *testing.T) {
	long := "Unknown: failed to get sandbox " + strings.Repeat("a", 64) + ": open /proc/1/ns/net: too many open files"
	got := excerpt(long)
	if !strings.HasSuffix(got, "too many open files") || !strings.HasPrefix(got, "Unknown: failed to") || len(got) != excerptMost+len("...") {
		t.Errorf("excerpt is %q", got)
	}
	const whole = "ResourceExhausted: grpc: received message larger than max (17332496 vs. 16777216)"
	if got := excerpt(whole); got != whole {
		t.Errorf("%q is cut to %q", whole, got)
	}
	if short := strings.Repeat("é", excerptMost); excerpt(short) != short {
		t.Errorf("%q is cut to %q", short, excerpt(short))
	}
}

// Commands do what their texts say: what ext4 has stopped is not remounted, and inodes are counted as inodes.
func TestStepsForADisk(t *testing.T) {
	for _, tt := range []struct {
		change func(*evidence.Report)
		want   string
		never  string
	}{
		{func(r *evidence.Report) {
			r.Disk.ReadOnly = "ext4 has stopped all writing after an error (emergency_ro)"
		}, "drain the node with --timeout=5m", "fsck"},
		{func(r *evidence.Report) { r.Disk.ReadOnly = "it is mounted read-only" }, "drain the node with --timeout=5m", "remount,rw"},
		{func(r *evidence.Report) { r.Disk.InodesUnused = 1000 }, "df -i /var/lib/containerd", "df -h"},
		{func(r *evidence.Report) { r.Disk.InodesUnused = 0 }, "df -i /var/lib/containerd", "df -h"},
		{func(r *evidence.Report) {
			r.Disk.Mount = evidence.Mount{Type: "overlay", Source: "/dev/vda", Device: "0:39"}
			r.Kernel.Lines = []evidence.KernelLine{{Kind: "I/O error", About: knowledge.AboutDisk, Age: time.Second, Text: "lost async page write", Device: "vda", Failed: "write", Count: 1}}
		}, "lsblk -s", "fsck"},
		{func(r *evidence.Report) { r.Disk.Free, r.Disk.Left = 0, 0 }, "df -h /var/lib/containerd", "df -i"},
	} {
		n := checked(3)
		in := n.input()
		in.Evidence = looked(n)
		tt.change(in.Evidence)
		steps := fmt.Sprint(Diagnose(in)[0].Next)
		if !strings.Contains(steps, tt.want) || strings.Contains(steps, tt.never) {
			t.Errorf("steps %s, want %q and no %q", steps, tt.want, tt.never)
		}
	}
}

// If crictl gets no answer either, it is offered only to see that.
func TestNoCrictlForARuntimeThatIsAway(t *testing.T) {
	n := healthy(3).dead(12)
	in := n.input()
	in.Evidence = looked(n)
	in.Evidence.Disk.Free, in.Evidence.Disk.Left = 0, 0
	found := Diagnose(in)
	wantIDs(t, found, DiskFull, RuntimeDown)
	for _, f := range found {
		if steps := fmt.Sprint(f.Next); strings.Contains(steps, "crictl ") {
			t.Errorf("%s: %s", f.ID, steps)
		}
	}
}

// If the runtime lacks something, that is the cause of what hangs or is slow, and the headline says so.
func TestWhatTheRuntimeLacksIsTheCause(t *testing.T) {
	limit := func(what string, used, most uint64) func(sick) {
		return func(s sick) {
			s.r.Limits = []evidence.Limit{{Of: "containerd", PID: s.r.Processes.Daemons[0].PID, What: what, Used: used, Most: most, Path: "/sys/fs/cgroup/x"}}
		}
	}
	const lists = "critical limits-near\ncritical list-hung ListContainers < limits-near\ncritical pleg-unhealthy < limits-near\n"
	for _, tt := range []struct {
		name string
		s    sick
		want string
		says string // in the headline
	}{
		{"memory", listHangs().and(limit(evidence.Memory, 100<<20, 100<<20)), lists, "has 100.0 MiB of 100.0 MiB of memory"},
		{"threads", listHangs().and(limit(evidence.Threads, 100, 100)), lists, "has 100 of 100 threads"},
		{"files", listHangs().and(limit(evidence.OpenFiles, 1024, 1024)), lists, "has 1,024 of 1,024 files open"},
		{"a limit that is near", listHangs().and(limit(evidence.Memory, 92<<20, 100<<20)), "critical list-hung ListContainers\nwarning limits-near\ncritical pleg-unhealthy < list-hung\n", ""},
		{"in the kernel, for memory", listHangs().and(limit(evidence.Memory, 100<<20, 100<<20)).and(func(s sick) {
			p := &s.r.Processes.Daemons[0]
			p.State, p.For, p.Wchan = evidence.Uninterrupted, time.Second, "mem_cgroup_oom_synchronize"
		}), "critical limits-near\ncritical process-stuck < limits-near\ncritical list-hung ListContainers < limits-near\ncritical pleg-unhealthy < limits-near\n", "has 100.0 MiB of 100.0 MiB of memory"},
		{"an object beside", listHangs().and(limit(evidence.Memory, 100<<20, 100<<20)).and(func(s sick) { s.sweepHung(1, "app") }),
			"critical limits-near\ncritical inspect-hung ContainerStatus ns-1/pod-00001/app\ncritical list-hung ListContainers < inspect-hung\ncritical pleg-unhealthy < inspect-hung\n", ""},
		{"slow", sick{checked(5).slowBy(300*time.Millisecond, answeringOps...), looked(healthy(5))}.and(limit(evidence.Memory, 100<<20, 100<<20)),
			"warning limits-near\nwarning runtime-slow < limits-near\n", "has 100.0 MiB of 100.0 MiB of memory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, h := tt.s.diagnose()
			if got := gist(found); got != tt.want {
				t.Errorf("findings\n%swant\n%s", got, tt.want)
			}
			if !strings.Contains(h.Text, tt.says) || tt.says == "" && strings.Contains(h.Text, "control group") {
				t.Errorf("headline %+v", h)
			}
		})
	}
}

// What the runtime lacks is not named for something that hangs or fails for another reason.
func TestWhatTheRuntimeLacksIsSaidOfNothingElse(t *testing.T) {
	full := func(s sick) {
		s.r.Disk.Free = 0
		s.sweepFailed(0, "app", call.ErrOther, "open state.json: no space left on device")
	}
	found, h := listHangs().and(full).and(func(s sick) { s.sweepHung(1, "app"); shimOf(s.r, 1).State = evidence.Stopped }).diagnose()
	if !strings.Contains(gist(found), "inspect-failing ContainerStatus ns-0/pod-00000/app < disk-full") || !strings.Contains(h.Text, "pod-00001") || strings.Contains(h.Text, "room") {
		t.Errorf("headline %q of\n%s", h.Text, gist(found))
	}
}

// If the kernel has killed the runtime, that is why the runtime is away, until it is started again. The end of another
// program is no reason.
func TestTheKernelHasKilledTheRuntime(t *testing.T) {
	const sure, likely = "no call reaches the runtime: the kernel killed containerd (pid 812) for want of memory at ", "no call reaches the runtime: the kernel killed containerd (pid 812), likely it, for want of memory at "
	const none = "no call reaches the runtime: connection refused"
	kill := evidence.KernelLine{Kind: "oom kill", About: knowledge.AboutKill, Age: time.Second, PID: 812, Command: "containerd", Text: "Killed process 812 (containerd)", Count: 1}
	for _, tt := range []struct {
		name  string
		group string
		own   bool
		again bool
		late  bool // plegtop was started after it
		want  string
	}{
		{"a daemon that was seen", "", true, false, false, sure},
		{"its unit's", "/system.slice/containerd.service", false, false, true, sure},
		{"begun again", "", true, true, false, none},
		{"a group of its own, before anybody looked", "/limited", false, false, true, likely},
		{"a group of its own, and never seen", "/limited", false, false, false, none},
		{"a kernel that does not say where", "", false, false, true, none},
		{"in a container", "/kubepods/besteffort/poduid-9/0123/system.slice/containerd.service", false, false, true, none},
		{"another service's", "/system.slice/docker.service", false, false, true, none},
	} {
		n := healthy(3).dead(2)
		r := looked(n)
		l := kill
		l.Group, l.Own = tt.group, tt.own
		r.Kernel.Lines = []evidence.KernelLine{l}
		if r.Processes.Daemons = r.Processes.Daemons[1:]; tt.again {
			r.Processes.Daemons = append(r.Processes.Daemons, evidence.Process{PID: 900, Command: "containerd", State: evidence.Sleeping, Age: 500 * time.Millisecond})
		}
		in := n.input()
		if in.Evidence = r; tt.late {
			in.Snapshot.Started = r.At
		}
		found := Diagnose(in)
		wantIDs(t, found, RuntimeDown)
		if h := factsOf(in).headline(found); !strings.HasPrefix(h.Text, tt.want) || !strings.HasPrefix(found[0].Summary, tt.want) {
			t.Errorf("%s: headline %+v, finding %q, want %q", tt.name, h, found[0].Summary, tt.want)
		}
	}
}

// A node is not healthy if its runtime has no room on its disk, not even with the room that is left to root.
func TestNoRoomIsNotHealthy(t *testing.T) {
	n := checked(3)
	in := n.input()
	in.Evidence = looked(n)
	in.Evidence.Disk.Free = 0
	if h := factsOf(in).headline(Diagnose(in)); h.Word != "AT RISK" || !strings.Contains(h.Text, "0 B of 200.0 GiB free") {
		t.Errorf("headline %+v", h)
	}
}

// TestAnErrorAmongOthersNamesNoDisk checks that a list that fails with an error of a disk names the disk while the list
// fails so, and not if lists succeed between errors of all kinds.
func TestAnErrorAmongOthersNamesNoDisk(t *testing.T) {
	n := healthy(5).fail(call.ListContainers, call.ErrOther, "check network namespace closed: input/output error", 3)
	if found := n.diagnose(); len(found) == 0 || found[0].ID != StoreFailing {
		t.Errorf("found %s", gist(found))
	}
	for i := range answers.Outages {
		f := *n.Failure
		f.At = ago(time.Duration(answers.Outages-i) * 5 * time.Second)
		n.Memory.Outages.ListsFailed = append(n.Memory.Outages.ListsFailed, f)
	}
	for _, f := range n.anew().diagnose() {
		if f.ID == StoreFailing {
			t.Errorf("%s: %s", f.ID, f.Summary)
		}
	}
}
