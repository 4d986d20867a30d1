package host

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

// used returns a sample of a process: ticks of 10 ms, pages, and the start in ticks.
func used(name string, pid, ticks, pages, threads, start int, at time.Duration) sample {
	return sample{name: name, stat: procfs.ProcStat{
		PID: pid, UTime: uint(ticks / 3), STime: uint(ticks - ticks/3), RSS: pages, NumThreads: threads, Starttime: uint64(start),
	}, at: time.Unix(1795229011, 0).Add(at)}
}

// usageOf makes one look with a meter and returns the usages.
func usageOf(m *usageMeter, samples ...sample) (all []evidence.Usage) {
	for _, s := range samples {
		all = m.add(all, s)
	}
	m.next()
	return all
}

func TestUsageMeter(t *testing.T) {
	var m usageMeter
	page := uint64(os.Getpagesize())
	look := func(at time.Duration, containerd, kubelet sample, want ...evidence.Usage) {
		t.Helper()
		if diff := cmp.Diff(want, usageOf(&m, containerd, kubelet)); diff != "" {
			t.Errorf("after %v: %s", at, diff)
		}
	}
	at := time.Duration(0)
	look(at, used("containerd", 10, 1000, 7, 30, 500, at), used("kubelet", 20, 2000, 9, 40, 600, at),
		evidence.Usage{Name: "containerd", PID: 10, CPU: -1, Memory: 7 * page, Threads: 30},
		evidence.Usage{Name: "kubelet", PID: 20, CPU: -1, Memory: 9 * page, Threads: 40})

	at += 5 * time.Second
	look(at, used("containerd", 10, 1750, 8, 31, 500, at), used("kubelet", 20, 2000, 9, 40, 600, at),
		evidence.Usage{Name: "containerd", PID: 10, CPU: 1.5, Memory: 8 * page, Threads: 31},
		evidence.Usage{Name: "kubelet", PID: 20, CPU: 0, Memory: 9 * page, Threads: 40})

	// The same pid, but another process: it has no look before.
	at += 5 * time.Second
	look(at, used("containerd", 10, 5000, 8, 31, 99000, at), used("kubelet", 20, 2100, 9, 40, 600, at),
		evidence.Usage{Name: "containerd", PID: 10, CPU: -1, Memory: 8 * page, Threads: 31},
		evidence.Usage{Name: "kubelet", PID: 20, CPU: 0.2, Memory: 9 * page, Threads: 40})
}

func TestUsageMeterJoinsProcessesOfOneName(t *testing.T) {
	page := uint64(os.Getpagesize())
	first, second := used("dockerd", 10, 500, 1, 2, 5, 10*time.Second), used("dockerd", 11, 300, 4, 8, 6, 10*time.Second)
	for _, order := range [][]sample{{first, second}, {second, first}} {
		var m usageMeter
		usageOf(&m, used("dockerd", 10, 0, 1, 2, 5, 0))
		want := []evidence.Usage{{Name: "dockerd", CPU: 0.5, Memory: 5 * page, Threads: 10}}
		if diff := cmp.Diff(want, usageOf(&m, order...)); diff != "" {
			t.Errorf("%v: %s", order, diff)
		}
	}
}
