package evidence

import (
	"slices"
	"strings"
	"time"
)

// A StoreSign says by what it is known that a thread which names no file waits for the disk of the
// runtime's data.
type StoreSign uint8

// The signs, apart from none.
const (
	NoSign     StoreSign = iota
	DeviceDead           // the device of that disk has answered nothing for 2 s
	FileThere            // another process of the runtime's waits for a file on that disk
	KindOfIt             // another one waits in a function of that kind of file system, such as the journal of ext4
	SinceStart           // the runtime has stood there since its start, when it writes its own data
)

const (
	// storeWait is how long another process must have waited to be a sign: as for the runtime itself.
	storeWait = 2 * time.Second
	// startWrites is how soon after its start a runtime opens and writes its data.
	startWrites = 10 * time.Second
)

// StoreSign returns by what it is known that all threads of the runtime's which stand in functions of a
// file system wait for the disk of its data.
func (a *Around) StoreSign() StoreSign { return a.store }

// StoreMount returns the file system of the runtime's data, as that of its folder.
func (r *Report) StoreMount() Mount {
	store := r.Disk.Mount
	store.Point = r.Disk.Path
	return store
}

// FileSystem returns the file system that a process in the kernel is known to wait for; of a
// container's own files that is the runtime's disk. It is zero if it is not known.
func (r *Report) FileSystem(p *Process) Mount {
	if store := r.StoreMount(); p.Mount.Type == "overlay" && store.Device != "" {
		return store
	}
	return p.Mount
}

// OnDevice reports whether a file system stands on a device. btrfs has a number of its own, which is no device's.
func (m Mount) OnDevice() bool {
	return m.Device != "" && (!strings.HasPrefix(m.Device, "0:") || strings.HasPrefix(m.Source, "/dev/"))
}

// OnStore reports whether a process waits in the kernel for a disk of the runtime's own: that of its
// data, or that of its state.
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

// StoreOf returns the file system of the runtime's data if a process waits for it whose system call
// names no open file, and the sign of that; [NoSign] where that is only likely. False means that
// nothing speaks for it.
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
	case OnFrozenFS: // what the runtime writes is mostly there
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

// storeSign returns by what it is known that threads in functions of a file system wait for the
// runtime's disk. Another dead device, or a disk without any request, speaks against it.
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

// isBehind reports whether a device is that of a file system, or of the runtime's data its disk or one below
// it: btrfs has a number of its own.
func (r *Report) isBehind(d *Device, m Mount) bool {
	store := r.Disk.Mount
	return m.Device != "" && (d.Number == m.Device ||
		m.Device == store.Device && ("/dev/"+d.Name == store.Source || slices.Contains(r.Disk.Below, d.Name)))
}
