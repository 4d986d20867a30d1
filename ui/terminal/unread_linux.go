package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropUnread throws away what was written to a terminal and not read yet. Where
// that fails, it stays.
func dropUnread(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCOFLUSH) })
}
