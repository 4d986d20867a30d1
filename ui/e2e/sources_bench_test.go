//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/cri/sim"
)

// BenchmarkSources measures what event sources cost plegtop on a quiet node of 110 pods with
// two containers each: five processes of watch with all of them and five without, side by
// side, so that what else the machine does meets both. Of each five the median counts. Run
// it with -benchtime 1x. The containers' processes and control groups are made if that may be.
func BenchmarkSources(b *testing.B) {
	server, err := sim.Start(b.Context(), sim.Config{Scenario: "quiet", Seed: 1})
	must(b, err)
	defer server.Close()
	b.Logf("%d processes in control groups of their own", populate(b, 110*3))
	const each = 5
	for b.Loop() {
		var all []procfs.Proc // every second one with sources
		for i := range 2 * each {
			args := []string{"-r", server.Endpoint(), "watch", "-o", "json"}
			if i%2 == 1 {
				args = append(args, "--events=cri,cgroup")
			}
			cmd := exec.Command(plegtop(b), args...)
			must(b, cmd.Start())
			defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			p, err := procfs.NewProc(cmd.Process.Pid)
			must(b, err)
			all = append(all, p)
		}
		time.Sleep(*settleFor)
		before, began := make([]float64, len(all)), time.Now()
		for i, p := range all {
			before[i] = busy(b, p)
		}
		time.Sleep(*measureFor)
		var cpu, memory [2][]float64
		for i, p := range all {
			cpu[i%2] = append(cpu[i%2], 100*(busy(b, p)-before[i])/float64(time.Since(began)))
			s, err := p.NewStatus()
			must(b, err)
			memory[i%2] = append(memory[i%2], float64(s.VmRSS)/(1<<20))
		}
		for i, name := range []string{"without", "with"} {
			slices.Sort(cpu[i])
			slices.Sort(memory[i])
			b.ReportMetric(cpu[i][each/2], "cpu-%-"+name)
			b.ReportMetric(memory[i][each/2], "MB-"+name)
		}
		b.ReportMetric(0, "ns/op")
	}
}

// busy returns how long the threads of a process have been on a processor, in nanoseconds.
func busy(b *testing.B, p procfs.Proc) (sum float64) {
	b.Helper()
	threads, err := procfs.AllThreads(p.PID)
	must(b, err)
	for _, thread := range threads {
		s, err := thread.Schedstat()
		must(b, err)
		sum += float64(s.RunningNanoseconds)
	}
	return sum
}

// populate starts so many processes, three to a pod, each in a control group as a container's,
// and returns how many there are.
func populate(b *testing.B, n int) (made int) {
	root := "/sys/fs/cgroup"
	if _, err := os.Stat(root + "/unified"); err == nil {
		root += "/unified"
	}
	root = filepath.Join(root, "plegtop-measure-"+strconv.Itoa(os.Getpid()))
	b.Cleanup(func() { _ = os.Remove(root) })
	for i := range n {
		pod := filepath.Join(root, fmt.Sprintf("kubepods-pod%d", i/3))
		group := filepath.Join(pod, fmt.Sprintf("%s%04d", strings.Repeat("a", 60), i))
		cmd := exec.Command("sleep", "600")
		if os.MkdirAll(group, 0o700) != nil || cmd.Start() != nil {
			return made
		}
		b.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			for end := time.Now().Add(time.Second); os.Remove(group) != nil && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // the process is leaving
			}
			_ = os.Remove(pod)
		})
		if os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0) != nil {
			return made
		}
		made++
	}
	return made
}
