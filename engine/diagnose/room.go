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

// onceFit returns a step that begins the runtime for when it can write.
func (v *view) onceFit(s Step) Step {
	_, first := v.unfit()
	if first == "" {
		return s
	}
	if s.Command != "" {
		s.Risky, s.Ends, s.Text = true, false, "it forgets its containers if it begins before that"
	}
	return s.when("once " + first)
}

// makingFit returns the steps that come before a restart of a runtime which cannot write: none
// where it can. What goes through the runtime is of no use where that does not answer.
func (v *view) makingFit() []Step {
	s, first := v.unfit()
	switch {
	case first == "":
		return nil
	case !s.full():
		return s.mending(false)
	}
	look := Step{Text: "what has no room", Command: fmt.Sprintf("df -h %s; df -i %[1]s", quote(s.Path))}
	steps := v.pruning(s)
	if v.Scope.Whole() {
		steps = slices.DeleteFunc(steps, throughCrictl)
	}
	if !slices.ContainsFunc(steps, Step.acts) {
		steps = append(steps, makeRoomByHand)
	}
	return append([]Step{look}, steps...)
}

// makeRoomByHand is what to do where the runtime cannot be asked to remove anything.
var makeRoomByHand = inWords("make room by hand, as in /var/log, and leave the runtime's own folders alone: what would end this goes through the runtime, which does not answer")

// pruning returns what makes room in a store: for the runtime's data without images, for its
// state with more of the memory that it mostly is in.
func (v *view) pruning(s store) []Step {
	if s.Path == v.evidence.Disk.Path {
		return []Step{{Text: "what images and layers take", Command: v.crictl("imagefsinfo")}, v.prune()}
	}
	if s.Mount.Type != "tmpfs" || s.Total == 0 {
		return []Step{inWords("remove what the look shows and the runtime does not use; the state of the runtime itself is needed")}
	}
	larger := fmt.Sprintf("size=%dk", 2*s.Total>>10)
	if s.Inodes > 0 {
		larger += fmt.Sprintf(",nr_inodes=%d", 2*s.Inodes)
	}
	return []Step{{
		Text:    "doubles it until the next boot, out of the memory of the node",
		Command: `mount -o remount,` + larger + ` "$(findmnt -n -o TARGET -T ` + quote(s.Path) + `)"`, Risky: true,
	}}
}

func (v *view) prune() Step {
	if v.hasForgotten() {
		return inWords("make room by hand, as in /var/log, and remove no image: those of containers that the runtime has forgotten look unused")
	}
	return Step{Text: "removes the images that no container uses; who needs one pulls it again", Command: v.crictl("rmi", "--prune"), Risky: true}
}

// hasForgotten reports whether something lives that the runtime does not list, and may have begun.
func (v *view) hasForgotten() bool {
	orphans, _, _ := orphansAmong(v)
	return len(v.unlistedPods()) > 0 || slices.ContainsFunc(orphans, func(o orphan) bool { return o.mayLive && o.origin != ofPresent })
}
