//go:build linux

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plegtop/plegtop/cri/sim"
)

// TestWatchSaysTheEnd holds that watch ends with what is to be said last,
// also for a reader that comes late to it, and that an event source is open only when it
// was asked for.
func TestWatchSaysTheEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string // short: it is in the path of the demo's socket
		args  []string
		until string // which line is read before it is ended
		want  []string
		never string
	}{
		{"open", []string{"--events=cri,cgroup"}, `"source":"cri","state":"connected"`, []string{
			`"source":"cri","state":"ended"`,
			`"source":"cgroup","state":"ended"`, `"kind":"drift","source":"cri"`,
		}, ""},
		{"off", nil, `"seenBy":"relist"`, nil, `"kind":"source"`},
		{"mode", []string{"--mode=evented", "--kubelet-version=1.37"}, `"source":"cri","state":"connected"`, []string{`"mode":"evented"`, `"source":"cri","state":"ended"`}, `"mode":"generic"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(plegtop(t), append([]string{"--demo", "watch", "-o", "json"}, tt.args...)...)
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
			cmd.Stdout = w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			said, all := bufio.NewReader(r), ""
			for !strings.Contains(all, tt.until) {
				line, err := said.ReadString('\n')
				if all += line; err != nil {
					t.Fatalf("%v before %s in\n%s", err, tt.until, last(all, 12))
				}
			}
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if err := ends(cmd); err != nil {
				t.Error(err)
			}
			rest, err := io.ReadAll(said) // all of it stands in the pipe
			if all += string(rest); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(all, want) {
					t.Errorf("no %s in\n%s", want, last(all, 12))
				}
			}
			if tt.never != "" && strings.Contains(all, tt.never) {
				t.Errorf("%s in what is written", tt.never)
			}
		})
	}
}

// TestBenchAsks holds that a real runtime is not relisted more often than its kubelet does
// unless somebody says so.
func TestBenchAsks(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(plegtop(t), "bench", "--periods=500ms", "-r", "/nowhere.sock").CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 3 || !strings.Contains(string(out), "--yes") {
		t.Errorf("%v: %s", err, out)
	}
	r := start(t, 100, 30, nil, shell)
	if err := r.Type(plegtop(t) + " bench --periods=500ms -r /nowhere.sock; echo over $?\n"); err != nil {
		t.Fatal(err)
	}
	r.see(t, "Go on? [y/N]")
	if err := r.Type("\n"); err != nil {
		t.Fatal(err)
	}
	r.see(t, "bench: not begun")
	r.see(t, "over 3")
}

// last returns the last lines of a text.
func last(s string, n int) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}

// TestStopsWithoutAStream holds that SIGTSTP closes the event stream before it stops what
// has no screen, and that one that goes on has it again.
func TestStopsWithoutAStream(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"watch", "--events=cri"}, {"bench", "--periods=1s", "--sources=cri", "--for=1h"}} {
		t.Run(args[0], func(t *testing.T) {
			server, err := sim.Start(t.Context(), sim.Config{Scenario: "quiet"})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			cmd := exec.CommandContext(t.Context(), plegtop(t), append(args, "-r", server.Endpoint())...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a group that its parent looks after can be stopped
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			signal := func(s syscall.Signal) {
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			defer func() { signal(syscall.SIGKILL); _ = cmd.Wait() }()
			await := func(what string, is func() bool) {
				t.Helper()
				for late := time.Now().Add(20 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
					if time.Now().After(late) {
						t.Fatalf("not seen: %s", what)
					}
				}
			}
			called := func(method string) (n int) {
				for _, c := range server.Calls() {
					if c.Method == method {
						n++
					}
				}
				return n
			}
			connections := func() (n int) { // to the runtime, as its end of them is named
				all, _ := os.ReadFile("/proc/net/unix")
				for line := range strings.Lines(string(all)) {
					f := strings.Fields(line)
					if len(f) == 8 && f[5] == "03" && f[7] == strings.TrimPrefix(server.Endpoint(), "unix://") {
						n++
					}
				}
				return n
			}
			await("it is open", func() bool { return called("GetContainerEvents") == 1 })
			await("each of its connections", func() bool { return connections() == 2 }) // the stream has one of its own
			const rounds, tries = 2, 5
			closed := 0
			for try := 0; closed < rounds; try++ {
				if try == rounds+tries {
					t.Fatalf("the stream's connection was closed before %d of %d stops", closed, try)
				}
				before := called("GetContainerEvents")
				signal(syscall.SIGTSTP)
				await("it has stopped", func() bool {
					text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
					return strings.Contains(string(text), ") T ")
				})
				for look := 0; look < 100 && connections() != 1; look++ { // the runtime closes its end a little later
					time.Sleep(20 * time.Millisecond)
				}
				if connections() == 1 {
					closed++
				} // else the machine is too busy to close it in the second that a person waits for the shell
				signal(syscall.SIGCONT)
				await("it is open again", func() bool { return called("GetContainerEvents") > before && connections() == 2 })
			}
		})
	}
}
