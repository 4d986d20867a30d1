package terminal

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reopen opens a terminal once more, so that writes to it do not block; nil where it cannot.
func reopen(out *os.File) *os.File {
	own, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", out.Fd()), os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if own.SetWriteDeadline(time.Time{}) != nil {
		own.Close()
		return nil
	}
	return own
}

// rescue drops all output to a terminal that has not been read, and writes restore. Where output
// cannot be dropped, it stays.
func rescue(own *os.File) {
	conn, err := own.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCOFLUSH) })
	_ = own.SetWriteDeadline(time.Time{}) // one would have passed, on a busy machine, before the write was tried
	_ = conn.Write(func(fd uintptr) bool {
		_, _ = syscall.Write(int(fd), []byte(restore))
		return true // there is room for it; nobody waits for more
	})
}

// canStop says that a process which has caught SIGTSTP can be stopped by it yet.
const canStop = true

// asDefault calls f while sig does what it does to a program that has never caught
// it. The Go runtime has no way back: a signal that it has caught once and that
// would stop the process is ignored from then on.
func asDefault(sig syscall.Signal, f func()) {
	var initial, caught [64]byte // a struct sigaction of any architecture; all zero is the default
	const maskSize = 8
	set := func(to, was *[64]byte) {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(was)), maskSize, 0, 0)
	}
	set(&initial, &caught)
	f()
	set(&caught, &initial)
}
