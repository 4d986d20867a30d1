package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

func TestDiskFull(t *testing.T) {
	state := func(r *evidence.Report, free uint64) {
		r.State = evidence.Disk{Path: "/run/containerd", Mount: evidence.Mount{Type: "tmpfs", Device: "0:24"}, Total: 800 << 20, Free: free, Left: free}
	}
	runHostTests(t, diskFull, checked, []hostTest{
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

func TestFilesystemReadOnly(t *testing.T) {
	runHostTests(t, filesystemReadOnly, checked, []hostTest{
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

// Both folders on one disk are told once.
func TestOneDiskIsToldOnce(t *testing.T) {
	n := checked(3)
	r := looked(n)
	r.Disk.Free, r.Disk.Mount.Device = 1<<30, "8:1"
	r.State = r.Disk
	r.State.Path = "/data/state"
	in := n.input()
	in.Evidence = r
	if got := diskFull(newView(in)); len(got) != 1 {
		t.Errorf("found %+v, want one", got)
	}
}

func TestLimitsNear(t *testing.T) {
	limit := func(of, what string, used, most uint64) func(*node, *evidence.Report) {
		return func(_ *node, r *evidence.Report) {
			r.Limits = []evidence.Limit{{Of: of, PID: 812, What: what, Used: used, Most: most, Path: "/sys/fs/cgroup/x"}}
		}
	}
	runHostTests(t, limitsNear, checked, []hostTest{
		{"many connections", limit("containerd", evidence.OpenFiles, 4_800, 1<<20), "", 0, Subject{}},
		{"files", limit("containerd", evidence.OpenFiles, 930, 1024), "containerd (pid 812) has 930 of 1,024 files open", Warning, Subject{}},
		{"all files", limit("containerd", evidence.OpenFiles, 1024, 1024), "containerd (pid 812) has 1,024 of 1,024 files open", Critical, Subject{}},
		{"files of the node", limit("", evidence.OpenFiles, 95, 100), "the node has 95 of 100 files open", Warning, Subject{}},
		{"threads", limit("containerd", evidence.Threads, 100, 100), "the control group of containerd (pid 812) has 100 of 100 threads", Critical, Subject{}},
		{"threads of the node", limit("", evidence.Threads, 32_000, 32_768), "the node has 32,000 of 32,768 threads", Warning, Subject{}},
		{"memory", limit("crio", evidence.Memory, 99<<20, 100<<20), "the control group of crio (pid 812) has 99.0 MiB of 100.0 MiB of memory", Warning, Subject{}},
		{"killed for want of memory", limit("containerd", evidence.OOMKills, 2, 1), "the kernel has killed 2 processes of the control group of containerd (pid 812) for want of memory", Warning, Subject{}},
		{"throttled", limit("containerd", evidence.CPUPeriods, 45, 50), "containerd (pid 812) is throttled: its quota of CPU stopped it in 45 of 50 periods", Warning, Subject{}},
		{"throttled now and then", limit("containerd", evidence.CPUPeriods, 10, 50), "", 0, Subject{}},
		{"throttled for a moment", limit("containerd", evidence.CPUPeriods, 2, 3), "", 0, Subject{}},
		{"a call says so", func(n *node, _ *evidence.Report) {
			n.podFails(1, "app", call.ErrOther, "dial: "+strings.Repeat("x", 100)+": too many open files", 4)
		}, "the runtime has used up a limit: ", Warning, Subject{}},
	})
}

// The reason stands at the end of an error's text.
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
