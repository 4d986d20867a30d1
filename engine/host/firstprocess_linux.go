package host

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

// A process is one that is held by a pidfd: its number is not given to another meanwhile.
type process struct {
	pid    int
	start  int // in ticks after the node's
	comm   string
	fd     int
	isInit bool // of a process namespace, whose end is that of all processes in it
}

func (p *process) close() { _ = unix.Close(p.fd) } // there is nothing to lose

// makesContainers reports whether a process was, or is, one of those by which a runtime
// makes containers, and not the one that becomes the container's own.
func (p *process) makesContainers(proc string) bool {
	makes := func(comm string) bool { return roleOf(comm) == runc && !strings.Contains(comm, ":[2:") }
	if makes(p.comm) {
		return true
	}
	start, comm, err := readStart(proc, p.pid)
	return err == nil && start == p.start && makes(comm)
}

// find returns the process that a container stands or falls with: the init of its process
// namespace, or else the one that was started first. It is nil if there is none now.
func (p *pidfdWatch) find(c *waitedFor) (first *process, err error) {
	for try, seen := 0, true; try < findTries && seen && first == nil && err == nil; try++ {
		first, seen, err = p.findOnce(c)
	}
	return first, err
}

// findTries is how often processes are listed that have all ended before one could be
// held: a runtime's own do that in a row.
const findTries = 3

// findOnce is find. It also reports whether any process was seen.
func (p *pidfdWatch) findOnce(c *waitedFor) (first *process, seen bool, err error) {
	var pids []int
	for _, g := range c.groups {
		pids = appendMembers(pids, g.path, deepestMember)
	}
	slices.Sort(pids)
	pids = slices.Compact(pids)
	if len(pids) > 0 && pids[len(pids)-1] == 0 { // so the kernel writes those that have no number for us
		return nil, false, refusal("plegtop is in another process namespace than the node's containers: its pod needs hostPID: true")
	}
	var all []*process
	for _, pid := range pids[:min(len(pids), mostMembers)] {
		if start, comm, err := readStart(p.proc, pid); err == nil {
			all = append(all, &process{pid: pid, start: start, comm: comm})
		}
	}
	slices.SortStableFunc(all, func(a, b *process) int { return cmp.Compare(a.start, b.start) })
	for _, one := range all[:min(len(all), mostFirsts)] {
		held, failed := p.hold(one)
		switch {
		case held && first == nil:
			first = one
		case held && one.isInit:
			first.close()
			first = one
		case held:
			one.close()
		}
		if err = failed; err != nil || first != nil && first.isInit {
			break
		}
	}
	if err != nil && first != nil {
		first.close()
		first = nil
	}
	return first, len(pids) > 0, err
}

// hold gets hold of a process, unless that has ended meanwhile. Its number may be another's
// by then.
func (p *pidfdWatch) hold(one *process) (held bool, err error) {
	fd, err := unix.PidfdOpen(one.pid, 0)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
		return false, nil
	}
	if err != nil {
		return false, pidfdError(err)
	}
	start, _, err := readStart(p.proc, one.pid)
	if same := err == nil && start == one.start; !same { // it has ended, or is another one by now
		_ = unix.Close(fd)
		return false, nil
	}
	one.fd = fd
	text, _ := smallfile.Read(fmt.Sprintf("/proc/self/fdinfo/%d", fd)) // of kernels before 5.5 it tells less
	inner := statusField(string(text), "NSpid")
	one.isInit = len(inner) > 1 && inner[len(inner)-1] == "1"
	return true, nil
}

// readStart returns when a process was started, and its name.
func readStart(proc string, pid int) (start int, comm string, err error) {
	var buffer [1024]byte
	text, err := readLine(filepath.Join(proc, strconv.Itoa(pid), "stat"), buffer[:])
	if err != nil {
		return 0, "", err
	}
	stat, err := parseStat(text)
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

// pidfdError says what to do where no process can be held.
func pidfdError(err error) error {
	switch {
	case errors.Is(err, unix.ENOSYS):
		return refusal("the kernel has no pidfd_open, which came with Linux 5.3")
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return refusal("plegtop is not allowed to call pidfd_open: a filter of system calls (seccomp) may have to be lifted")
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return refusal("no more files may be open, of which each container takes one: raise ulimit -n")
	}
	return fmt.Errorf("pidfd_open: %w", err)
}
