package cgroup

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/host/proc"
)

// BenchmarkKernelSource measures what the source costs in a second on a quiet node of 110 pods with two
// containers and a sandbox each, and how much memory it takes. (With the kernel's own groups and processes, if
// we may make them.)
func BenchmarkKernelSource(b *testing.B) {
	const pods, each = 110, 3
	for n := range pods * each {
		newKernelGroup(b, longID(fmt.Sprint(n))).start("sleep", "600")
	}
	n := New("")
	before, rss := heap(), resident(b)
	h, stop := listen(b, n.Cgroups)
	defer stop()
	newKernelGroup(b, longID(probe)).probe(h)
	used := processorTime(b)
	began := time.Now()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	b.ReportMetric(float64((processorTime(b)-used).Microseconds())/time.Since(began).Seconds(), "cpu-µs/s")
	b.ReportMetric(float64(heap()-before)/1024, "heap-KiB")
	b.ReportMetric(float64(resident(b)-rss), "rss-KiB")
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// resident returns how much of this process is in memory, in KiB.
func resident(b *testing.B) (size int) {
	text, err := os.ReadFile("/proc/self/status")
	if fields := proc.StatusField(string(text), "VmRSS"); err == nil && len(fields) > 0 {
		_, err = fmt.Sscan(fields[0], &size)
	}
	if err != nil {
		b.Fatal(err)
	}
	return size
}
