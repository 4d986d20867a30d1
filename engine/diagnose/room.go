package diagnose

import (
	"fmt"
	"slices"
)

// A runtime that begins while it cannot write its data drops the containers whose state it cannot
// write again, and lists them no more: before there is room no step restarts it.

// full reports whether a store has no room at all.
func (s store) full() bool {
	left := max(s.Left, s.Free)
	return s.Total > 0 && left < diskLeftLeast && left < s.Total/2 || s.Inodes > 0 && s.InodesUnused == 0
}

// unfit says what has to be before a runtime can write the store; empty if it can.
func (s store) unfit() string {
	switch {
	case s.full():
		return "there is room on its disk"
	case s.Broken, s.ReadOnly != "":
		return "its disk takes writes again"
	}
	return ""
}

// unfit returns the store that a runtime which begins now cannot write, and what has to be first:
// nothing where there is none.
func (v *view) unfit() (s store, first string) {
	for _, s := range v.stores() {
		if first := s.unfit(); first != "" {
			return s, first
		}
	}
	return s, ""
}

// notBefore says that nobody should restart the runtime before something; empty for no reason.
func notBefore(first string) string {
	if first == "" {
		return ""
	}
	return "do not restart the runtime before " + first + ": it forgets its containers"
}

// makingFit returns the steps that come before a restart of a runtime which cannot write: none
// where it can. What goes through the runtime is of no use where that does not answer.
func (v *view) makingFit() []Step {
	s, first := v.unfit()
	switch {
	case first == "":
		return nil
	case !s.full():
		return v.mending(s)
	}
	return v.pruning(s, s.Inodes > 0 && s.InodesUnused == 0)
}

// pruning returns what makes room in a store: for the runtime's data without images, for its
// state with more of the memory that it mostly is in. It says whether it is inodes that lack.
func (v *view) pruning(s store, inodes bool) []Step {
	values := Values{"path": one(s.Path)}
	if inodes {
		values["inodes"] = one("yes")
	}
	switch {
	case s.Path == v.evidence.Disk.Path && v.hasForgotten():
		return v.advise("disk.full-forgotten", values)
	case s.Path == v.evidence.Disk.Path:
		return v.advise("disk.full", values)
	}
	if s.Mount.Type == "tmpfs" && s.Total > 0 {
		values["target"], values["twice"], values["was"] = one(s.Mount.Node), one(sizedAs(2*s.Total, 2*s.Inodes)), one(sizedAs(s.Total, s.Inodes))
	}
	return v.advise("disk.state-full", values)
}

// sizedAs returns the options of a tmpfs of a size.
func sizedAs(total, inodes uint64) string {
	options := fmt.Sprintf("size=%dk", total>>10)
	if inodes > 0 {
		options += fmt.Sprintf(",nr_inodes=%d", inodes)
	}
	return options
}

// hasForgotten reports whether something lives that the runtime does not list, and may have begun.
func (v *view) hasForgotten() bool {
	orphans, _, _ := orphansAmong(v)
	return len(v.unlistedPods()) > 0 || slices.ContainsFunc(orphans, func(o orphan) bool { return o.mayLive && o.origin != ofPresent })
}
