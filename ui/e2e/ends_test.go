//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"image/color"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

type ending struct {
	name   string
	how    string // of the child
	keys   string
	signal syscall.Signal
	code   int
	says   string // on standard error
}

var endings = []ending{
	{name: "q", keys: "q"},
	{name: "^c", keys: "\x03"},
	{name: "SIGTERM", signal: syscall.SIGTERM, code: 143},
	{name: "SIGHUP", signal: syscall.SIGHUP, code: 129},
	{name: "SIGINT", signal: syscall.SIGINT, code: 130},
	{name: "SIGQUIT", signal: syscall.SIGQUIT, code: 131, says: "eventLoop"},
	{name: "SIGABRT", signal: syscall.SIGABRT, code: 134, says: "eventLoop"},
	{name: "panic in Update", keys: "u", code: 3, says: "plegtop: panic: boom in Update"},
	{name: "panic in View", keys: "v", code: 3, says: "plegtop: panic: boom in View"},
	{name: "panic in a command", keys: "c", code: 3, says: "plegtop: panic: boom ?[31m in a command"},
	{name: "panic in another goroutine", keys: "g", code: 3, says: "plegtop: panic: boom elsewhere"},
	{name: "panic in another goroutine while Update is stuck", keys: "p", code: 3, says: "plegtop: panic: boom elsewhere"},
	{name: "stuck in Update", keys: "h", code: 143},
	{name: "slow end after q", how: "slow-end", keys: "q"},
	{name: "slow end after SIGTERM", how: "slow-end", signal: syscall.SIGTERM, code: 143},
}

func (e ending) bring(t *testing.T, r run) {
	t.Helper()
	if e.keys != "" {
		r.press(t, e.keys)
	}
	if e.signal != 0 {
		if err := r.Signal(e.signal); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTerminalIsRestored(t *testing.T) {
	t.Parallel()
	for _, e := range endings {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			r := startChild(t, e.how)
			r.see(t, "count 1")
			e.bring(t, r)
			r.over(t, e.code)
			if !strings.Contains(r.stderr.String(), e.says) {
				t.Errorf("standard error: %q, want %q", r.stderr, e.says)
			}
		})
	}
}

// The terminal says what its background is, if it is asked.
func TestBackground(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		how, term  string
		background color.Color
		want       string
	}{
		{"asks", "xterm", color.Black, "dark true"},
		{"asks", "xterm", color.White, "dark false"},
		{"asks", "linux", color.White, "count 9"},
		{"", "xterm", color.White, "count 9"},
	} {
		t.Run(tt.how+tt.term+tt.want, func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			r := start(t, 100, 30, []string{"TERM=" + tt.term}, shell, "-c", `read go; exec "$@"`, shell, self, childArg, tt.how)
			r.Background(tt.background)
			r.press(t, "\n")
			r.see(t, tt.want)
			if asked := bytes.Contains(r.Raw(), []byte("\x1b]11;?")); asked != strings.HasPrefix(tt.want, "dark") {
				t.Errorf("asked: %v", asked)
			}
			r.press(t, "q")
			r.over(t, 0)
		})
	}
}

// Nobody reads the terminal, and every frame is new from edge to edge, so that
// the kernel's buffer is full and a write blocks. Keys are not heard then; signals are.
func TestTerminalIsRestoredUnread(t *testing.T) {
	t.Parallel()
	for _, e := range endings {
		if e.signal == 0 || e.how != "" {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			r := startChild(t, "flood")
			r.see(t, "count 1")
			resume := r.Stall()
			r.fill(t, "")
			e.bring(t, r)
			if _, err := r.Ended(gone); err != nil {
				t.Fatal(err)
			}
			resume()
			r.over(t, e.code)
		})
	}
}

func TestResizeOfTheChild(t *testing.T) {
	t.Parallel()
	r := startChild(t)
	r.see(t, "size 100x30")
	if err := r.Resize(60, 10); err != nil {
		t.Fatal(err)
	}
	r.see(t, "size 60x10")
}

// Another size that comes before Bubble Tea listens for it is not lost.
func TestResizeAtTheStart(t *testing.T) {
	t.Parallel()
	startChild(t, "resizes").see(t, "size 60x10")
}

// inShell runs the child from a shell that can stop it.
func inShell(t *testing.T, how string) run {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, 60, 10, []string{"PS1=shell> ", "ENV="}, shell, "-i")
	r.see(t, "shell>")
	r.press(t, "'"+self+"' "+childArg+" "+how+"\n")
	return r
}

// foreground returns the process that has the terminal of a shell.
func (r run) foreground(t *testing.T) int {
	t.Helper()
	conn, err := r.master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var group int
	failed := conn.Control(func(fd uintptr) { group, err = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) })
	if err := errors.Join(failed, err); err != nil {
		t.Fatal(err)
	}
	return group // which is led by it
}

// ^z, and SIGTSTP from outside, hand the terminal to the shell as often as they come;
// fg takes it back. What would have to be read is held before, and released after.
func TestSuspend(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*testing.T, run){
		"^z": func(t *testing.T, r run) { r.press(t, "\x1a") },
		"SIGTSTP": func(t *testing.T, r run) {
			if err := syscall.Kill(r.foreground(t), syscall.SIGTSTP); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := inShell(t, "")
			for _, back := range []string{"resumed 0", "resumed 1 held 11", "resumed 2 held 22"} {
				r.see(t, back)
				stop(t, r)
				r.see(t, "Stopped")
				if got := lastMode(r.Raw(), "1049"); got != 'l' {
					t.Errorf("stopped in the alternate screen: ?1049%c", got)
				}
				r.press(t, "clear; fg\n")
			}
			r.see(t, "resumed 3 held 33")
			r.press(t, "q")
			r.see(t, "shell>")
		})
	}
}

// What is to be closed before the process stops is waited for, and not for long.
func TestSuspendWaitsForAWhile(t *testing.T) {
	t.Parallel()
	r := inShell(t, "hold")
	r.see(t, "resumed 0")
	began := time.Now()
	r.press(t, "\x1a")
	r.see(t, "Stopped")
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("stopped after %v: nobody was waited for", took)
	}
	r.press(t, "clear; fg\n")
	r.see(t, "resumed 1 held 11")
	r.press(t, "q")
	r.see(t, "shell>")
}

// Without a shell there is nothing to suspend to: the screen comes back.
func TestSuspendWithoutAShell(t *testing.T) {
	t.Parallel()
	r := startChild(t)
	r.see(t, "count 1")
	r.press(t, "\x1a")
	r.see(t, "resumed 1")
	r.press(t, "q")
	r.over(t, 0)
}

// What was stopped in a way that no program can see takes the terminal again.
func TestStopAndContinue(t *testing.T) {
	t.Parallel()
	r := startChild(t)
	r.see(t, "count 1")
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := r.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	r.see(t, "resumed 1")
	r.press(t, "q")
	r.over(t, 0)
}

// A terminal that goes away takes the program with it.
func TestHangUp(t *testing.T) {
	t.Parallel()
	r := startChild(t)
	r.see(t, "count 1")
	_ = r.master.Close()
	_ = r.slave.Close()
	if _, err := r.Ended(gone); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, says string
		change     func(*exec.Cmd)
	}{
		{"output to a pipe", "standard output is none", func(c *exec.Cmd) { c.Stdout = new(bytes.Buffer) }},
		{"input from a pipe", "standard input is none", func(c *exec.Cmd) { c.Stdin = new(bytes.Buffer) }},
		{"dumb", "TERM is dumb", func(c *exec.Cmd) { c.Env = append(c.Env, "TERM=dumb") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(self, childArg)
			cmd.Env = append(os.Environ(), "TERM=xterm")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			tt.change(cmd)
			term, err := Start(cmd, 60, 10)
			if err != nil {
				t.Fatal(err)
			}
			defer term.Close()
			code, err := term.Ended(limit)
			if err != nil || code != 1 {
				t.Errorf("exit code %d, %v, want 1", code, err)
			}
			got := stderr.String()
			if !strings.Contains(got, tt.says) || !strings.Contains(got, "plegtop watch") || strings.Count(got, "\n") != 1 {
				t.Errorf("standard error: %q", got)
			}
			if raw := term.Raw(); len(raw) > 0 {
				t.Errorf("%q was drawn", raw)
			}
		})
	}
}
