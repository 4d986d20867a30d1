package host

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A usageMeter turns what processes have used since their start into what they
// use now. It belongs to one goroutine at a time.
type usageMeter struct {
	proc string // the folder of the processes, such as /host/proc
	mono func() time.Duration
	seen map[pidStart]spent // at the look before
}

// A pidStart is a process for good: a number is used again, but not with the
// same time of start.
type pidStart struct {
	pid   int
	start uint64 // ticks since boot
}

// spent is what a process had used, and when, by the monotonic clock.
type spent struct {
	cpu float64 // seconds
	at  time.Duration
}

func newUsageMeter(root string, mono func() time.Duration) *usageMeter {
	return &usageMeter{proc: filepath.Join(root, "/proc"), mono: mono}
}

// look returns the usage of the processes, in the order of their names in
// wanted. What has ended or cannot be read is left out.
func (m *usageMeter) look(wanted []named) []evidence.Usage {
	proc, err := procfs.NewFS(m.proc)
	if err != nil {
		return nil
	}
	seen := map[pidStart]spent{}
	var all []evidence.Usage
	for _, w := range wanted {
		stat, err := statOf(proc, w.pid)
		if err != nil {
			continue
		}
		key := pidStart{w.pid, stat.Starttime}
		seen[key] = spent{stat.CPUTime(), m.mono()}
		all = join(all, evidence.Usage{
			Name: w.name, PID: w.pid, CPU: cores(m.seen, key, seen[key]),
			Memory: uint64(max(stat.ResidentMemory(), 0)), Threads: stat.NumThreads,
		})
	}
	m.seen = seen
	return all
}

func statOf(proc procfs.FS, pid int) (procfs.ProcStat, error) {
	p, err := proc.Proc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}

// cores returns what a process used since the look before, or -1 if it was not
// there.
func cores(before map[pidStart]spent, key pidStart, now spent) float64 {
	was, ok := before[key]
	if !ok || now.at <= was.at {
		return -1
	}
	return max(now.cpu-was.cpu, 0) / (now.at - was.at).Seconds()
}

// join adds a process to the others of its name.
func join(all []evidence.Usage, u evidence.Usage) []evidence.Usage {
	i := slices.IndexFunc(all, func(o evidence.Usage) bool { return o.Name == u.Name })
	if i < 0 {
		return append(all, u)
	}
	sum := &all[i]
	sum.PID = 0
	sum.Memory += u.Memory
	sum.Threads += u.Threads
	switch {
	case sum.CPU < 0:
		sum.CPU = u.CPU
	case u.CPU > 0:
		sum.CPU += u.CPU
	}
	return all
}

// A named is a process whose usage is of interest.
type named struct {
	name string
	pid  int
}

// byName returns the daemons, the runtime's before the kubelet. What only keeps
// both alive, and has neither within, is left out.
func byName(daemons []evidence.Process) []named {
	var runtime, kubelet []named
	for _, d := range daemons {
		switch {
		case slices.Contains(kubelets, d.Command):
			kubelet = append(kubelet, named{d.Command, d.PID})
		case !slices.Contains(supervisors, d.Command):
			runtime = append(runtime, named{d.Command, d.PID})
		}
	}
	return append(runtime, kubelet...)
}
