package proc

import (
	"runtime"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// Each processor's clock is its own: one look tells since when a thread sleeps, by
// that of the processor on which it last ran.
func TestLookTellsAtOnceForHowLong(t *testing.T) {
	clocks := map[int]time.Duration{0: 70 * time.Second, 1: 7 * time.Hour}
	thread := stuckThread(201, 5)
	thread.CPU, thread.Ran = 1, 7*3_600_000-63_000
	for _, tt := range []struct {
		name string
		proc fakeProcess
		want time.Duration
	}{
		{"D", fakeProcess{State: evidence.Uninterrupted, Ran: 10_000}, time.Minute},
		{"traced", fakeProcess{State: evidence.Traced, Ran: 10_000}, time.Minute},
		{"a thread", fakeProcess{Threads: []fakeProcess{thread}}, 63 * time.Second},
		{"a processor that is not ours", fakeProcess{State: evidence.Uninterrupted, Ran: 10_000, CPU: 2}, 0},
		{"not told", fakeProcess{State: evidence.Uninterrupted}, 0},
		{"asleep", fakeProcess{Ran: 10_000}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, id := t.TempDir(), longID("1")
			p := tt.proc
			p.PID, p.Comm, p.Cgroup = 200, "java", cgroupOf(id)
			writeProcess(t, root, p)
			w := newFixtureWalker(root)
			w.clock = func(cpu int) time.Duration { return clocks[cpu] }
			found := w.lookAt(t.Context(), firstLook).Containers[id]
			if len(found) != 1 || found[0].For != tt.want || found[0].AtLeast {
				t.Errorf("found %+v, want it so for %v", found, tt.want)
			}
		})
	}
}

// What was frozen may have slept for hours before that.
func TestLookDoesNotTellForHowLongItIsFrozen(t *testing.T) {
	root, id := t.TempDir(), longID("1")
	writeProcess(t, root, fakeProcess{PID: 200, Comm: "java", Cgroup: "/kubepods/" + id, State: evidence.Sleeping, Ran: 10_000})
	writeFile(t, root+"/sys/fs/cgroup/kubepods/"+id+"/cgroup.events", "frozen 1\n")
	w := newFixtureWalker(root)
	w.clock = func(int) time.Duration { return time.Minute }
	if found := w.lookAt(t.Context(), firstLook).Containers[id]; len(found) != 1 || found[0].State != evidence.Frozen || found[0].For != 0 {
		t.Errorf("found %+v, want it frozen for 0s", found)
	}
}

func TestProcessorClockGoesOn(t *testing.T) {
	for cpu := range runtime.NumCPU() {
		was := processorClock(cpu)
		time.Sleep(20 * time.Millisecond)
		if now := processorClock(cpu); was > 0 && now <= was {
			t.Errorf("the clock of processor %d went from %v to %v", cpu, was, now)
		}
	}
	if now := processorClock(1023); now != 0 {
		t.Errorf("the clock of no processor is %v, want 0", now)
	}
}
