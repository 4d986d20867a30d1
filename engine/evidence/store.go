package evidence

import (
	"slices"
	"strings"
	"time"
)

// A StoreSign is a reason why a thread that names no file must be waiting for the disk of the runtime's data.
type StoreSign uint8

// The signs. NoSign says that there is none.
const (
	NoSign     StoreSign = iota
	DeviceDead           // the device of that disk has answered nothing for 2 s
	FileThere            // another process of the runtime waits for a file on that disk
	KindOfIt             // another process of the runtime waits in a function of that kind of file system, such as the journal of ext4
	SinceStart           // the runtime has stood there since its start, and at its start it writes its own data
)

const (
	// storeWait is how long another process must have waited to be a sign. It is the same time as for the
	// runtime itself.
	storeWait = 2 * time.Second
	// startWrites is the time after its start in which a runtime opens and writes its data.
	startWrites = 10 * time.Second
)

// StoreSign returns why all threads of the runtime that stand in functions of a file system must be waiting for
// the disk of its data.
func (a *Around) StoreSign() StoreSign { return a.store }

// StoreMount returns the file system of the runtime's data, with the data folder as its Point.
func (r *Report) StoreMount() Mount {
	store := r.Disk.Mount
	store.Point = r.Disk.Path
	return store
}

// FileSystem returns the file system that a process in the kernel is known to wait for; zero if it is not
// known. If the process waits for a container's own files, that is the runtime's disk.
func (r *Report) FileSystem(p *Process) Mount {
	if store := r.StoreMount(); p.Mount.Type == "overlay" && store.Device != "" {
		return store
	}
	return p.Mount
}

// OnDevice reports whether a file system stands on a device. The number of a btrfs is its own and not that of a
// device.
func (m Mount) OnDevice() bool {
	return m.Device != "" && (!strings.HasPrefix(m.Device, "0:") || strings.HasPrefix(m.Source, "/dev/"))
}

// OnStore reports whether a process waits in the kernel for a disk of the runtime: the disk of its data, or
// that of its state.
func (a *Around) OnStore(p *Process, as Role) bool {
	m := a.report.FileSystem(p)
	if m == (Mount{}) {
		_, _, on := a.StoreOf(p, as)
		return on
	}
	is := func(d Disk) bool {
		if d.Mount.Device == "" { // it could not be asked
			return m.Point != "" && strings.HasPrefix(d.Path, m.Point)
		}
		return d.Mount.Device == m.Device
	}
	return p.State == Uninterrupted && (is(a.report.Disk) || is(a.report.State))
}

// StoreOf returns the file system of the runtime's data if a process waits for it though its system call names
// no open file. sign says why; [NoSign] if it is only likely. on is false if nothing speaks for it.
func (a *Around) StoreOf(p *Process, as Role) (store Mount, sign StoreSign, on bool) {
	store = a.report.StoreMount()
	if p.Mount != (Mount{}) || p.State != Uninterrupted || as == AsWorkload {
		return store, NoSign, false
	}
	sign = NoSign
	if as == AsRuntime && p.Age > 0 && p.Age-p.For < startWrites {
		sign = SinceStart
	}
	switch p.waitsFor() {
	case OnFrozenFS: // most of what the runtime writes is there
		return store, sign, as == AsRuntime
	case OnDisk:
		if a.store != NoSign {
			sign = a.store
		}
		return store, sign, sign != NoSign && a.report.inStoreFunction(p)
	}
	return store, NoSign, false
}

// diskTypes are the file systems whose functions are in the table of kernel waits.
var diskTypes = []string{"ext4", "xfs", "btrfs"}

// inStoreFunction reports whether a process waits in a function of a file system that may be the
// store's.
func (r *Report) inStoreFunction(p *Process) bool {
	if i := slices.IndexFunc(diskTypes, p.waitsInOneOf); i >= 0 {
		return diskTypes[i] == r.Disk.Mount.Type
	}
	return p.waitsInOneOf("file-system")
}

// storeSign returns why threads in functions of a file system must be waiting for the runtime's disk; NoSign if
// that is not known. If another device is dead, or the runtime's disk has no request, that speaks against it.
func (r *Report) storeSign() StoreSign {
	store := r.StoreMount()
	if !store.OnDevice() {
		return NoSign
	}
	if r.isDead(store) {
		return DeviceDead
	}
	busy := len(r.Devices) == 0 // nothing is known of them
	for i := range r.Devices {
		switch d := &r.Devices[i]; {
		case r.isBehind(d, store):
			busy = true
		case d.Still >= quiet:
			return NoSign
		}
	}
	if !busy {
		return NoSign
	}
	sign := NoSign
	for list, all := range [...][]Process{r.Processes.Daemons, r.Processes.Shims, r.Processes.Helpers} {
		for i := range all {
			p := &all[i]
			ours := p.Own || list == 0 // daemons of another runtime are not among them, as far as that is known
			if p.State != Uninterrupted || p.For < storeWait || !ours || p.waitsFor() != OnDisk {
				continue
			}
			if m := r.FileSystem(p); m.Device == store.Device {
				return FileThere
			} else if m == (Mount{}) && p.waitsInOneOf(store.Type) {
				sign = KindOfIt
			}
		}
	}
	return sign
}

// isDead reports whether the device behind a file system has answered nothing for a while.
func (r *Report) isDead(m Mount) bool {
	return slices.ContainsFunc(r.Devices, func(d Device) bool { return d.Still >= quiet && r.isBehind(&d, m) })
}

// isBehind reports whether a device is the device of a file system. For the file system of the runtime's data,
// the disks below its own count too, and its disk is compared by name, since the number of a btrfs is its own.
func (r *Report) isBehind(d *Device, m Mount) bool {
	store := r.Disk.Mount
	return m.Device != "" && (d.Number == m.Device ||
		m.Device == store.Device && ("/dev/"+d.Name == store.Source || slices.Contains(r.Disk.Below, d.Name)))
}
