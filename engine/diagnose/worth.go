package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// These limits say which figures of a node are worth a look, when nothing may be wrong with it.
const (
	// stillLong is how long the kubelet's count of relists may stand still before that is worth a look: the kubelet
	// relists every second, and we look every five. A device that answers nothing for that long does not only wait for
	// its queue.
	stillLong = 15 * time.Second
	// dumpOld is the age from which on a dump of goroutines that somebody else asked for is shown with its age.
	dumpOld = 10 * time.Second
	// lowDisk is the free part of a disk, in percent, below which that is worth a look: the kubelet begins to evict at
	// 10 % of its own disk.
	lowDisk = 10
)

// KubeletStill reports whether the kubelet's count of relists has stood still for longer than on a kubelet that is
// well.
func KubeletStill(k *evidence.Kubelet) bool {
	if rare := k.Alpha() && !k.FellBack(); rare {
		return k.StillFor > evidence.AlphaPeriod+stillLong
	}
	return k.StillFor > stillLong
}

// DeviceStill reports whether a block device has long answered none of its requests.
func DeviceStill(d evidence.Device) bool { return d.Still >= stillLong }

// DiskLow reports whether little is left of a disk, or of its inodes.
func DiskLow(d evidence.Disk) bool {
	return d.Free*100 < d.Total*lowDisk || d.InodesUnused*100 < d.Inodes*lowDisk
}

// LimitNear reports whether half of what a limit allows is used.
func LimitNear(l evidence.Limit) bool { return l.Used*2 >= l.Most }

// DumpOld returns the age of a dump of goroutines at the time of a look if the age is worth
// showing; else 0.
func DumpOld(r *evidence.Report, s evidence.Stacks) time.Duration {
	if age := r.At.Sub(s.At); !s.At.IsZero() && age > dumpOld {
		return age
	}
	return 0
}
