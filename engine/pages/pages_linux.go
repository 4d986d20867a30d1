// Package pages keeps small what plegtop takes of a node's memory.
package pages

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// GiveBack takes the pages of the program's own file out of its memory. Most were read once, at the
// start: descriptors, tables of functions, code that parses flags and configuration. What is needed
// again comes back by itself, from the kernel's cache, where it stays. So do the pages of Go's memory
// that hold nothing any more. It returns an error where the kernel does not show or give back the pages, which
// does no harm. It is safe for concurrent use.
func GiveBack() error {
	debug.FreeOSMemory()
	self, err := procfs.Self()
	if err != nil {
		return fmt.Errorf("find the process in /proc: %w", err)
	}
	maps, err := self.ProcMaps()
	if err != nil {
		return fmt.Errorf("read the process's mappings: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program's file: %w", err)
	}
	for _, m := range maps {
		if m.Pathname != program || m.Perms.Write {
			continue
		}
		// No pointer to Go's memory: the mapping is the linker's.
		_, _, failed := unix.Syscall(unix.SYS_MADVISE, m.StartAddr, m.EndAddr-m.StartAddr, unix.MADV_DONTNEED)
		if failed != 0 {
			return fmt.Errorf("give back the pages of %s: %w", program, failed)
		}
	}
	return nil
}
