package host

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
	thread.cpu, thread.ran = 1, 7*3_600_000-63_000
	for _, tt := range []struct {
		name string
		proc proc
		want time.Duration
	}{
		{"D", proc{state: evidence.Uninterrupted, ran: 10_000}, time.Minute},
		{"traced", proc{state: evidence.Traced, ran: 10_000}, time.Minute},
		{"a thread", proc{threads: []proc{thread}}, 63 * time.Second},
		{"a processor that is not ours", proc{state: evidence.Uninterrupted, ran: 10_000, cpu: 2}, 0},
		{"not told", proc{state: evidence.Uninterrupted}, 0},
		{"asleep", proc{ran: 10_000}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, id := t.TempDir(), fixtureID("1")
			p := tt.proc
			p.pid, p.comm, p.cgroup = 200, "java", fixtureCgroup(id)
			writeProc(t, root, p)
			w := newFixtureWalker(root)
			w.clock = func(cpu int) time.Duration { return clocks[cpu] }
			found := w.lookAt(t.Context(), fixtureLook).Containers[id]
			if len(found) != 1 || found[0].For != tt.want {
				t.Errorf("found %+v, want it so for %v", found, tt.want)
			}
		})
	}
}

// What was frozen may have slept for hours before that.
func TestLookDoesNotTellForHowLongItIsFrozen(t *testing.T) {
	root, id := t.TempDir(), fixtureID("1")
	writeProc(t, root, proc{pid: 200, comm: "java", cgroup: "/kubepods/" + id, state: evidence.Sleeping, ran: 10_000})
	writeFile(t, root+"/sys/fs/cgroup/kubepods/"+id+"/cgroup.events", "frozen 1\n")
	w := newFixtureWalker(root)
	w.clock = func(int) time.Duration { return time.Minute }
	if found := w.lookAt(t.Context(), fixtureLook).Containers[id]; len(found) != 1 || found[0].State != evidence.Frozen || found[0].For != 0 {
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
