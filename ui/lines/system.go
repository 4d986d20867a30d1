package lines

import (
	"syscall"
	"time"
)

// errNoReader is the error of a write that nobody reads any more.
const errNoReader = syscall.EPIPE

// ownCPU returns the time that this process has had of the processors.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
