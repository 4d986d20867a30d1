//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// buildOnce builds the program from this tree into the folder of the private
// containerds and returns its path.
var buildOnce = sync.OnceValues(func() (string, error) {
	program := filepath.Join(base, "bin", "plegtop")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir, cmd.Stderr = filepath.Join("..", ".."), os.Stderr
	return program, cmd.Run()
})

// plegtop starts the program against the runtime at socket, in a terminal of
// the given size. The end of the test ends it.
func plegtop(t *testing.T, socket string, columns, rows int) *screen {
	t.Helper()
	program, err := buildOnce()
	if err != nil {
		t.Fatal("build plegtop: ", err)
	}
	cmd := exec.Command(program, "--runtime-endpoint", "unix://"+socket)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=", "HOME="+t.TempDir(), "XDG_CONFIG_HOME=")
	return inTerminal(t, cmd, columns, rows)
}

// shows waits until lines of the screen match each of the patterns.
func (s *screen) shows(patterns ...string) {
	s.t.Helper()
	for _, pattern := range patterns {
		s.until(pattern, patience, regexp.MustCompile(pattern).MatchString)
	}
}

// showsNo waits until no line of the screen matches pattern.
func (s *screen) showsNo(pattern string) {
	s.t.Helper()
	found := regexp.MustCompile(pattern)
	s.until("no more "+pattern, patience, func(shown string) bool { return !found.MatchString(shown) })
}

// What a person sees while pods come, fail and go.
func TestScreenShowsTheNode(t *testing.T) {
	for _, size := range []struct {
		name          string
		columns, rows int
	}{{"80x24", 80, 24}, {"200x50", 200, 50}} {
		t.Run(size.name, func(t *testing.T) {
			node := containerd(t)
			s := plegtop(t, node.socket, size.columns, size.rows)
			s.shows("containerd", "HEALTHY", "(?i)no pods")
			pod, id := node.startPod("shown", "stubborn")
			s.shows(`shown .*running.* 1/1`)
			node.signal(node.process(id), "workload", syscall.SIGKILL)
			s.shows(`shown .* 0/1 .* 137`)
			s.press(" ") // unfold
			s.shows(`sandbox .*running`, `main .*exited .*137`)
			s.press("2")
			s.shows(`Started .*shown .*main`, `Died .*shown .*main .*137`)
			s.press("1")
			must(t, node.StopPod(t.Context(), pod))
			s.shows(`sandbox .*exited`)
			must(t, node.RemovePod(t.Context(), pod))
			s.shows("(?i)no pods")
			s.press("q")
			s.endsWith(0)
		})
	}
}

// startPod makes a pod with one container, named main, that runs.
func (p *private) startPod(name string, args ...string) (*Pod, string) {
	p.t.Helper()
	pod := p.runPod(name, true)
	id := p.create(pod, Container{Name: "main", Args: args})
	must(p.t, p.Start(p.t.Context(), id))
	return pod, id
}

// While containerd is down the screen says so, and it recovers without help,
// whether it was started before or meanwhile.
func TestScreenOutlivesContainerd(t *testing.T) {
	node := containerd(t)
	node.startPod("survivor", "sleep")
	before := plegtop(t, node.socket, 120, 40)
	before.shows(`survivor .*running.* 1/1`)
	node.kill()
	before.shows("RUNTIME DOWN", "refused", "survivor")
	meanwhile := plegtop(t, node.socket, 80, 24)
	meanwhile.shows("RUNTIME DOWN")
	node.restart()
	for _, s := range []*screen{before, meanwhile} {
		s.shows(`survivor .*running.* 1/1`, "HEALTHY")
		s.showsNo(`[✖▲] RUNTIME DOWN`) // it says for a minute that it was
		must(t, s.cmd.Process.Signal(syscall.SIGTERM))
		s.endsWith(128 + int(syscall.SIGTERM))
	}
}

// The program itself, from its first call to its last, only reads.
func TestScreenOnlyReads(t *testing.T) {
	node := containerd(t)
	between := record(t, node.socket)
	s := plegtop(t, between.socket, 120, 40)
	pod := node.runPod("read-only", true)
	s.shows("read-only")
	s.press("r")    // reinspect the pod
	s.press("\x12") // relist now
	s.press("\r")   // detail
	s.shows("Cached status")
	s.press("y") // the raw answers
	s.shows(`"state": "SANDBOX_READY"`)
	s.press("\x1b") // and not q at once: that would be one key, alt+q
	s.showsNo(`"state"`)
	s.press("q") // closes the sheet
	s.showsNo("Cached status")
	s.press("q")
	s.endsWith(0)
	must(t, node.StopPod(t.Context(), pod))
	checkReadOnly(t, between.requests())
	if n := len(between.requests()); n < 4 {
		t.Errorf("%d calls were recorded: %s", n, strings.Join(methods(between.requests()), ", "))
	}
}

func methods(requests []request) (names []string) {
	for _, r := range requests {
		names = append(names, r.method)
	}
	return names
}
