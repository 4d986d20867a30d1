//go:build linux

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

const (
	shell = "/bin/sh"
	limit = 3 * time.Minute // for what takes a moment, on a machine with other things to do
	gone  = limit           // for what is promised within two seconds, on such a machine
)

// A run is a program in a terminal, and what it wrote to standard error.
type run struct {
	*Terminal
	stderr *bytes.Buffer
}

func start(t *testing.T, columns, rows int, environ []string, name string, args ...string) run {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(append(os.Environ(),
		"TERM=xterm-256color", "NO_COLOR=", "GORACE=atexit_sleep_ms=0", // which counts towards the time to end
		"XDG_CONFIG_HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir()), environ...)
	var stderr bytes.Buffer
	if name != shell { // which prompts there
		cmd.Stderr = &stderr
	}
	term, err := Start(cmd, columns, rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = term.Close() })
	return run{term, &stderr}
}

func startChild(t *testing.T, how ...string) run {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return start(t, 100, 30, nil, self, append([]string{childArg}, how...)...)
}

func (r run) see(t *testing.T, text string) {
	t.Helper()
	if _, err := r.WaitFor(text, limit); err != nil {
		t.Fatalf("%v\n%s", err, r.lastWords())
	}
}

// lastWords ends a program that did not do what it should, and returns what it wrote
// to standard error: if it ran on, where each goroutine stands.
func (r run) lastWords() string {
	_ = r.Signal(syscall.SIGQUIT)
	if _, err := r.Ended(gone); err != nil {
		return err.Error()
	}
	return "standard error:\n" + r.stderr.String()
}

func (r run) press(t *testing.T, keys string) {
	t.Helper()
	if err := r.Type(keys); err != nil {
		t.Fatal(err)
	}
}

// over checks that the program ends in time with code and leaves nothing
// behind.
func (r run) over(t *testing.T, code int) {
	t.Helper()
	got, err := r.Ended(gone)
	if err != nil {
		t.Fatal(err)
	}
	if got != code {
		t.Errorf("exit code %d, want %d; standard error:\n%s", got, code, r.stderr)
	}
	r.tidy(t)
}

// tidy checks that a program that has ended left the terminal as it was.
func (r run) tidy(t *testing.T) {
	t.Helper()
	ended := func([]string) bool { return lastMode(r.Raw(), "1049") == 'l' && r.Restored() == nil }
	if _, err := r.Wait("the terminal as it was", limit, ended); err != nil {
		t.Error(r.Restored(), err)
	}
}

// ends waits for the end of a program that is in no terminal. It kills one that runs on.
func ends(cmd *exec.Cmd) error {
	defer time.AfterFunc(gone, func() { _ = cmd.Process.Kill() }).Stop()
	return cmd.Wait()
}

// fill presses keys, if any, until the terminal takes no more and the program stands in
// a write: nobody reads.
func (r run) fill(t *testing.T, keys string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(120 * time.Millisecond) { // a little more than a frame
		full, err := r.Full()
		switch {
		case err != nil:
			t.Fatal(err)
		case !full:
			r.press(t, keys)
		case inWrite(r.Process()) || time.Since(began) > mayWrite:
			return
		}
	}
}
