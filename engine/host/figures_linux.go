package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/smallfile"
)

// systemReader returns a function that reads once which operating system and which init system a node has.
func systemReader(root string) func(context.Context, *Look) (fill, error) {
	read := sync.OnceValues(func() (string, string) { return osRelease(root), initSystem(root) })
	return func(context.Context, *Look) (fill, error) {
		osID, initName := read()
		return func(r *evidence.Report) { r.OS, r.Init = osID, initName }, nil
	}
}

// osRelease returns the ID of the node's os-release (freedesktop.org); "" if there is none.
func osRelease(root string) string {
	for _, path := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		text, _ := smallfile.Read(root + path) // if this file is missing, the other one may be there
		for line := range strings.Lines(string(text)) {
			if value, is := strings.CutPrefix(strings.TrimSpace(line), "ID="); is {
				return strings.Trim(value, `"'`)
			}
		}
	}
	return ""
}

// initSystem returns the name of the init system whose folder is on the node; "" if there is none.
func initSystem(root string) string {
	for _, m := range knowledge.Managers() {
		if info, err := os.Lstat(root + m.Runs); m.Runs != "" && err == nil && info.IsDir() {
			return m.Name
		}
	}
	return ""
}

// pressure returns /proc/pressure, for Report.Pressure.
func pressure(_ context.Context, l *Look) (fill, error) {
	p, err := readPressure(l.Root)
	return func(r *evidence.Report) { r.Pressure = p }, err
}

func readPressure(root string) (p evidence.Pressure, err error) {
	proc, err := procfs.NewFS(filepath.Join(root, "/proc"))
	if err != nil {
		return p, fmt.Errorf("no /proc: %s", reason(err))
	}
	into := []*evidence.Stall{&p.CPU, &p.IO, &p.Memory}
	for i, resource := range []string{"cpu", "io", "memory"} {
		stats, err := proc.PSIStatsForResource(resource)
		if err != nil {
			return evidence.Pressure{}, noPressure(resource, err)
		}
		if some := stats.Some; some != nil {
			into[i].Some10, into[i].Some60 = percent(some.Avg10), percent(some.Avg60)
		}
		if full := stats.Full; full != nil { // the CPU has no such figures before Linux 5.13
			into[i].Full10, into[i].Full60 = percent(full.Avg10), percent(full.Avg60)
		}
	}
	return p, nil
}

// percent returns v limited to 0 to 100; 0 for NaN.
func percent(v float64) float64 {
	if v > 0 {
		return min(v, 100)
	}
	return 0
}

// noPressure returns why there are no figures. If the kernel was booted without them, the files are there but
// cannot be read.
func noPressure(resource string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("this kernel keeps none for the whole node (CONFIG_PSI)")
	case errors.Is(err, syscall.EOPNOTSUPP):
		return errors.New("switched off in the kernel; boot it with psi=1")
	}
	return fmt.Errorf("/proc/pressure/%s: %s", resource, reason(err))
}

// A deviceMeter remembers since when each disk has answered no request.
type deviceMeter struct{ before map[string]progress }

// A progress is how many requests a disk has answered, and since when it has answered no more.
type progress struct {
	answered uint64
	since    time.Time
}

// read returns the disks that have requests in flight, for Report.Devices.
func (m *deviceMeter) read(_ context.Context, l *Look) (fill, error) {
	proc := filepath.Join("/", l.Root, "proc")
	var stats []blockdevice.Diskstats
	if disks, err := blockdevice.NewFS(proc, proc); err == nil { // it does not read /sys
		stats, _ = disks.ProcDiskstats() // if they cannot be read, no disk counts as busy
	}
	all := m.busy(stats, time.Now())
	return func(r *evidence.Report) { r.Devices = all }, nil
}

func (m *deviceMeter) busy(stats []blockdevice.Diskstats, at time.Time) (all []evidence.Device) {
	now := map[string]progress{}
	for _, s := range stats {
		if s.IOsInProgress == 0 {
			continue
		}
		number := fmt.Sprintf("%d:%d", s.MajorNumber, s.MinorNumber)
		p := progress{s.ReadIOs + s.WriteIOs + s.DiscardIOs + s.FlushRequestsCompleted, at}
		if was, known := m.before[number]; known && was.answered == p.answered {
			p.since = was.since
		}
		now[number] = p
		all = append(all, evidence.Device{Number: number, Name: s.DeviceName, InFlight: int(s.IOsInProgress), Still: at.Sub(p.since)})
	}
	m.before = now
	return all
}

// leastStep is the smallest step of the clock that counts. A smaller one may be the correction of a clock that
// is a little off.
const leastStep = 500 * time.Millisecond

// A stepWatch compares the node's wall clock with its monotonic clock from look to look. The monotonic clock
// cannot be set, and it stands still while the machine is suspended.
type stepWatch struct {
	last time.Time // has both clocks
	seen evidence.Clock
}

// newStepWatch returns a watch that has read the clocks. So the first look sees a step that came before it.
func newStepWatch() *stepWatch { return &stepWatch{last: time.Now()} }

// read returns the steps of the clock, for Report.Clock. It cannot hang.
func (s *stepWatch) read(context.Context, *Look) (fill, error) {
	now := time.Now()
	seen := s.compare(now.Round(0).Sub(s.last.Round(0)), now.Sub(s.last)) // Round leaves only the wall clock
	s.last = now
	return func(r *evidence.Report) { r.Clock = seen }, nil
}

// compare takes in how far both clocks have gone since the last reading, and returns what was seen so far.
func (s *stepWatch) compare(wall, mono time.Duration) evidence.Clock {
	s.seen.Watched += mono
	if s.seen.Steps > 0 {
		s.seen.StepAge += mono
	}
	if step := wall - mono; step.Abs() >= leastStep {
		s.seen.Steps++
		if step.Abs() >= s.seen.Step.Abs() {
			s.seen.Step, s.seen.StepAge = step, 0
		}
	}
	return s.seen
}
