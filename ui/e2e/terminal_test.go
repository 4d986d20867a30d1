//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"image/color"
	"strings"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// What the tests of this package ask of a terminal beyond what others need.

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
