package host

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
			benchLook(b, func() *walker { return newWalker(node.root, "") })
		})
		b.Run(node.name+"/next", func(b *testing.B) {
			w := newWalker(node.root, "")
			w.lookAt(b.Context(), time.Now())
			benchLook(b, func() *walker { return w })
		})
	}
}

func benchLook(b *testing.B, walker func() *walker) {
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		if found := walker().lookAt(b.Context(), time.Now()); found.Missing+found.Partial != "" {
			b.Fatalf("%s%s", found.Missing, found.Partial)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// writeNode writes the made node.
func writeNode(b *testing.B, root string) {
	b.Helper()
	for pod := range 110 {
		sandbox := fixtureID(strconv.Itoa(1000 + pod))
		shim := fixtureShim(2000+10*pod, sandbox, fixtureSocket)
		for thread := range 9 {
			shim.threads = append(shim.threads, proc{pid: shim.pid + 5000 + thread})
		}
		writeProc(b, root, shim)
		writeProc(b, root, proc{pid: shim.pid + 1, comm: "pause", cgroup: fixtureCgroup(sandbox)})
		for c := range 2 {
			writeProc(b, root, proc{pid: shim.pid + 2 + c, comm: "app", cgroup: fixtureCgroup(fixtureID(strconv.Itoa(10_000 + 2*pod + c)))})
		}
	}
	for other := range 560 {
		writeProc(b, root, proc{pid: 10_000 + other, parent: 1 + other%2*10_000, comm: "sh", cgroup: "/user.slice/session.scope"})
	}
	entries, err := os.ReadDir(filepath.Join(root, "proc"))
	if err != nil || len(entries) != 1001 {
		b.Fatalf("made %d entries, want 1,000 processes and the uptime: %v", len(entries), err)
	}
}
