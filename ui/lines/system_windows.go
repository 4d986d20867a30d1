package lines

import (
	"syscall"
	"time"
)

// errNoReader is the error of a write that nobody reads any more: ERROR_NO_DATA.
const errNoReader = syscall.Errno(232)

// ownCPU returns the time that this process has had of the processors.
func ownCPU() time.Duration {
	process, err := syscall.GetCurrentProcess()
	var created, ended, kernel, user syscall.Filetime
	if err != nil || syscall.GetProcessTimes(process, &created, &ended, &kernel, &user) != nil {
		return 0
	}
	const unit = 100 * time.Nanosecond
	units := func(f syscall.Filetime) time.Duration {
		return time.Duration(f.HighDateTime)<<32 | time.Duration(f.LowDateTime)
	}
	return unit * (units(kernel) + units(user))
}
