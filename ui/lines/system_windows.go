package lines

import (
	"time"

	"golang.org/x/sys/windows"
)

// errNoReader is the error of a write that nobody reads any more.
const errNoReader = windows.ERROR_NO_DATA

// ownCPU returns the time that this process has had of the processors.
func ownCPU() time.Duration {
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user) != nil {
		return 0
	}
	const unit = 100 * time.Nanosecond
	ticks := func(f windows.Filetime) time.Duration {
		return time.Duration(f.HighDateTime)<<32 | time.Duration(f.LowDateTime)
	}
	return unit * (ticks(kernel) + ticks(user))
}
