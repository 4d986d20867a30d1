package diagnose

import (
	"fmt"
	"regexp"
	"slices"

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

// leastLeft is how much room a store must have. With less, not even the runtime gets far, although it may use root's
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

// place returns in words where a store is.
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

// noRoom reports whether not even root gets any room.
func (s store) noRoom() bool {
	left := max(s.Left, s.Free)
	return s.Total > 0 && left < leastLeft && left < s.Total/2
}

func (s store) full() bool { return s.noRoom() || s.noInodes() }

// waitsFor returns what must be true before a runtime can write to the store; empty if it can. If a runtime starts
// while it cannot write its data, it drops the containers whose state it cannot write, and does not list them any more.
func (s store) waitsFor() string {
	switch {
	case s.full():
		return "there is room on its disk"
	case s.Broken, s.ReadOnly != "":
		return "its disk takes writes again"
	}
	return ""
}

// unfit returns the store to which a runtime that starts now cannot write, and what must be true first; empty if there
// is none.
func (f *Facts) unfit() (s store, first string) {
	for _, s := range f.stores() {
		if first := s.waitsFor(); first != "" {
			return s, first
		}
	}
	return s, ""
}

// notBefore returns a line that warns not to restart before first is true; nil if first is empty.
func notBefore(first string) []line {
	if first == "" {
		return nil
	}
	return []line{lineOf("not-before", Values{"first": first})}
}

// readErrors is for how many failing pods we read the error: if there are ten thousand, the others say the same.
const readErrors = 100

// complaint returns the words of a call that failed for one of these reasons, and its reason in the terms of
// errors.yaml; empty if no call did. While calls fail now and then, each with another error, one error is no reason.
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

// notConnected matches the path in an error about a file system that nobody serves any more.
var notConnected = regexp.MustCompile(`(?:^|[\s'"])(/[^\s:'">@]+)['"]?: (?i:transport endpoint is not connected)`)

// unservedPath returns the path that an error reports as no longer served; empty if the error names none.
func unservedPath(text string) string {
	if found := notConnected.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}
