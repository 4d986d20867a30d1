package proc

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/host/reads"
)

// execStart is the field of /proc/PID/task/TID/sched that tells when a thread was
// last seen running, in milliseconds of the clock of its processor's run queue.
const execStart = "se.exec_start"

// idle returns for how long a thread has not run, which is how long one that is
// stuck has been so; 0 where the kernel does not tell. Each processor has
// a clock of its own, which stands still while an interrupt or another guest of
// the machine has it: they may be hours apart.
func (l *Look) idle(s sighting) time.Duration {
	text, err := l.text(File{PID: s.proc.PID, Name: "sched"}, s.threadFolder(s.now.thread), "sched")
	ran, known := ranAt(text)
	if err != nil || !known {
		return 0
	}
	cpu := s.now.cpu
	now, err := reads.Start(&l.clocks, cpu, func() (time.Duration, error) { return l.clock(cpu), nil }).Wait(l.ctx, l.timeout)
	if err != nil {
		return 0
	}
	return max(now-ran, 0)
}

// ranAt returns when a thread ran, from its sched file.
func ranAt(sched string) (time.Duration, bool) {
	for line := range strings.Lines(sched) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == execStart {
			ms, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return time.Duration(ms * float64(time.Millisecond)), err == nil && ms > 0
		}
	}
	return 0, false
}

// processorClock returns the time of a processor's clock, by what it says of our
// own thread there; 0 if we must not run on it. It takes as long as the processor
// lets us wait.
func processorClock(cpu int) time.Duration {
	runtime.LockOSThread()
	var before, only unix.CPUSet
	only.Set(cpu)
	if unix.SchedGetaffinity(0, &before) != nil || unix.SchedSetaffinity(0, &only) != nil {
		runtime.UnlockOSThread()
		return 0
	}
	text, err := os.ReadFile("/proc/thread-self/sched")
	if errors.Join(err, unix.SchedSetaffinity(0, &before)) == nil {
		runtime.UnlockOSThread() // else the thread ends with its goroutine
	}
	now, _ := ranAt(string(text))
	return now
}
