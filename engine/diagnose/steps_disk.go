package diagnose

import (
	"fmt"
	"slices"
)

// makingFit returns the steps that come before a restart of a runtime that cannot write; none if it can.
func (f *Facts) makingFit() []Step {
	s, first := f.unfit()
	switch {
	case first == "":
		return nil
	case !s.full():
		return f.mending(s)
	}
	return f.pruning(s, s.noInodes())
}

// pruning returns the steps that make room in a store. For the runtime's data they remove images. The runtime's state
// is mostly in memory, and gets more of that. inodes says that inodes are missing, and not bytes.
func (f *Facts) pruning(s store, inodes bool) []Step {
	v := Values{"path": s.Path, "inodes": inodes}
	switch forgotten, left := f.unlisted(); {
	case s.Path == f.Look.Disk.Path && (len(forgotten) > 0 || len(left) > 0 && !f.Look.Processes.Whole()): // something may live there
		return f.advise("disk.full-forgotten", v)
	case s.Path == f.Look.Disk.Path:
		return f.advise("disk.full", v)
	}
	if s.Mount.Type == "tmpfs" && s.Total > 0 {
		v["target"], v["twice"], v["was"] = s.Mount.Node, tmpfsSize(2*s.Total, 2*s.Inodes), tmpfsSize(s.Total, s.Inodes)
	}
	return f.advise("disk.state-full", v)
}

// tmpfsSize returns the mount options that give a tmpfs a size.
func tmpfsSize(total, inodes uint64) string {
	options := fmt.Sprintf("size=%dk", total>>10)
	if inodes > 0 {
		options += fmt.Sprintf(",nr_inodes=%d", inodes)
	}
	return options
}

// mending returns the steps for a store that cannot be written, or whose disk fails.
func (f *Facts) mending(s store) []Step {
	return f.orDrain(f.advise("disk.fails", Values{"target": s.Mount.Node, "disk": s.Mount.Source}))
}

// orDrain adds the drain of the node, for when no other step ends the trouble.
func (f *Facts) orDrain(steps []Step) []Step {
	drain := f.advise("node.drain", nil)
	if slices.ContainsFunc(steps, Step.acts) {
		drain[0] = drain[0].after(notEnough)
	}
	return append(steps, drain...)
}
