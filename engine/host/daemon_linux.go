package host

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// listens is the flag of a unix socket at which somebody listens
	// (__SO_ACCEPTCON).
	listens = 1 << 16

	// firstNamespace is the link of the namespace in which the machine's own
	// processes are (PROC_PID_INIT_INO).
	firstNamespace = "pid:[4026531836]"
)

// atEndpoint drops, of several daemons of one name, those that do not listen at
// the endpoint if one of them does: on a node with the containerd of Docker and
// that of Kubernetes only the latter matters. Where it cannot be known who
// listens, all stay.
func (l *walk) atEndpoint(all []evidence.Process) []evidence.Process {
	if l.endpoint == "" {
		return all
	}
	count := map[string]int{}
	for _, d := range all {
		count[d.Command]++
	}
	ours := map[string][]int{} // process numbers by name
	for _, d := range all {
		if count[d.Command] > 1 && l.hasListener(d.PID) {
			ours[d.Command] = append(ours[d.Command], d.PID)
		}
	}
	return slices.DeleteFunc(all, func(d evidence.Process) bool {
		return ours[d.Command] != nil && !slices.Contains(ours[d.Command], d.PID)
	})
}

// hasListener reports whether the process has a socket open that listens at the
// endpoint. It may not be permitted to know.
func (l *walk) hasListener(pid int) bool {
	sockets := l.listeners(pid)
	if len(sockets) == 0 {
		return false
	}
	open, err := fetch(l, procFile{pid, "fd", true}, func() ([]string, error) {
		p, err := l.proc.Proc(pid)
		if err != nil {
			return nil, err
		}
		return p.FileDescriptorTargets()
	})
	return err == nil && slices.ContainsFunc(open, func(target string) bool { return slices.Contains(sockets, target) })
}

// listeners returns the sockets that listen at the endpoint, as far as the
// process's network namespace has them, as its open files are called.
func (l *walk) listeners(pid int) (sockets []string) {
	dir := filepath.Join(l.root, "proc", strconv.Itoa(pid))
	table, err := fetch(l, procFile{pid, "net/unix", true}, func() (*procfs.NetUNIX, error) {
		of, err := procfs.NewFS(dir)
		if err != nil {
			return nil, err
		}
		return of.NetUNIX()
	})
	if err != nil {
		return nil
	}
	for _, row := range table.Rows {
		if row.Flags&listens != 0 && l.isOurs(row.Path) {
			sockets = append(sockets, "socket:["+strconv.FormatUint(row.Inode, 10)+"]")
		}
	}
	return sockets
}

// isConfined reports whether this /proc is that of a container. It says no where
// that cannot be known.
func (l *walk) isConfined() bool {
	namespace, err := fetch(l, procFile{1, "ns/pid", true}, func() (string, error) {
		return os.Readlink(filepath.Join(l.root, "proc/1/ns/pid"))
	})
	return err == nil && namespace != firstNamespace
}
