package host

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs/blockdevice"

	"github.com/plegtop/plegtop/engine/evidence"
)

// devices is the part that tells which disks have something to do, and whether
// they do it.
func devices(root string) part {
	var m deviceMeter
	at := func(r *evidence.Report) *[]evidence.Device { return &r.Devices }
	return partOf("devices", at, func(context.Context) []evidence.Device {
		proc := filepath.Join("/", root, "proc")
		var stats []blockdevice.Diskstats
		if disks, err := blockdevice.NewFS(proc, proc); err == nil { // /sys is not read
			stats, _ = disks.ProcDiskstats() // without them none is busy
		}
		return m.busy(stats, time.Now())
	}, nil)
}

// A deviceMeter remembers since when disks have answered nothing. It belongs to one
// goroutine at a time.
type deviceMeter struct{ before map[string]progress }

// A progress is how many requests a disk had answered, and since when no more.
type progress struct {
	answered uint64
	since    time.Time
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
