//go:build linux

// Package e2e runs a program in a pseudo-terminal and reads the screen that it
// draws, for tests of the whole program and for measuring it.
package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A Terminal is a pseudo-terminal with a program in it and a terminal emulator
// that reads what the program writes and answers what it asks. Its methods may
// be called from several goroutines at once.
type Terminal struct {
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File // kept open, so that modes and output outlive the program
	before unix.Termios
	began  time.Time
	ended  chan struct{} // closed when the program has ended
	err    error         // how; valid when ended is closed

	gate sync.Mutex // held while nobody reads the terminal

	mu      sync.Mutex // guards all below
	screen  *vt.Emulator
	raw     bytes.Buffer
	latest  time.Time     // of the latest output, as it was read
	changed chan struct{} // closed and made anew with every output
}

// Start starts cmd in a terminal of that size, as the leader of a session whose
// terminal that is. Whatever of its standard files is not set is the terminal.
func Start(cmd *exec.Cmd, columns, rows int) (*Terminal, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	t := &Terminal{cmd: cmd, master: master, slave: slave, ended: make(chan struct{}), changed: make(chan struct{}), screen: vt.NewEmulator(columns, rows)}
	if err := t.start(columns, rows); err != nil {
		return nil, errors.Join(err, master.Close(), slave.Close())
	}
	go t.read()
	go func() { _, _ = io.Copy(master, t.screen) }() // what the emulator answers, until Close
	go func() {
		t.err = cmd.Wait()
		close(t.ended)
	}()
	return t, nil
}

func (t *Terminal) start(columns, rows int) error {
	if err := pty.Setsize(t.master, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		return fmt.Errorf("set the size: %w", err)
	}
	modes, err := t.modes()
	if err != nil {
		return err
	}
	t.before = *modes
	if t.cmd.Stdin == nil {
		t.cmd.Stdin = t.slave
	}
	if t.cmd.Stdout == nil {
		t.cmd.Stdout = t.slave
	}
	if t.cmd.Stderr == nil {
		t.cmd.Stderr = t.slave
	}
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: t.cmd.Stdin == t.slave, Ctty: 0}
	t.began = time.Now()
	if err := t.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", t.cmd.Path, err)
	}
	return nil
}

func (t *Terminal) modes() (*unix.Termios, error) {
	modes, err := unix.IoctlGetTermios(int(t.slave.Fd()), unix.TCGETS)
	if err != nil {
		return nil, fmt.Errorf("read the terminal's modes: %w", err)
	}
	return modes, nil
}

func (t *Terminal) read() {
	buf := make([]byte, 1<<16)
	for {
		t.pass()
		n, err := t.master.Read(buf)
		if n > 0 {
			t.took(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// pass waits for whoever holds the gate.
func (t *Terminal) pass() {
	t.gate.Lock()
	defer t.gate.Unlock()
}

func (t *Terminal) took(p []byte) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest = now
	t.raw.Write(p)
	_, _ = t.screen.Write(p)
	close(t.changed)
	t.changed = make(chan struct{})
}

// Type sends keys as the terminal would: "\x03" is ^c, "\x1b[A" up.
func (t *Terminal) Type(keys string) error {
	_, err := t.master.WriteString(keys)
	return err
}

// lines returns the screen as it is, without trailing spaces. The caller holds
// the lock.
func (t *Terminal) lines() []string {
	all := strings.Split(t.screen.String(), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " \r")
	}
	return all
}

// Written returns how many bytes the program has written.
func (t *Terminal) Written() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.raw.Len()
}

// Wait waits until holds is true of the screen and returns how long after the
// program's start the output came that made it so, or any after that. It fails after
// limit, or when the program has ended and what it wrote has been read, with the screen
// in the error.
func (t *Terminal) Wait(what string, limit time.Duration, holds func(lines []string) bool) (time.Duration, error) {
	timeout := time.After(limit)
	ended := t.ended
	since := time.Now()
	for {
		t.mu.Lock()
		lines, changed, latest := t.lines(), t.changed, t.latest
		t.mu.Unlock()
		if holds(lines) {
			return latest.Sub(t.began), nil
		}
		select {
		case <-changed:
		case <-ended: // look once more: its last words may be on their way
			ended = nil
			timeout = time.After(5 * time.Second)
		case <-timeout:
			return 0, fmt.Errorf("%s: not seen within %v; %s, having written %d bytes; the screen:\n%s",
				what, time.Since(since).Round(time.Millisecond), t.state(), t.Written(), strings.Join(lines, "\n"))
		}
	}
}

// state says whether the program runs, or how it ended.
func (t *Terminal) state() string {
	select {
	case <-t.ended:
		return "the program ended with " + t.cmd.ProcessState.String()
	default:
		return "the program runs"
	}
}

// Signal sends sig to the program.
func (t *Terminal) Signal(sig os.Signal) error { return t.cmd.Process.Signal(sig) }

// Raw returns all bytes that the program has written.
func (t *Terminal) Raw() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.raw.Bytes())
}

// Ended waits for the program to end and returns its exit code, -1 for one
// that a signal killed.
func (t *Terminal) Ended(limit time.Duration) (int, error) {
	select {
	case <-t.ended:
		return t.cmd.ProcessState.ExitCode(), nil
	case <-time.After(limit):
		return 0, fmt.Errorf("%s runs on after %v", t.cmd.Path, limit)
	}
}

// Restored returns an error that names what the program has left changed: the
// modes, and, as far as its output was read, the alternate screen, the cursor,
// and paste mode.
func (t *Terminal) Restored() error {
	modes, err := t.modes()
	if err != nil {
		return err
	}
	if *modes != t.before {
		return fmt.Errorf("the terminal's modes are %+v, before they were %+v", *modes, t.before)
	}
	raw := t.Raw()
	for name, mode := range map[string]struct {
		number string
		want   byte
	}{"the alternate screen": {"1049", 'l'}, "the cursor": {"25", 'h'}, "paste mode": {"2004", 'l'}} {
		if got := lastMode(raw, mode.number); got != 0 && got != mode.want {
			return fmt.Errorf("%s was left in the wrong state: ?%s%c", name, mode.number, got)
		}
	}
	return nil
}

// lastMode returns how a private mode was set last: 'h', 'l', or 0 for never.
func lastMode(raw []byte, number string) byte {
	i := bytes.LastIndex(raw, []byte("\x1b[?"+number))
	if end := i + 3 + len(number); i >= 0 && end < len(raw) {
		return raw[end]
	}
	return 0
}

// Process returns the id of the program's process.
func (t *Terminal) Process() int { return t.cmd.Process.Pid }

// Resize gives the terminal another size, of which the program hears.
func (t *Terminal) Resize(columns, rows int) error {
	t.mu.Lock()
	t.screen.Resize(columns, rows)
	t.mu.Unlock()
	return pty.Setsize(t.master, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
}

// Background gives the terminal a background, which it tells when it is asked.
func (t *Terminal) Background(c color.Color) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.screen.SetBackgroundColor(c)
}

// Stall stops reading what the program writes, but for what is being read just
// now, until the function that it returns is called.
func (t *Terminal) Stall() (resume func()) {
	t.gate.Lock()
	return t.gate.Unlock
}

// Age returns how long ago the program was started.
func (t *Terminal) Age() time.Duration { return time.Since(t.began) }

// WaitFor is Wait for a text on the screen.
func (t *Terminal) WaitFor(text string, limit time.Duration) (time.Duration, error) {
	return t.Wait(fmt.Sprintf("%q", text), limit, func(lines []string) bool {
		return strings.Contains(strings.Join(lines, "\n"), text)
	})
}

// Full reports whether the program's next write would block: nobody has read
// for so long that the kernel keeps no more.
func (t *Terminal) Full() (bool, error) {
	conn, err := t.slave.SyscallConn()
	if err != nil {
		return false, err
	}
	var n int
	failed := conn.Control(func(fd uintptr) {
		for { // EINTR comes from the Go runtime's own signals
			n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 0)
			if !errors.Is(err, unix.EINTR) {
				return
			}
		}
	})
	return n == 0, errors.Join(failed, err)
}

// Close ends the program, if it still runs, and gives the terminal up.
func (t *Terminal) Close() error {
	select {
	case <-t.ended:
	default:
		_ = t.cmd.Process.Kill()
		<-t.ended
	}
	err := errors.Join(t.slave.Close(), t.master.Close())
	if answers, ok := t.screen.InputPipe().(io.Closer); ok { // the emulator's own Close races with its Read
		err = errors.Join(err, answers.Close())
	}
	return err
}
