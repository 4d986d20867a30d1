//go:build linux

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// patience is how long a test waits for something that takes a second or two.
const patience = 60 * time.Second

// The variables of the script up, and the one that lets the tests run it.
var (
	enabled = os.Getenv("PLEGTOP_E2E") != ""
	base    = cmp.Or(os.Getenv("PLEGTOP_E2E_DIR"), filepath.Join(os.TempDir(), "plegtop-e2e"))
	which   = cmp.Or(os.Getenv("PLEGTOP_E2E_CONTAINERD"), "2.4.2")
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == asNode && len(os.Args) > 1 {
		os.Exit(runNode(os.Args[1], os.Args[2:]))
	}
	code := m.Run()
	if enabled {
		if err := up("down"); err != nil {
			fmt.Fprintln(os.Stderr, "stop containerd:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// up runs the script of that name, which says on standard error what it does.
func up(args ...string) error {
	cmd := exec.Command("bash", append([]string{"./up"}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

var startOnce = sync.OnceValue(func() error { return up() })

// A private is the private containerd of one test, and the kubelet that works
// with it. At the start of the test it holds no pods.
type private struct {
	*Kubelet
	t      *testing.T
	folder string
	socket string
}

func containerd(t *testing.T) *private {
	t.Helper()
	if !enabled {
		t.Skip("set PLEGTOP_E2E=1 to start a real containerd; needs root")
	}
	if err := startOnce(); err != nil {
		t.Fatal("start containerd: ", err)
	}
	folder := filepath.Join(base, which)
	p := &private{t: t, folder: folder, socket: filepath.Join(folder, "containerd.sock")}
	k, err := Connect(p.socket, filepath.Join(folder, "logs"))
	if err != nil {
		t.Fatal(err)
	}
	p.Kubelet = k
	t.Cleanup(func() { k.Close() })
	p.clear()
	t.Cleanup(p.clear)
	return p
}

// clear takes all pods away. Right after a shim was killed containerd still
// takes its containers for running and refuses; so it is tried again.
func (p *private) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience) // there may be thousands
	defer cancel()
	err := p.RemoveAll(ctx)
	for ; err != nil && ctx.Err() == nil; err = p.RemoveAll(ctx) {
		<-time.After(200 * time.Millisecond)
	}
	if err != nil {
		p.t.Error("clear the node: ", err)
	}
}

// pid returns the process of containerd itself, as up has recorded it.
func (p *private) pid() int {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.folder, "pid"))
	if err != nil {
		p.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		p.t.Fatal("process id of containerd: ", err)
	}
	return pid
}

// kill ends containerd, and only that, as a crash would.
func (p *private) kill() {
	p.t.Helper()
	pid := p.pid()
	p.t.Cleanup(p.restart) // what follows needs it, however this test ends
	p.signal(pid, "containerd", syscall.SIGKILL)
	eventually(p.t, "containerd has ended", func() bool { return !alive(pid) })
}

// restart starts containerd if it does not run, and returns when it answers on the test's own
// connection, which may have been tried last before that.
func (p *private) restart() {
	p.t.Helper()
	if err := up(); err != nil {
		p.t.Fatal("restart containerd: ", err)
	}
	eventually(p.t, "containerd answers again", func() bool {
		_, err := p.rt.Version(context.Background(), &criv1.VersionRequest{})
		return err == nil
	})
}

// process returns the process of a running container.
func (p *private) process(id string) int {
	p.t.Helper()
	pid, err := p.PID(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return pid
}

// freeze stops a process where it stands until the test thaws it, at its end at
// the latest.
func (p *private) freeze(pid int, name string) {
	p.t.Helper()
	p.signal(pid, name, syscall.SIGSTOP)
	p.t.Cleanup(func() {
		if named(pid, name) {
			p.signal(pid, name, syscall.SIGCONT)
		}
	})
}

// signal sends s to a process after a look at its name: process ids are used
// again.
func (p *private) signal(pid int, name string, s syscall.Signal) {
	p.t.Helper()
	if !named(pid, name) {
		p.t.Fatalf("process %d is not %s: no signal sent", pid, name)
	}
	if err := syscall.Kill(pid, s); err != nil {
		p.t.Fatalf("send %v to %s, process %d: %v", s, name, pid, err)
	}
}

// named tells whether the name of a process begins with name.
func named(pid int, name string) bool {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && strings.HasPrefix(string(comm), name)
}

// eventually waits until ok holds and fails the test when it takes too long.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited %v until %s", patience, what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// alive tells whether a process runs; one that only waits for its parent to
// take notice of its end does not.
func alive(pid int) bool { return statField(pid, 0) != "" && statField(pid, 0) != "Z" }

// parent returns the process that started pid, 0 if that is not known.
func parent(pid int) int {
	ppid, _ := strconv.Atoi(statField(pid, 1))
	return ppid
}

// statField returns a field of /proc/PID/stat, counted after the name, which
// may itself hold spaces and brackets.
func statField(pid, n int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if n >= len(fields) {
		return ""
	}
	return fields[n]
}
