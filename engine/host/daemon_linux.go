package host

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

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

// isOurs reports whether a socket, by the name that the host's own processes
// have for it, is that of the runtime which is looked at. One socket can have
// several names: /var/run is mostly a link to /run, and the endpoint may be given
// by its path below the folder where the host's root is mounted.
func (l *walk) isOurs(socket string) bool {
	ours := onHost(l.root, l.endpoint)
	if socket == "" || ours == "" {
		return false
	}
	theirs := socketPath(socket)
	if theirs == ours {
		return true
	}
	same, known := l.ours[theirs]
	if !known {
		same, _ = fetch(l, procFile{file: theirs, risky: true}, func() (bool, error) {
			return sameFile(l.root, ours, theirs) || path.Base(ours) == path.Base(theirs) && sameFile(l.root, path.Dir(ours), path.Dir(theirs)), nil
		})
		l.ours[theirs] = same
	}
	return same
}

// sameFile reports whether two paths on the host lead to one file. It is false
// if one leads nowhere, as that of a runtime that has ended may.
func sameFile(root, a, b string) bool {
	var of [2]unix.Stat_t
	for i, path := range []string{a, b} {
		fd, err := openOnHost(root, path)
		if err != nil {
			return false
		}
		err = unix.Fstat(fd, &of[i])
		_ = unix.Close(fd) // opened for its name alone: there is nothing to lose
		if err != nil {
			return false
		}
	}
	return of[0].Dev == of[1].Dev && of[0].Ino == of[1].Ino
}

// socketPath returns the path of a socket or an endpoint, /var/run being another
// name of /run, also where neither can be looked at.
func socketPath(endpoint string) string {
	if endpoint == "" {
		return ""
	}
	p := path.Clean(strings.TrimPrefix(strings.TrimPrefix(endpoint, "unix:"), "//"))
	if rest, ok := strings.CutPrefix(p, "/var/run/"); ok {
		return "/run/" + rest
	}
	return p
}

// onHost returns the endpoint's path as the host's own processes know it, also
// for one that was given below the folder where the host's root is mounted.
func onHost(root, endpoint string) string {
	p := socketPath(endpoint)
	if rest, ok := strings.CutPrefix(p, root+"/"); ok && root != "/" {
		return socketPath("/" + rest)
	}
	return p
}
