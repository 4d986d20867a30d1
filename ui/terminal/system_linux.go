package terminal

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dropOutput drops what was written to a terminal and not read, and wakes who waits for room to
// write: the kernel does that only when output goes on after a stop. Where output cannot be dropped,
// it stays.
func dropOutput(out *os.File) {
	fd := int(out.Fd())
	_ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH)
	_ = unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOOFF)
	_ = unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOON)
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
