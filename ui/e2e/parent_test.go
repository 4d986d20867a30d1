//go:build linux

package e2e

import (
	"syscall"
	"testing"
	"time"
)

// The process that has the terminal may end in any way: its parent gives it back.
func TestKilledScreen(t *testing.T) {
	t.Parallel()
	r := start(t, 80, 24, nil, plegtop(t), "--demo")
	r.see(t, "HEALTHY")
	if err := syscall.Kill(childOf(t, r.Process()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.over(t, 2)
}

// screenInShell runs the demo from a shell that can stop it.
func screenInShell(t *testing.T) run {
	t.Helper()
	r := start(t, 80, 24, []string{"PS1=shell> ", "ENV="}, shell, "-i")
	r.see(t, "shell>")
	r.press(t, "'"+plegtop(t)+"' --demo\n")
	return r
}

// The screen ends with its parent, in whatever way that ends.
func TestKilledParent(t *testing.T) {
	t.Parallel()
	r := screenInShell(t)
	r.see(t, "HEALTHY")
	if err := syscall.Kill(childOf(t, r.Process()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended := func([]string) bool { return lastMode(r.Raw(), "1049") == 'l' }
	if _, err := r.Wait("the end of the alternate screen", limit, ended); err != nil {
		t.Fatal(err)
	}
	r.press(t, "clear\n") // the shell's word may have come to the other screen
	r.see(t, "shell>")
}

// A shell stops and continues the two processes as it does one.
func TestSuspendOfTheScreen(t *testing.T) {
	t.Parallel()
	r := screenInShell(t)
	stops := map[string]func(){
		"^z":              func() { r.press(t, "\x1a") },
		"SIGTSTP":         func() { _ = syscall.Kill(childOf(t, r.Process()), syscall.SIGTSTP) },
		"SIGTSTP for all": func() { _ = syscall.Kill(-childOf(t, r.Process()), syscall.SIGTSTP) },
	}
	for name, stop := range stops {
		r.see(t, "HEALTHY")
		r.press(t, "?") // a key is taken once the screen has come back whole: until then a second stop is one with the first
		r.see(t, "the pod's namespace")
		r.press(t, "q")
		r.see(t, "1 Pods")
		stop()
		r.see(t, "Stopped")
		if got := lastMode(r.Raw(), "1049"); got != 'l' {
			t.Errorf("%s: stopped in the alternate screen: ?1049%c", name, got)
		}
		r.press(t, "clear; fg\n")
	}
	r.see(t, "HEALTHY")
	r.press(t, "q")
	r.see(t, "shell>")
}

// What is sent to the whole group comes to the screen twice, and stops it once.
func TestSuspendTwiceIsOnce(t *testing.T) {
	t.Parallel()
	r := inShell(t, "hold")
	r.see(t, "count 1")
	screen := childOf(t, r.Process())
	for range 2 {
		_ = syscall.Kill(screen, syscall.SIGTSTP)
		time.Sleep(300 * time.Millisecond) // it has not stopped yet
	}
	r.see(t, "Stopped")
	r.press(t, "clear; fg && echo en''ded\n")
	r.see(t, "count")
	time.Sleep(2 * time.Second)
	r.press(t, "q")
	r.see(t, "ended")
}
