package evidence

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// Served reports whether a file system is served by a server or a program, and not by a disk.
func (m Mount) Served() bool {
	return m.Type != "fuseblk" && slices.ContainsFunc(knowledge.FileSystems(), func(s knowledge.FileSystem) bool { return beginsAs(m.Type, s.Types) })
}

// ServerFunction reports whether a function of the kernel is one in which a thread waits
// for a server or a program.
func ServerFunction(function string) bool {
	return slices.ContainsFunc(knowledge.FileSystems(), func(s knowledge.FileSystem) bool { return beginsAs(function, s.Functions) })
}

// MayWaitFor reports whether a thread that waits in one of the functions of the kernel
// may wait for the server of a file system.
func MayWaitFor(m Mount, functions ...string) bool {
	return m.Served() && slices.ContainsFunc(knowledge.FileSystems(), func(s knowledge.FileSystem) bool {
		return beginsAs(m.Type, s.Types) && slices.ContainsFunc(functions, func(f string) bool { return beginsAs(f, s.Functions) })
	})
}

func beginsAs(name string, begins []string) bool {
	return slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(name, begin) })
}
