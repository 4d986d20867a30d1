package record

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A ring takes as much memory after a day as after some hours.
func TestMemoryIsFlatOverADay(t *testing.T) {
	const day = 24 * time.Hour
	var heap []uint64
	r := NewRecorder(Options{Ring: time.Hour})
	synctest.Test(t, func(t *testing.T) {
		n, began := newNode(5, 2), time.Now()
		next := 6 * time.Hour
		n.asked = func(op call.Operation) {
			if op == call.ListContainers {
				n.restart()
			}
			if time.Since(began) < next {
				return
			}
			next += 3 * time.Hour
			if s := r.State(); s.Ended != "" || s.Span < time.Hour || s.Span > time.Hour+20*time.Minute || s.Kept > 1<<20 {
				t.Errorf("after %v: %+v", next, s)
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap = append(heap, m.HeapAlloc)
		}
		run{node: n, tape: r, period: 10 * time.Second}.lasts(t, day)
	})
	if len(heap) < 6 {
		t.Fatalf("looked %d times", len(heap))
	}
	for _, bytes := range heap[1:] {
		if bytes > heap[0]+heap[0]/4 {
			t.Fatalf("the heap had %d", heap)
		}
	}
}

// BenchmarkHour is what an hour of a node of 110 pods with two containers each takes in a file.
func BenchmarkHour(b *testing.B) {
	for _, changes := range []int{0, 5} {
		b.Run(fmt.Sprintf("110x2/%d-changes-a-second", changes), func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(hour(b, changes)), "B/hour")
			}
		})
	}
}

// hour returns how many bytes an hour takes.
func hour(b *testing.B, changes int) (size int64) {
	record := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := NewRecorder(Options{Ring: -1})
			if err := r.WriteTo(b.TempDir()+"/f", 0); err != nil {
				t.Fatal(err)
			}
			n, began := newNode(110, 2), time.Now()
			n.kept = true
			run{node: n, tape: r, changes: changes, look: func(bool) *evidence.Report { return n.looks(began) }}.lasts(t, time.Hour)
			if err := r.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			size = r.State().Written
		})
	}
	all := func(string, string) (bool, error) { return true, nil }
	if !testing.RunTests(all, []testing.InternalTest{{Name: "hour", F: record}}) { // the time of a bubble is for tests alone
		b.Fatal("not recorded")
	}
	return size
}

// looks returns what a look at a node sees on which all is well: its processes, and figures that
// are never the same.
func (n *node) looks(began time.Time) *evidence.Report {
	n.mu.Lock()
	defer n.mu.Unlock()
	age := time.Since(began)
	process := func(pid int, command string) evidence.Process {
		return evidence.Process{PID: pid, Parent: 1, Command: command, Age: age, State: evidence.Sleeping, Own: true}
	}
	percent := func() float64 { return float64(rand.IntN(200)) / 100 }
	stall := func() evidence.Stall { return evidence.Stall{Some10: percent(), Some60: percent(), Full10: percent()} }
	r := &evidence.Report{At: time.Now(), Took: time.Duration(rand.IntN(5e6)), Pressure: evidence.Pressure{CPU: stall(), IO: stall(), Memory: stall()}}
	r.Processes.Containers = make(map[string][]evidence.Process)
	for i, c := range n.containers {
		r.Processes.Containers[c.ID] = []evidence.Process{process(2000+i, "app")}
	}
	for i, s := range n.sandboxes {
		shim := process(1000+i, "containerd-shim")
		shim.Sandbox = s.ID
		r.Processes.Shims = append(r.Processes.Shims, shim)
		r.Processes.Containers[s.ID] = []evidence.Process{process(3000+i, "pause")}
	}
	for i, name := range []string{"containerd", "kubelet", "plegtop"} {
		r.Processes.Daemons = append(r.Processes.Daemons, process(500+i, name))
		r.Usage = append(r.Usage, evidence.Usage{Name: name, PID: 500 + i, CPU: evidence.Cores(percent() / 10), Memory: uint64(60e6 + rand.IntN(1e6)), Threads: 20 + rand.IntN(3)})
	}
	return r
}
