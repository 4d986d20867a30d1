package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

// parseStat returns the same values of a stat file as package procfs.
func TestParseStat(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	fs, err := procfs.NewFS(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fakeProcess{PID: 7, Comm: "java", State: evidence.Uninterrupted, Parent: 3, Flags: kernelThread, CPU: 5}.Stat(9),
		fakeProcess{PID: 7, Comm: "a) S 5 (b\n \xff", State: evidence.Stopped}.Stat(1),
		"7 (tail) S 1 7 7 0 -1 4194304 103 104 105 106 11 12 13 14 20 0 3 0 31415 5677056 256 18446744073709551615 1 2 3 0 0 0 0 0 0 0 0 0 17 6 0 0 7 8 9 0 0 0 0 0 0 0 0\n",
	} {
		writeFile(t, filepath.Join(root, "7/stat"), text)
		p, err := fs.Proc(7)
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.Stat()
		if err != nil {
			t.Fatal(err)
		}
		want := procfs.ProcStat{
			PID: all.PID, Comm: all.Comm, State: all.State, PPID: all.PPID, Flags: all.Flags, UTime: all.UTime, STime: all.STime,
			NumThreads: all.NumThreads, Starttime: all.Starttime, RSS: all.RSS, Processor: all.Processor,
		}
		got, err := parseStat([]byte(text))
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(procfs.ProcStat{})); diff != "" || err != nil {
			t.Errorf("parseStat(%q): %v (-want +got):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", "\n", "7", "7 (java)", "7 (java) ", "7 )java( S 1", "7 (java) S x" + fakeProcess{}.Stat(1)[4:], "x" + fakeProcess{PID: 7}.Stat(1)} {
		if got, err := parseStat([]byte(text)); err == nil {
			t.Errorf("parseStat(%q) = %+v, want an error", text, got)
		}
	}
}

func TestReadNumbers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 1000 {
		if err := os.Mkdir(filepath.Join(dir, strconv.Itoa(10_000+i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(dir, "self"), "")
	got, err := readNumbers(dir, make([]byte, smallBuffer))
	sum := 0
	for _, n := range got {
		sum += n - 10_000
	}
	if err != nil || len(got) != 1000 || sum != 999*1000/2 {
		t.Errorf("readNumbers = %d numbers, %v, want 1,000", len(got), err)
	}
	if _, err := readNumbers(filepath.Join(dir, "self"), nil); err == nil {
		t.Error("no error for a file")
	}
}

// A thread whose file hangs does not keep the processes after it from being read.
func TestLookReadsThreadsBesideOneThatHangs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writePod(t, root, 100, longID("1"), longID("2"))
	stuck := fakeProcess{PID: 125, State: evidence.Uninterrupted}
	writeProcess(t, root, fakeProcess{PID: 120, Comm: "nginx", Cgroup: cgroupOf(longID("2")), Threads: []fakeProcess{{PID: 121}, stuck}})
	writeProcess(t, root, fakeProcess{PID: 110, Comm: "nginx", Cgroup: cgroupOf(longID("2")), Threads: []fakeProcess{{PID: 111}, {PID: 112, State: evidence.Uninterrupted}}})
	w := newHangingWalker(root)
	h := hold(t, root, 110, "task/111/stat")
	found := w.lookAt(t.Context(), firstLook)
	if got := states(found); got[120] != evidence.Uninterrupted || found.Partial != "reading stat of process 110 hangs" {
		t.Errorf("look = %v, %q, want the stuck thread of 120, and to say what hangs", got, found.Partial)
	}
	if n := len(w.hanging()); n != 1 {
		t.Errorf("%d reads are out, want one", n)
	}
	h.release(t)
	waitForReads(t, w)
	h.replace(t, fakeProcess{PID: 111}.Stat(3))
	found = w.lookAt(t.Context(), firstLook.Add(5*time.Second))
	if got := states(found); got[110] != evidence.Uninterrupted || found.Partial != "" {
		t.Errorf("once it goes on: look = %v, %q, want the stuck thread of 110", got, found.Partial)
	}
}

// Bystanders are not read in each look, but a process that gets the pid of one is seen.
func TestLookSkipsBystanders(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]fakeProcess{
		"the kernel's": {Comm: "kworker", Flags: kernelThread},
		"a daemon's":   {Comm: "cron", Parent: 1},
		"a child's":    {Comm: "sleep", Parent: 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			writePod(t, root, 100, longID("1"), longID("2"))
			ended, p := p, p
			p.PID, ended.PID = 50, 51
			writeProcess(t, root, p)
			writeProcess(t, root, ended)
			w := newFixtureWalker(root)
			look := func() map[int]evidence.State { return states(w.lookAt(t.Context(), firstLook)) }
			look()
			nginx := fakeProcess{PID: 50, Comm: "nginx", Cgroup: cgroupOf(longID("2"))}
			writeProcess(t, root, nginx)
			if err := os.RemoveAll(filepath.Join(root, "proc/51")); err != nil {
				t.Fatal(err)
			}
			if got := look(); got[50] != 0 {
				t.Errorf("the next look read it again: %v", got)
			}
			nginx.PID = 51
			writeProcess(t, root, nginx)
			if got := look(); got[51] == 0 {
				t.Errorf("a process has the number of one that had ended: %v, want it", got)
			}
			for range bystanderLooks - 2 {
				look()
			}
			if got := look(); got[50] == 0 {
				t.Errorf("a process got the number of one between two looks: %v, want it", got)
			}
		})
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

// BenchmarkStat reads one stat file.
func BenchmarkStat(b *testing.B) {
	p, err := procfs.Self()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("procfs", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Stat(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		path, buffer := filepath.Join("/proc", strconv.Itoa(p.PID), "stat"), make([]byte, smallBuffer)
		for b.Loop() {
			if _, err := readStat(path, buffer); err != nil {
				b.Fatal(err)
			}
		}
	})
}
