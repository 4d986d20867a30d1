//go:build linux

package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A screen is a program at work in a terminal of its own, and an emulator that reads what the
// program writes and answers what it asks.
type screen struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File // kept open, so that modes and output outlive the program
	before unix.Termios
	ended  chan struct{} // closed when the program has ended

	mu     sync.Mutex // guards all below
	screen *vt.Emulator
	raw    bytes.Buffer
}

// inTerminal starts cmd in a terminal of that size. The end of the test ends it.
func inTerminal(t *testing.T, cmd *exec.Cmd, columns, rows int) *screen {
	t.Helper()
	master, slave, err := pty.Open()
	must(t, err)
	must(t, pty.Setsize(master, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}))
	s := &screen{t: t, cmd: cmd, master: master, slave: slave, ended: make(chan struct{}), screen: vt.NewEmulator(columns, rows)}
	s.before = s.modes()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, cmd.Start())
	go s.read()
	go func() { _, _ = io.Copy(master, s.screen) }() // what the emulator answers, until the end
	go func() {
		_ = cmd.Wait() // its state tells
		close(s.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-s.ended
		_, _ = slave.Close(), master.Close()
		_ = s.screen.InputPipe().(io.Closer).Close() // the emulator's own Close races with its Read
	})
	return s
}

func (s *screen) read() {
	buf := make([]byte, 1<<16)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.raw.Write(buf[:n])
		_, _ = s.screen.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) modes() unix.Termios {
	modes, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
	must(s.t, err)
	return *modes
}

// restored reports whether the modes are as they were, and the alternate screen has ended.
func (s *screen) restored() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw := s.raw.Bytes()
	return s.modes() == s.before && bytes.LastIndex(raw, []byte("\x1b[?1049l")) > bytes.LastIndex(raw, []byte("\x1b[?1049h"))
}

func (s *screen) press(keys string) {
	s.t.Helper()
	_, err := s.master.WriteString(keys)
	must(s.t, err)
}

// until waits until holds is true of what is shown, and not longer than limit.
func (s *screen) until(what string, limit time.Duration, holds func(shown string) bool) {
	s.t.Helper()
	for late := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		s.mu.Lock()
		shown := s.screen.String()
		s.mu.Unlock()
		switch {
		case holds(shown):
			return
		case time.Now().After(late):
			s.t.Fatalf("%s: not seen in time; the screen:\n%s", what, strings.ReplaceAll(shown, "\r", ""))
		}
	}
}

// endsWith waits for the program to end with a status, and for the terminal, which
// may have some of its output still to read, to be as it was.
func (s *screen) endsWith(want int) {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatalf("%s runs on after %v", s.cmd.Path, patience)
	}
	if got := s.cmd.ProcessState.ExitCode(); got != want {
		s.t.Errorf("exit status %d, want %d", got, want)
	}
	eventually(s.t, "the terminal is as it was", s.restored)
}
