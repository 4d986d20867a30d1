package host

import (
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

// fixtureUptime is how long the nodes that tests make have been up.
const fixtureUptime = 100_000 * time.Second

// A proc is a process of a node that a test makes. What is left out is as
// harmless as can be: it sleeps, was started an hour after the node, and is in
// no container.
type proc struct {
	pid, parent int
	comm        string
	state       evidence.State
	started     time.Duration // after the node; 0 is an hour
	flags       uint
	cgroup      string // lines of the file, or the path in v2's hierarchy alone
	args        []string
	wchan       string
	stack       string // the file
	runs        uint64
	cpu         int
	ran         float64 // the last time, in ms of the clock of its cpu; 0 for a kernel that does not tell
	threads     []proc  // the others; of these pid, state, wchan, stack and runs count
}

// writeProc writes one process below root, or overwrites what is there of it,
// with the node's uptime.
func writeProc(t testing.TB, root string, p proc) {
	t.Helper()
	dir := filepath.Join(root, "proc", strconv.Itoa(p.pid))
	writeThread(t, dir, p, len(p.threads)+1)
	writeFile(t, filepath.Join(dir, "cgroup"), cgroupLines(p.cgroup))
	writeFile(t, filepath.Join(dir, "cmdline"), commandLine(p.args))
	for _, thread := range append(slices.Clone(p.threads), p) {
		task := filepath.Join(dir, "task", strconv.Itoa(thread.pid))
		writeThread(t, task, thread, len(p.threads)+1)
	}
	writeFile(t, filepath.Join(root, "proc/uptime"), fmt.Sprintf("%.2f 0.00\n", fixtureUptime.Seconds()))
}

func writeThread(t testing.TB, dir string, p proc, threads int) {
	t.Helper()
	writeFile(t, filepath.Join(dir, "stat"), p.stat(threads))
	writeFile(t, filepath.Join(dir, "schedstat"), fmt.Sprintf("1000 2000 %d\n", p.runs))
	if p.ran > 0 {
		writeFile(t, filepath.Join(dir, "sched"), fmt.Sprintf("%s (%d, #threads: 1)\n---\nse.exec_start      :   %f\nnr_switches  : 7\n", p.comm, p.pid, p.ran))
	}
	writeFile(t, filepath.Join(dir, "wchan"), p.wchan)
	writeFile(t, filepath.Join(dir, "stack"), p.stack)
}

// stat returns all 52 fields of /proc/PID/stat.
func (p proc) stat(threads int) string {
	if p.state == 0 {
		p.state = evidence.Sleeping
	}
	if p.started == 0 {
		p.started = time.Hour
	}
	fields := slices.Repeat([]string{"0"}, 52)
	fields[0], fields[1], fields[2] = strconv.Itoa(p.pid), "("+p.comm+")", string(rune(p.state))
	fields[3] = strconv.Itoa(p.parent)
	fields[8] = strconv.FormatUint(uint64(p.flags), 10)
	fields[19] = strconv.Itoa(threads)
	fields[38] = strconv.Itoa(p.cpu)
	fields[21] = strconv.FormatInt(int64(p.started/(10*time.Millisecond)), 10)
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

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fixtureID returns an id that ends in the given digits.
func fixtureID(digits string) string {
	return strings.Repeat("a", idLength-len(digits)) + digits
}

// fixtureCgroup returns where the systemd driver puts a container of containerd.
func fixtureCgroup(id string) string {
	return "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod5f1a.slice/cri-containerd-" + id + ".scope"
}

// fixtureShim returns the shim of a sandbox.
func fixtureShim(pid int, sandbox, socket string) proc {
	return proc{
		pid: pid, parent: 1, comm: "containerd-shim", cgroup: "/system.slice/containerd.service",
		args: []string{"/usr/bin/containerd-shim-runc-v2", "-namespace", "k8s.io", "-id", sandbox, "-address", socket},
	}
}
