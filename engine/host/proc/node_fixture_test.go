package proc

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// testUptime is how long the nodes that tests make have been up.
	testUptime = 100_000 * time.Second

	// testSocket is the runtime's socket on these nodes.
	testSocket = "/run/containerd/containerd.sock"
)

// firstLook is the time of the first look in tests.
var firstLook = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// A fakeProcess is a process of a node that a test makes. Fields that are left out are harmless: the process
// sleeps, was started an hour after the node, and is in no container.
type fakeProcess struct {
	PID, Parent int
	Comm        string
	State       evidence.State
	Started     time.Duration // after the node; 0 is an hour
	Flags       uint
	Cgroup      string // lines of the file, or the path in v2's hierarchy alone
	Args        []string
	Wchan       string
	Stack       string // the file
	Runs        uint64
	CPU         int
	Ran         float64       // the last time, in ms of the clock of its cpu; 0 for a kernel that does not tell
	Count       int           // of its threads as its stat file has it; 0 for those that are there
	Threads     []fakeProcess // the others; of these PID, State, Wchan, Stack, Runs, CPU and Ran count

	// Files has the other files in the folder of each thread, by name; "->" begins a link.
	Files map[string]string
}

// writeProcess writes one process below root, or overwrites it, with the node's uptime.
func writeProcess(t testing.TB, root string, p fakeProcess) {
	t.Helper()
	dir := filepath.Join(root, "proc", strconv.Itoa(p.PID))
	for _, thread := range append(slices.Clone(p.Threads), p) {
		thread.Cgroup, thread.Args, thread.Files, thread.Count = p.Cgroup, p.Args, p.Files, p.Count
		if thread.State == evidence.Zombie { // the kernel keeps nothing of a thread that has ended
			thread.Args, thread.Files = nil, nil
			if strings.Contains(p.Cgroup, "\n") {
				thread.Cgroup = "1:name=systemd:/\n"
			}
		}
		writeThread(t, filepath.Join(dir, "task", strconv.Itoa(thread.PID)), thread, len(p.Threads)+1)
		if thread.PID == p.PID {
			writeThread(t, dir, thread, len(p.Threads)+1)
		}
	}
	writeFile(t, filepath.Join(root, "proc/uptime"), fmt.Sprintf("%.2f 0.00\n", testUptime.Seconds()))
}

func writeThread(t testing.TB, dir string, p fakeProcess, threads int) {
	t.Helper()
	writeFile(t, filepath.Join(dir, "stat"), p.Stat(threads))
	writeFile(t, filepath.Join(dir, "schedstat"), fmt.Sprintf("1000 2000 %d\n", p.Runs))
	if p.Ran > 0 {
		writeFile(t, filepath.Join(dir, "sched"), fmt.Sprintf("%s (%d, #threads: 1)\n---\nse.exec_start      :   %f\nnr_switches  : 7\n", p.Comm, p.PID, p.Ran))
	}
	writeFile(t, filepath.Join(dir, "wchan"), p.Wchan)
	writeFile(t, filepath.Join(dir, "stack"), p.Stack)
	writeFile(t, filepath.Join(dir, "cgroup"), cgroupLines(p.Cgroup))
	writeFile(t, filepath.Join(dir, "cmdline"), commandLine(p.Args))
	for name, text := range p.Files {
		if target, isLink := strings.CutPrefix(text, "->"); isLink {
			writeLink(t, dir, name, target)
		} else {
			writeFile(t, filepath.Join(dir, name), text)
		}
	}
}

// Stat returns all 52 fields of /proc/PID/stat.
func (p fakeProcess) Stat(threads int) string {
	if p.State == 0 {
		p.State = evidence.Sleeping
	}
	if p.Started == 0 {
		p.Started = time.Hour
	}
	fields := slices.Repeat([]string{"0"}, 52)
	fields[0], fields[1], fields[2] = strconv.Itoa(p.PID), "("+p.Comm+")", string(rune(p.State))
	fields[3] = strconv.Itoa(p.Parent)
	fields[8] = strconv.FormatUint(uint64(p.Flags), 10)
	fields[19] = strconv.Itoa(cmp.Or(p.Count, threads))
	fields[38] = strconv.Itoa(p.CPU)
	fields[21] = strconv.FormatInt(int64(p.Started/(10*time.Millisecond)), 10)
	return strings.Join(fields, " ") + "\n"
}

func cgroupLines(cgroup string) string {
	switch {
	case cgroup == "":
		return "0::/\n"
	case strings.HasPrefix(cgroup, "/"):
		return "0::" + cgroup + "\n"
	}
	return cgroup
}

func commandLine(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return strings.Join(args, "\x00") + "\x00"
}

// writeFile writes a file and the folders that lead to it.
func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// longID returns an id that ends in the given digits.
func longID(digits string) string {
	return strings.Repeat("a", 64-len(digits)) + digits
}

// cgroupOf returns where the systemd driver puts a container of containerd.
func cgroupOf(id string) string {
	return "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod5f1a.slice/cri-containerd-" + id + ".scope"
}

// fakeShim returns the shim of a sandbox.
func fakeShim(pid int, sandbox, socket string) fakeProcess {
	return fakeProcess{
		PID: pid, Parent: 1, Comm: "containerd-shim", Cgroup: "/system.slice/containerd.service",
		Args: []string{"/usr/bin/containerd-shim-runc-v2", "-namespace", "k8s.io", "-id", sandbox, "-address", socket},
	}
}

// writeLink makes a symbolic link below root, which may lead nowhere as some in /proc do.
func writeLink(t testing.TB, root, path, target string) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// writePod writes a pod with one container, the processes of both, and its shim. Their pids are pid to pid+2.
func writePod(t testing.TB, root string, pid int, sandbox, container string) {
	t.Helper()
	writeProcess(t, root, fakeShim(pid, sandbox, testSocket))
	writeProcess(t, root, fakeProcess{PID: pid + 1, Parent: pid, Comm: "pause", Cgroup: cgroupOf(sandbox)})
	writeProcess(t, root, fakeProcess{PID: pid + 2, Parent: pid, Comm: "nginx", Cgroup: cgroupOf(container)})
}
