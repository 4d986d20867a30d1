package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// BenchmarkLook looks at nodes that do not change: a made one with 1,000
// processes, of which 110 pods of 2 containers are 440, and this machine. With
// "first" nothing is known yet. In the made ones a shim has 10 threads.
func BenchmarkLook(b *testing.B) {
	small := b.TempDir()
	writeNode(b, small)
	for _, node := range []struct{ name, root string }{{"made", small}, {"this", ""}} {
		b.Run(node.name+"/first", func(b *testing.B) {
			benchLook(b, func() *Walker { return newWalker(node.root, "") })
		})
		b.Run(node.name+"/next", func(b *testing.B) {
			w := newWalker(node.root, "")
			w.lookAt(b.Context(), time.Now())
			benchLook(b, func() *Walker { return w })
		})
	}
}

func benchLook(b *testing.B, walker func() *Walker) {
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		if found := walker().lookAt(b.Context(), time.Now()); found.Missing+found.Partial != "" {
			b.Fatalf("%s%s", found.Missing, found.Partial)
		}
	}
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// writeNode writes the made node.
func writeNode(b *testing.B, root string) {
	b.Helper()
	for pod := range 110 {
		sandbox := longID(strconv.Itoa(1000 + pod))
		shim := fakeShim(2000+10*pod, sandbox, testSocket)
		for thread := range 9 {
			shim.Threads = append(shim.Threads, fakeProcess{PID: shim.PID + 5000 + thread})
		}
		writeProcess(b, root, shim)
		writeProcess(b, root, fakeProcess{PID: shim.PID + 1, Comm: "pause", Cgroup: cgroupOf(sandbox)})
		for c := range 2 {
			writeProcess(b, root, fakeProcess{PID: shim.PID + 2 + c, Comm: "app", Cgroup: cgroupOf(longID(strconv.Itoa(10_000 + 2*pod + c)))})
		}
	}
	for other := range 560 {
		writeProcess(b, root, fakeProcess{PID: 10_000 + other, Parent: 1 + other%2*10_000, Comm: "sh", Cgroup: "/user.slice/session.scope"})
	}
	entries, err := os.ReadDir(filepath.Join(root, "proc"))
	if err != nil || len(entries) != 1001 {
		b.Fatalf("made %d entries, want 1,000 processes and the uptime: %v", len(entries), err)
	}
}

// processorTime returns the processor time that this process has used, without its children.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
