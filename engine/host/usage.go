package host

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// ownUsage is the part that tells what plegtop itself takes.
func ownUsage() part {
	meter := usageMeter{}
	return part{
		name: "own usage",
		read: func(context.Context) fill {
			var own []evidence.Usage
			if p, err := procfs.Self(); err == nil {
				if stat, err := p.Stat(); err == nil {
					own = meter.usage([]sample{{"plegtop", stat, time.Now()}})
				}
			}
			return func(r *evidence.Report) { r.Usage = append(r.Usage, own...) }
		},
		missing: func(*evidence.Report, error) {}, // what is not found is left out
	}
}

// A sample is what a process had used when its stat file was read.
type sample struct {
	name string
	stat procfs.ProcStat
	at   time.Time
}

// A usageMeter turns what processes have used since their start into what they
// use now: it has the samples of the look before. It belongs to one goroutine at
// a time.
type usageMeter struct{ before map[pidStart]sample }

// A pidStart is a process for good: a number is used again, but not with the
// same time of start.
type pidStart struct {
	pid   int
	start uint64 // ticks since boot
}

// usage returns what the processes use, those of one name together, in the order
// of the samples.
func (m *usageMeter) usage(samples []sample) []evidence.Usage {
	seen := map[pidStart]sample{}
	var all []evidence.Usage
	for _, s := range samples {
		key := pidStart{s.stat.PID, s.stat.Starttime}
		seen[key] = s
		all = join(all, evidence.Usage{
			Name: s.name, PID: s.stat.PID, CPU: s.coresSince(m.before[key]),
			Memory: uint64(max(s.stat.ResidentMemory(), 0)), Threads: s.stat.NumThreads,
		})
	}
	m.before = seen
	return all
}

// coresSince returns what the process used since the look before, or -1 if it
// was not there.
func (s sample) coresSince(before sample) evidence.Cores {
	took := s.at.Sub(before.at)
	if before.at.IsZero() || took <= 0 {
		return -1
	}
	return evidence.Cores(max(s.stat.CPUTime()-before.stat.CPUTime(), 0) / took.Seconds())
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

// sortDaemons returns the runtime's daemons before the kubelet. What only keeps
// both alive, and has neither within, is left out.
func sortDaemons(daemons []evidence.Process) []evidence.Process {
	var runtime, kubelet []evidence.Process
	for _, d := range daemons {
		switch {
		case slices.Contains(knowledge.Kubelets, d.Command):
			kubelet = append(kubelet, d)
		case !slices.Contains(knowledge.Supervisors, d.Command):
			runtime = append(runtime, d)
		}
	}
	return append(runtime, kubelet...)
}
