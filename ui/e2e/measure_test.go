//go:build linux

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

var (
	measureFor = flag.Duration("measure-for", 15*time.Second, "how long a benchmark of the screen goes on after it has settled")
	settleFor  = flag.Duration("settle-for", 3*time.Second, "how long that takes")
)

// BenchmarkScreen measures what plegtop costs beside nothing but the embedded runtime in
// its own process. Run it with -benchtime 1x.
//
// first-ms is the time from the start to the first frame, frame-ms to the first that
// shows pods; key-p50-ms and key-p90-ms are within what time half and nine tenths of 30
// keys were answered, as the bytes came, and ^c-ms how long the end took; bytes/s and cpu-% (of one core) are averages; peak-MB is the most
// memory of the whole run.
func BenchmarkScreen(b *testing.B) {
	for _, s := range []struct {
		scenario, keys string // keys are pressed at the start: 5 opens the timeline, f gives it the screen
		columns, rows  int
	}{
		{"quiet", "", 120, 40}, {"quiet", "", 80, 24}, {"quiet", "5f", 120, 40},
		{"tour", "", 120, 40}, {"tour", "", 80, 24}, {"tour", "", 200, 50}, {"tour", "5", 120, 40}, {"tour", "5f", 120, 40},
		{"big", "", 200, 50},
	} {
		b.Run(fmt.Sprintf("%s%s/%dx%d", s.scenario, s.keys, s.columns, s.rows), func(b *testing.B) {
			for b.Loop() {
				press(b, measure(b, s.columns, s.rows, s.keys, "--demo="+s.scenario))
			}
		})
	}
}

// measure runs plegtop, presses keys, and reports what that cost. The terminal is closed when the
// benchmark ends.
func measure(b *testing.B, columns, rows int, keys string, args ...string) *Terminal {
	b.Helper()
	cmd := exec.Command(plegtop(b), args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	t, err := Start(cmd, columns, rows)
	must(b, err)
	b.Cleanup(func() { _ = t.Close() })
	first, err := t.Wait("a frame", 10*time.Second, func(lines []string) bool { return strings.Join(lines, "") != "" })
	must(b, err)
	frame, err := t.WaitFor("STATE", 10*time.Second)
	must(b, err)
	must(b, t.Type(keys))
	time.Sleep(*settleFor)
	process, err := procfs.NewProc(t.Process())
	must(b, err)
	began, written := time.Now(), t.Written()
	before, err := process.Stat()
	must(b, err)
	time.Sleep(*measureFor)
	after, err := process.Stat()
	must(b, err)
	peak, err := process.NewStatus()
	must(b, err)
	took := time.Since(began).Seconds()
	b.ReportMetric(0, "ns/op") // a run takes as long as it is told to
	b.ReportMetric(float64(first.Milliseconds()), "first-ms")
	b.ReportMetric(float64(frame.Milliseconds()), "frame-ms")
	b.ReportMetric(float64(t.Written()-written)/took, "bytes/s")
	b.ReportMetric(100*(after.CPUTime()-before.CPUTime())/took, "cpu-%")
	b.ReportMetric(float64(peak.VmHWM)/(1<<20), "peak-MB")
	return t
}

// press opens and closes the help, and then ends the program by ^c.
func press(b *testing.B, t *Terminal) {
	b.Helper()
	var took []time.Duration
	for i := range 30 {
		time.Sleep(time.Duration(130+i*29%90) * time.Millisecond) // not in step with the program
		began := t.Age()
		must(b, t.Type("?"))
		open := i%2 == 0
		answered, err := t.Wait("the help", 20*time.Second, func(lines []string) bool {
			return strings.Contains(strings.Join(lines, "\n"), "─ Help 1-") == open
		})
		must(b, err)
		took = append(took, answered-began)
	}
	slices.Sort(took)
	began := time.Now()
	must(b, t.Type("\x03"))
	_, err := t.Ended(20 * time.Second)
	must(b, err)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "key-p50-ms")
	b.ReportMetric(float64(took[len(took)*9/10].Milliseconds()), "key-p90-ms")
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "^c-ms")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
