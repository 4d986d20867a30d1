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

	tty "github.com/plegtop/plegtop/ui/e2e"
)

// buildOnce builds the program from this tree into the folder of the private
// containerds and returns its path.
var buildOnce = sync.OnceValues(func() (string, error) {
	program := filepath.Join(base, "bin", "plegtop")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir, cmd.Stderr = filepath.Join("..", ".."), os.Stderr
	return program, cmd.Run()
})

// A screen is the built program at work in a terminal of its own.
type screen struct {
	*tty.Terminal
	t *testing.T
}

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
	terminal, err := tty.Start(cmd, columns, rows)
	must(t, err)
	t.Cleanup(func() { terminal.Close() })
	return &screen{terminal, t}
}

func (s *screen) press(keys string) {
	s.t.Helper()
	must(s.t, s.Type(keys))
}

// shows waits until lines of the screen match each of the patterns.
func (s *screen) shows(patterns ...string) {
	s.t.Helper()
	for _, pattern := range patterns {
		_, err := s.Wait(pattern, patience, matches(pattern))
		must(s.t, err)
	}
}

// showsNo waits until no line of the screen matches pattern.
func (s *screen) showsNo(pattern string) {
	s.t.Helper()
	found := matches(pattern)
	_, err := s.Wait("no more "+pattern, patience, func(lines []string) bool { return !found(lines) })
	must(s.t, err)
}

func matches(pattern string) func(lines []string) bool {
	re := regexp.MustCompile(pattern)
	return func(lines []string) bool { return re.MatchString(strings.Join(lines, "\n")) }
}

// ended waits for the program to end with a status, and for the terminal, which
// may have some of its output still to read, to be as it was.
func (s *screen) ended(want int) {
	s.t.Helper()
	status, err := s.Ended(patience)
	must(s.t, err)
	if status != want {
		s.t.Errorf("exit status %d, want %d", status, want)
	}
	eventually(s.t, "the terminal is as it was", func() bool { return s.Restored() == nil })
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
			s.ended(0)
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
		must(t, s.Signal(syscall.SIGTERM))
		s.ended(128 + int(syscall.SIGTERM))
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
	s.ended(0)
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
