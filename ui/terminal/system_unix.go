//go:build unix

package terminal

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// stopSignal is what ^z sends, contSignal what fg does, and sizeSignal what a terminal of another
// size does.
const stopSignal, contSignal, sizeSignal = syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGWINCH

// kill sends a signal to a process, or to the group of this one if pid is 0.
func kill(pid int, sig syscall.Signal) error { return syscall.Kill(pid, sig) }

// stoodIn reports whether f is what the runtime opens in the place of a closed one.
func stoodIn(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(null, info)
}
