//go:build linux

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// built holds the plegtop binary and removes it at the end.
var built struct {
	sync.Once
	dir, path string
	err       error
}

// plegtop builds the program once for all tests, as it is in the tree.
func plegtop(t testing.TB) string {
	t.Helper()
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "plegtop-ui-e2e-"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.dir, "plegtop")
		if out, err := exec.Command("go", "build", "-o", built.path, "../..").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func demo(t *testing.T, columns, rows int, environ []string, args ...string) run {
	t.Helper()
	return start(t, columns, rows, environ, plegtop(t), append([]string{"--demo"}, args...)...)
}

func TestDemo(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		columns, rows int
		see           []string
	}{
		{80, 24, []string{"DEMO", "HEALTHY", "kube-syst", "cilium-", "1 Pods", "? help"}},
		{200, 50, []string{"DEMO", "HEALTHY", "kube-system", "1 Pods", "2 Events", "3 Calls", "ContainerStatus"}},
		{40, 10, []string{"HEALTHY"}},
	} {
		t.Run(fmt.Sprintf("%dx%d", size.columns, size.rows), func(t *testing.T) {
			r := demo(t, size.columns, size.rows, nil)
			for _, text := range size.see {
				r.see(t, text)
			}
			r.press(t, "q")
			r.over(t, 0)
		})
	}
}

func TestPlegtopEnds(t *testing.T) {
	t.Parallel()
	for _, e := range endings[:5] {
		for _, unread := range []bool{false, true} {
			if unread && e.signal == 0 { // its keys are not heard
				continue
			}
			t.Run(fmt.Sprintf("%s, unread %v", e.name, unread), func(t *testing.T) {
				t.Parallel()
				r := demo(t, 120, 40, nil, "--demo=tour")
				r.see(t, "HEALTHY")
				resume := func() {}
				if unread {
					resume = r.Stall()
					r.fill(t, "\x0c") // ^l draws everything anew
				}
				e.bring(t, r)
				if _, err := r.Ended(gone); err != nil {
					t.Fatal(err)
				}
				resume()
				r.tidy(t)
			})
		}
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	r := demo(t, 80, 24, nil)
	r.see(t, "HEALTHY")
	for _, size := range []struct{ columns, rows int }{{200, 50}, {40, 10}, {120, 40}, {20, 5}, {80, 24}} {
		if err := r.Resize(size.columns, size.rows); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("keys at the bottom of %dx%d", size.columns, size.rows)
		_, err := r.Wait(what, limit, func(lines []string) bool {
			last := lines[len(lines)-1]
			return len(lines) == size.rows && (strings.Contains(last, "? help") || strings.Contains(last, "1 pods"))
		})
		if err != nil {
			t.Error(err)
		}
	}
	r.press(t, "q")
	r.over(t, 0)
}

// colour matches what sets a colour of the foreground or background.
var colour = regexp.MustCompile(`\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m`)

func TestNoColor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		environ []string
		want    bool
	}{
		{nil, true},
		{[]string{"NO_COLOR=yes"}, false},
		{[]string{"NO_COLOR=1"}, false},
		{[]string{"TERM=xterm-mono", "NO_COLOR=x"}, false},
	} {
		r := demo(t, 120, 40, tt.environ)
		for _, text := range []string{"HEALTHY", "kube-system"} {
			r.see(t, text)
		}
		r.press(t, "2")
		r.see(t, "Started")
		r.press(t, "q")
		r.over(t, 0)
		if got := colour.Find(r.Raw()); (got != nil) != tt.want {
			t.Errorf("%v: colour %q, want any: %v", tt.environ, got, tt.want)
		}
	}
}

func TestPlegtopRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*exec.Cmd)
	}{
		{"output to a pipe", func(c *exec.Cmd) { c.Stdout = new(bytes.Buffer) }},
		{"dumb", func(c *exec.Cmd) { c.Env = append(c.Env, "TERM=dumb") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(plegtop(t), "--demo")
			cmd.Env = append(os.Environ(), "TERM=xterm")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			tt.change(cmd)
			term, err := Start(cmd, 80, 24)
			if err != nil {
				t.Fatal(err)
			}
			defer term.Close()
			code, err := term.Ended(limit)
			if err != nil || code == 0 {
				t.Errorf("exit code %d, %v, want a failure", code, err)
			}
			if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "plegtop watch") {
				t.Errorf("standard error: %q, want one line that names watch", got)
			}
			if raw := term.Raw(); len(raw) > 0 {
				t.Errorf("%q was drawn", raw)
			}
		})
	}
}

func TestPlegtopRefusesArguments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"log"}, "watch"},
		{[]string{"quiet"}, "--demo=quiet"},
		{[]string{"foo", "check"}, "--demo=quiet"},
		{[]string{"--demo=nope"}, `no scenario is called "nope"`}, // and not that there is no terminal
		{[]string{"--demo=hung-inspct"}, "did you mean hung-inspect?"},
		{[]string{"watch", "watch"}, "one view"},
		{[]string{"--output=xml", "watch"}, "json"},
		{[]string{"--timeout=0", "watch"}, "more than 0"},
		{[]string{"--relist-threshold=-1s", "watch"}, "more than 0"},
		{[]string{"--relist-period=0", "watch"}, "more than 0"},
		{[]string{"--relist-period=1ms", "watch"}, "100ms"},
		{[]string{"--kubelet-version=1.2", "watch"}, "1.25"},
		{[]string{"--runtime-endpoint=/x", "watch"}, "--runtime-endpoint"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			cmd := exec.CommandContext(ctx, plegtop(t), append([]string{"--demo"}, tt.args...)...)
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
				t.Errorf("plegtop ended with %v, want status 3", err)
			}
			if got := string(out); strings.Count(got, "\n") != 1 || !strings.Contains(got, tt.want) {
				t.Errorf("plegtop wrote %q, want one line with %q", got, tt.want)
			}
		})
	}
}

// TestPlegtopAnswersAtOnce holds the status of what only answers: 3 where the words make no sense, and 1
// where nobody can have the answer.
func TestPlegtopAnswersAtOnce(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, tt := range []struct {
		args string
		out  *os.File
		code int
		want string
	}{
		{"help", nil, 0, ""}, {"help check", nil, 0, ""}, {"explain runtime-down", nil, 0, ""},
		{"explain nope", nil, 3, "no finding is called"}, {"completion", nil, 3, "want bash"}, {"completion tcsh", nil, 3, "want bash"},
		{"--help", full, 1, "no space left"}, {"help", full, 1, "no space left"}, {"--demo=list", full, 1, "no space left"},
		{"explain", full, 1, "no space left"}, {"completion bash", full, 1, "no space left"}, {"version", full, 1, "no space left"},
	} {
		cmd := exec.Command(plegtop(t), strings.Fields(tt.args)...)
		var said bytes.Buffer
		cmd.Stderr = &said
		if tt.out != nil { // a nil *os.File is a file
			cmd.Stdout = tt.out
		}
		_ = cmd.Run() // the status says it
		if code := cmd.ProcessState.ExitCode(); code != tt.code || !strings.Contains(said.String(), tt.want) {
			t.Errorf("%s: status %d, %q; want %d, %q", tt.args, code, said.String(), tt.code, tt.want)
		}
	}
}

// The folder of the demo's socket goes with the program, also after a signal. On a machine that is
// too busy to remove it within the second that a program has for its end, it stays for the next demo:
// so one of several tries counts, and the folder lies in memory.
func TestDemoLeavesNothing(t *testing.T) {
	t.Parallel()
	const tries = 5
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT} {
		var left []os.DirEntry
		for try := 0; try == 0 || try < tries && len(left) > 0; try++ {
			left = leftBy(t, sig)
		}
		if len(left) > 0 {
			t.Errorf("after %v: %v is left in the temporary folder", sig, left)
		}
	}
}

// inMemory returns a new folder that is on no disk where there is such a place: on a busy disk the folder
// of a demo is not removed in time.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "e2e-") // its name is short: a socket's path is in it
	if err != nil {
		dir, err = os.MkdirTemp("", "e2e-")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// leftBy returns what a demo that a signal ends leaves in its temporary folder.
func leftBy(t *testing.T, sig syscall.Signal) []os.DirEntry {
	t.Helper()
	tmp := inMemory(t)
	r := demo(t, 80, 24, []string{"TMPDIR=" + tmp})
	r.see(t, "HEALTHY")
	if err := r.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Ended(limit); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// Nor does the folder stay when head has read its lines and the pipe breaks.
func TestWatchLeavesNothingBehindAPipe(t *testing.T) {
	t.Parallel()
	tmp := inMemory(t)
	cmd := exec.Command(plegtop(t), "--demo", "watch")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("plegtop watch ended with %v", err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left in the temporary folder", left, err)
	}
}
