package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

// pressure is the part that tells for want of what tasks stand still.
func pressure(root string) part {
	at := func(r *evidence.Report) *evidence.Pressure { return &r.Pressure }
	read := func(context.Context) evidence.Pressure { return readPressure(root) }
	return partOf("pressure", at, read, func(p *evidence.Pressure, err error) { p.Missing = err.Error() })
}

// readPressure reads what /proc/pressure under root says.
func readPressure(root string) evidence.Pressure {
	proc, err := procfs.NewFS(filepath.Join(root, "/proc"))
	if err != nil {
		return evidence.Pressure{Missing: "no /proc: " + reason(err)}
	}
	var p evidence.Pressure
	into := []*evidence.Stall{&p.CPU, &p.IO, &p.Memory}
	for i, resource := range []string{"cpu", "io", "memory"} {
		stats, err := proc.PSIStatsForResource(resource)
		if err != nil {
			return evidence.Pressure{Missing: noPressure(resource, err)}
		}
		*into[i] = stallOf(stats)
	}
	return p
}

// stallOf leaves at zero what an older kernel does not tell, such as full for
// the CPU.
func stallOf(stats procfs.PSIStats) evidence.Stall {
	var s evidence.Stall
	if stats.Some != nil {
		s.Some10, s.Some60 = percent(stats.Some.Avg10), percent(stats.Some.Avg60)
	}
	if stats.Full != nil {
		s.Full10, s.Full60 = percent(stats.Full.Avg10), percent(stats.Full.Avg60)
	}
	return s
}

// percent keeps v to what a share can be.
func percent(v float64) float64 {
	if v > 0 { // false for what is no number
		return min(v, 100)
	}
	return 0
}

// noPressure says why there are no figures. A kernel that has them but was told
// not to keep them has the files and refuses to read them.
func noPressure(resource string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "this kernel keeps none for the whole node (CONFIG_PSI)"
	case errors.Is(err, syscall.EOPNOTSUPP):
		return "switched off in the kernel; boot it with psi=1"
	}
	return fmt.Sprintf("/proc/pressure/%s: %s", resource, reason(err))
}

// reason returns the bare cause of a failure to read a file, without the path
// that the caller names itself.
func reason(err error) string {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err.Error()
	}
	return err.Error()
}
