package e2e

import (
	"syscall"
	"testing"
)

// The process that has the terminal may end in any way: its parent gives it back.
func TestKilledScreen(t *testing.T) {
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
	r := screenInShell(t)
	r.see(t, "HEALTHY")
	if err := syscall.Kill(childOf(t, r.Process()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.see(t, "Killed")
	ended := func([]string) bool { return lastMode(r.Raw(), "1049") == 'l' }
	if _, err := r.Wait("the end of the alternate screen", limit, ended); err != nil {
		t.Error(err)
	}
}

// A shell stops and continues the two processes as it does one.
func TestSuspendOfTheScreen(t *testing.T) {
	r := screenInShell(t)
	stops := map[string]func(){
		"^z":              func() { r.press(t, "\x1a") },
		"SIGTSTP":         func() { _ = syscall.Kill(childOf(t, r.Process()), syscall.SIGTSTP) },
		"SIGTSTP for all": func() { _ = syscall.Kill(-childOf(t, r.Process()), syscall.SIGTSTP) },
	}
	for name, stop := range stops {
		r.see(t, "HEALTHY")
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
