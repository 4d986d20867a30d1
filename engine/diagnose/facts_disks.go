package diagnose

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// isPartOf reports whether a file system on source, such as /dev/sdb1 or /dev/nvme0n1p1, is on a device, such as
// sdb1, sdb, nvme0n1 or the controller nvme0.
func isPartOf(source, device string) bool {
	name, isDevice := strings.CutPrefix(source, "/dev/")
	part, begins := strings.CutPrefix(name, device)
	if !isDevice || !begins || device == "" {
		return false
	}
	_, err := strconv.ParseUint(part, 10, 32)
	numbered := device[len(device)-1] >= '0' && device[len(device)-1] <= '9' // then its parts are p1, p2
	return part == "" || err == nil && !numbered || numbered && devicePart.MatchString(part)
}

var devicePart = regexp.MustCompile(`^(n\d+)?(p\d+)?$`)

// serverOf returns the name of the server behind a mount: nas for nas:/export and for //nas/share; empty if the mount
// has none.
func serverOf(m evidence.Mount) string {
	if share, isCIFS := strings.CutPrefix(m.Source, "//"); isCIFS {
		name, _, _ := strings.Cut(share, "/")
		return name
	}
	name, _, isNFS := strings.Cut(m.Source, ":/")
	if !isNFS {
		return ""
	}
	return strings.Trim(name, "[]")
}

// diskLines returns lines about what is known of the disk behind a file system.
func (f *Facts) diskLines(m evidence.Mount) (lines []line) {
	for _, d := range f.Look.Devices {
		if d.Number == m.Device {
			v := Values{"disk": d.Name, "requests": many{d.InFlight, "request"}}
			if d.Still > 0 {
				v["still"] = age(d.Still)
			}
			lines = append(lines, lineOf("disk.silent", v))
		}
	}
	for _, d := range []evidence.Disk{f.Look.Disk, f.Look.State} {
		if d.Mount.Device != m.Device || m.Device == "" {
			continue
		}
		lines = append(lines, lineOf("disk.has", Values{"path": d.Path}))
		if d.ReadOnly != "" {
			lines = append(lines, verbatim(d.ReadOnly))
		}
		if d.Errors > 0 {
			lines = append(lines, lineOf("disk.errors", Values{"errors": many{int(d.Errors), "error"}, "age": age(d.ErrorAge)}))
		}
	}
	return lines
}

// failedRequest returns the youngest line in which the kernel says that it could not write to the device of a store;
// without one, the line that says that it could not read from it. A line about a whole disk does not count: it may be
// about another part of that disk. If a store is on several disks, the failure of one may not touch the store.
func (f *Facts) failedRequest(s store) (last evidence.KernelLine, fails bool) {
	for _, l := range f.Look.Kernel.Lines {
		ofStore := l.Failed != "" && l.Age < failedFresh && l.Device != "" && s.Mount.Source == "/dev/"+l.Device
		if ofStore && (!fails || l.Failed == "write" && last.Failed != "write") {
			last, fails = l, true
		}
	}
	return last, fails
}
