package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// A store is one of the two folders that the runtime works in.
type store struct {
	evidence.Disk
	name string
}

const dataFolder, stateFolder = "the runtime's data", "the runtime's state"

// leastLeft is how much room a store must have. With less not even the runtime gets far, which may use root's
// reserve.
const leastLeft = 16 << 20 // bytes

// stores returns the folders that the look has seen. If both are on one disk, the data stands for both.
func (f *Facts) stores() (all []store) {
	data, state := f.Look.Disk, f.Look.State
	if data.Path != "" && (data.Missing == "" || data.Broken) {
		all = append(all, store{data, dataFolder})
	}
	same := data.Missing == "" && data.Mount.Device != "" && data.Mount.Device == state.Mount.Device
	if !same && state.Path != "" && (state.Missing == "" || state.Broken) {
		all = append(all, store{state, stateFolder})
	}
	return all
}

// isOn reports whether a store is on a device, by its name or by its number.
func (s store) isOn(device string) bool {
	return isPartOf(s.Mount.Source, device) || slices.Contains(s.Below, device) || device != "" && s.Mount.Device == device
}

// place says where a store is.
func (s store) place() string {
	m := s.Mount
	switch {
	case m.Source != "":
		return fmt.Sprintf("%s is on %s (%s)", s.Path, m.Source, m.Type)
	case m.Type != "":
		return fmt.Sprintf("%s is on a %s", s.Path, m.Type)
	}
	return s.Path
}

// noInodes reports whether a store has an inode table, and no inode left.
func (s store) noInodes() bool { return s.Inodes > 0 && s.InodesUnused == 0 }

// noRoom reports whether even root gets nothing any more.
func (s store) noRoom() bool {
	left := max(s.Left, s.Free)
	return s.Total > 0 && left < leastLeft && left < s.Total/2
}

func (s store) full() bool { return s.noRoom() || s.noInodes() }

// waitsFor says what must be so before a runtime can write the store; empty if it can. A runtime that begins while
// it cannot write its data drops the containers whose state it cannot write, and lists them no more.
func (s store) waitsFor() string {
	switch {
	case s.full():
		return "there is room on its disk"
	case s.Broken, s.ReadOnly != "":
		return "its disk takes writes again"
	}
	return ""
}

// unfit returns the store that a runtime cannot write which begins now, and what must be so first; empty if there
// is none.
func (f *Facts) unfit() (s store, first string) {
	for _, s := range f.stores() {
		if first := s.waitsFor(); first != "" {
			return s, first
		}
	}
	return s, ""
}

// notBefore warns of a restart before something is so; nil if nothing is in the way.
func notBefore(first string) []line {
	if first == "" {
		return nil
	}
	return []line{lineOf("not-before", Values{"first": first})}
}

// readErrors is of how many failing pods the error is read: of ten thousand the others say the same.
const readErrors = 100

// complaint returns the words of a call that failed for one of these reasons, as errors.yaml knows them; empty if
// none did. While calls fail now and then, each with another error, one error is no reason.
func (f *Facts) complaint(reasons ...string) (text, means string) {
	if f.failsByTurns() || f.Flaky.Failed > 0 {
		return "", ""
	}
	read := func(e *answers.Failure, what string) bool {
		if means = knowledge.Means(e.Err.Error()); slices.Contains(reasons, means) {
			text = what + ": " + words(e.Err)
		}
		return text != ""
	}
	for _, e := range [...]*answers.Failure{f.StatusErr, f.Failure, f.VersionErr} {
		if e != nil && read(e, e.Op.String()) {
			return text, means
		}
	}
	for _, e := range f.Failing[:min(len(f.Failing), readErrors)] {
		if read(e, e.Op.String()+" of "+e.Object().String()) {
			return text, means
		}
	}
	return "", ""
}

// notConnected finds the path in an error about a file system that nobody serves any more.
var notConnected = regexp.MustCompile(`(?:^|[\s'"])(/[^\s:'">@]+)['"]?: (?i:transport endpoint is not connected)`)

// unservedPath returns the path of which an error says that nobody serves it any more; empty if it names none.
func unservedPath(text string) string {
	if found := notConnected.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

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

// serverOf returns the name of the server behind a mount: nas of nas:/export and of //nas/share; empty if it has
// none.
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

// diskLines say what is known of the disk behind a file system.
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
