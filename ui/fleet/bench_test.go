package fleet

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/ui/lines"
)

// BenchmarkTable measures whole runs of the program at a cluster of 5,000 nodes by real HTTP, of
// which 1 % hang and 1 % take 2 s: how long it takes, and the most memory that it has. The stand-in of
// the API server is a process of its own.
func BenchmarkTable(b *testing.B) {
	peak := filepath.Join(b.TempDir(), "peak")
	var took time.Duration
	most, runs := 0, 0
	for b.Loop() {
		c := call(b, "--context=many")
		var out bytes.Buffer
		c.Stdout, c.Env = &out, append(c.Env, "PEAK="+peak)
		began := time.Now()
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		is := c.started(b)
		if got := code(b, c.Wait()); got != lines.ExitWarning || bytes.Count(out.Bytes(), []byte("\n")) != many+2 {
			b.Fatalf("exit code %d, %d lines", got, bytes.Count(out.Bytes(), []byte("\n")))
		}
		took += time.Since(began)
		runs++
		c.leavesNothing(b, is)
		kB, err := os.ReadFile(peak)
		if err != nil {
			b.Fatal(err)
		}
		n, _ := strconv.Atoi(string(kB))
		most = max(most, n)
	}
	b.ReportMetric(took.Seconds()/float64(runs), "s/table")
	b.ReportMetric(float64(most)/1024, "peak-MB")
}

// notePeak writes the most memory that this process has had, in kB, to a file.
func notePeak(file string) {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if err := os.WriteFile(file, []byte(strings.Fields(rest)[0]), 0o600); err != nil {
		panic(err)
	}
}

// big is the cluster of that.
func big() *standIn {
	sound, err := os.ReadFile(os.Getenv("SOUND"))
	if err != nil {
		panic(err)
	}
	return &standIn{pods: named(many), nodes: named(many), unread: strings.Repeat("what a pod is made of ", 350), check: func(i int) reply {
		is := reply{body: string(sound), hang: hangs(i)}
		if slow(i) {
			is.wait = func() { time.Sleep(2 * time.Second) }
		}
		return is
	}}
}
