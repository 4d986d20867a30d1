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

// systemReader reads once which operating system and which init system a node has.
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
		text, _ := smallfile.Read(root + path) // the other one may be there
		for line := range strings.Lines(string(text)) {
			if value, is := strings.CutPrefix(strings.TrimSpace(line), "ID="); is {
				return strings.Trim(value, `"'`)
			}
		}
	}
	return ""
}

// initSystem returns the name of the init system whose folder is on the node; "" for an unknown one.
func initSystem(root string) string {
	for _, m := range knowledge.Managers() {
		if info, err := os.Lstat(root + m.Runs); m.Runs != "" && err == nil && info.IsDir() {
			return m.Name
		}
	}
	return ""
}

// pressure is the part of /proc/pressure.
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
		if full := stats.Full; full != nil { // before Linux 5.13 the CPU has none
			into[i].Full10, into[i].Full60 = percent(full.Avg10), percent(full.Avg60)
		}
	}
	return p, nil
}

// percent limits v to a share; NaN becomes 0.
func percent(v float64) float64 {
	if v > 0 {
		return min(v, 100)
	}
	return 0
}

// noPressure says why there are no figures. The files are there, but cannot be read, if the kernel was
// booted without them.
func noPressure(resource string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("this kernel keeps none for the whole node (CONFIG_PSI)")
	case errors.Is(err, syscall.EOPNOTSUPP):
		return errors.New("switched off in the kernel; boot it with psi=1")
	}
	return fmt.Errorf("/proc/pressure/%s: %s", resource, reason(err))
}

// A deviceMeter remembers since when each disk has answered nothing.
type deviceMeter struct{ before map[string]progress }

// A progress is how many requests a disk has answered, and since when no more.
type progress struct {
	answered uint64
	since    time.Time
}

// read is the part of the disks that have requests in flight.
func (m *deviceMeter) read(_ context.Context, l *Look) (fill, error) {
	proc := filepath.Join("/", l.Root, "proc")
	var stats []blockdevice.Diskstats
	if disks, err := blockdevice.NewFS(proc, proc); err == nil { // it does not read /sys
		stats, _ = disks.ProcDiskstats() // without them no disk is busy
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

// leastStep is the least step of the clock: below it may be a correction of a clock that is a little off.
const leastStep = 500 * time.Millisecond

// A stepWatch compares the node's two clocks from look to look. The monotonic one cannot be set, and stands
// while the machine is suspended.
type stepWatch struct {
	last time.Time // by both clocks
	seen evidence.Clock
}

// newStepWatch reads the clocks at once, so that the first look knows of a step before it.
func newStepWatch() *stepWatch { return &stepWatch{last: time.Now()} }

// read is the part of the clocks. It cannot hang.
func (s *stepWatch) read(context.Context, *Look) (fill, error) {
	now := time.Now()
	seen := s.compare(now.Round(0).Sub(s.last.Round(0)), now.Sub(s.last)) // Round leaves only the wall clock
	s.last = now
	return func(r *evidence.Report) { r.Clock = seen }, nil
}

// compare takes in how far both clocks have gone since the last reading.
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
