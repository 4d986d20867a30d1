package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/smallfile"
)

const (
	// mostMembers is how many processes of one container are looked at: those with the
	// lowest numbers, among which the first one is mostly.
	mostMembers = 512
	// mostFirsts is how many of those that were started first are asked whether they are
	// the init of a process namespace.
	mostFirsts = 8
	// deepestMember is how far below a container's own group its first process may be:
	// where a systemd runs in it, or CRI-O made a group within.
	deepestMember = 3
)

// A Held is a process that is held by a pidfd: its number is not given to another meanwhile.
type Held struct {
	PID    int
	FD     int  // is readable when the process has ended
	IsInit bool // of a process namespace, whose end is that of all processes in it
	start  int  // in ticks after the node's
	comm   string
}

// ErrForeign says that processes are in another process namespace, where we see no numbers.
var ErrForeign = errors.New("processes of another process namespace")

// Close lets go of the process.
func (h *Held) Close() { _ = unix.Close(h.FD) } // there is nothing to lose

// MakesContainers reports whether a process was, or is, one of those by which a runtime
// makes containers, and not the one that becomes the container's own.
func (h *Held) MakesContainers(proc string) bool {
	makes := func(comm string) bool { return roleOf(comm) == runc && !strings.Contains(comm, ":[2:") }
	if makes(h.comm) {
		return true
	}
	start, comm, err := readStart(proc, h.PID)
	return err == nil && start == h.start && makes(comm)
}

// HoldFirst holds the process that a container stands or falls with, by the folders of its
// control groups: the init of its process namespace, or else the one that was started
// first. It is nil if there is none now. Proc is the folder of the processes.
func HoldFirst(proc string, groups []string) (first *Held, err error) {
	for try, seen := 0, true; try < findTries && seen && first == nil && err == nil; try++ {
		first, seen, err = holdOnce(proc, groups)
	}
	return first, err
}

// findTries is how often processes are listed that have all ended before one could be
// held: a runtime's own do that in a row.
const findTries = 3

// holdOnce is HoldFirst. It also reports whether any process was seen.
func holdOnce(proc string, groups []string) (first *Held, seen bool, err error) {
	var pids []int
	for _, dir := range groups {
		pids = appendMembers(pids, dir, deepestMember)
	}
	slices.Sort(pids)
	pids = slices.Compact(pids)
	if len(pids) > 0 && pids[len(pids)-1] == 0 { // so the kernel writes those that have no number for us
		return nil, false, ErrForeign
	}
	var all []*Held
	for _, pid := range pids[:min(len(pids), mostMembers)] {
		if start, comm, err := readStart(proc, pid); err == nil {
			all = append(all, &Held{PID: pid, start: start, comm: comm})
		}
	}
	slices.SortStableFunc(all, func(a, b *Held) int { return cmp.Compare(a.start, b.start) })
	for _, one := range all[:min(len(all), mostFirsts)] {
		held, failed := one.hold(proc)
		switch {
		case held && first == nil:
			first = one
		case held && one.IsInit:
			first.Close()
			first = one
		case held:
			one.Close()
		}
		if err = failed; err != nil || first != nil && first.IsInit {
			break
		}
	}
	if err != nil && first != nil {
		first.Close()
		first = nil
	}
	return first, len(pids) > 0, err
}

// hold gets hold of a process, unless that has ended meanwhile. Its number may be another's
// by then.
func (h *Held) hold(proc string) (held bool, err error) {
	fd, err := unix.PidfdOpen(h.PID, 0)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("pidfd_open: %w", err)
	}
	start, _, err := readStart(proc, h.PID)
	if same := err == nil && start == h.start; !same { // it has ended, or is another one by now
		_ = unix.Close(fd)
		return false, nil
	}
	h.FD = fd
	text, _ := smallfile.Read(fmt.Sprintf("/proc/self/fdinfo/%d", fd)) // of kernels before 5.5 it tells less
	inner := StatusField(string(text), "NSpid")
	h.IsInit = len(inner) > 1 && inner[len(inner)-1] == "1"
	return true, nil
}

// readStart returns when a process was started, and its name.
func readStart(proc string, pid int) (start int, comm string, err error) {
	var buffer [1024]byte
	stat, err := readStat(fileAt{path: filepath.Join(proc, strconv.Itoa(pid), "stat")}, buffer[:])
	return int(stat.Starttime), stat.Comm, err
}

// appendMembers appends the numbers of the processes in a group and in those below it.
func appendMembers(pids []int, dir string, depth int) []int {
	before := len(pids)
	text, err := smallfile.Read(filepath.Join(dir, "cgroup.procs"))
	for field := range strings.FieldsSeq(string(text)) {
		if pid, bad := strconv.Atoi(field); bad == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) > before || errors.Is(err, fs.ErrNotExist) || depth == 0 {
		return pids // with v2 those above have none
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return pids
	}
	for _, entry := range entries {
		if entry.IsDir() && len(pids) < mostMembers {
			pids = appendMembers(pids, filepath.Join(dir, entry.Name()), depth-1)
		}
	}
	return pids
}
