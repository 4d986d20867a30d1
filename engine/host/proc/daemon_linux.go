package proc

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/knowledge"
)

const (
	// listens is the flag of a unix socket at which somebody listens
	// (__SO_ACCEPTCON).
	listens = 1 << 16

	// firstNamespace is the link of the namespace in which the machine's own
	// processes are (PROC_PID_INIT_INO).
	firstNamespace = "pid:[4026531836]"
)

// ownerOf decides whose a daemon is: the one place where that is done. What it listens
// at counts more than what it was told. Of a process that is known it is not asked again,
// and of another once in a look: each of its children asks.
func (l *Look) ownerOf(s sighting) owner {
	if l.endpoint != "" && slices.Contains(knowledge.Kubelets, s.comm) && l.isNested(s) {
		return nested
	}
	if l.endpoint == "" || s.owner != unknown || l.untold[s.tracked] {
		return s.owner
	}
	told := s.identity.socket
	if slices.Contains(knowledge.Runtimes, s.comm) {
		for _, at := range l.listening(s.proc) {
			if l.isAt(s.proc.PID, at) {
				s.owner = own
				return own
			}
			if path.Base(at) == path.Base(SocketPath(l.endpoint)) {
				told = at
			}
		}
	}
	switch {
	case told == "":
		l.untold[s.tracked] = true
		return unknown
	case l.isAt(s.proc.PID, told):
		s.owner = own
	default:
		s.owner = another
	}
	return s.owner
}

// isNested reports whether a kubelet is in another pid namespace than our runtime, as in a
// container that is a node of its own: there the path of our socket is that of another one.
// It says no where that cannot be known.
func (l *Look) isNested(s sighting) bool {
	if l.home == nil {
		home := l.homeSpace()
		l.home = &home
	}
	space := l.spaceOf(s)
	return space != "" && *l.home != "" && space != *l.home && !(s.identity.socket != "" && l.leadsToOurs(s.proc.PID, s.identity.socket))
}

// homeSpace returns the pid namespace of our runtime or, where it is not known which that
// is, of the machine, if a runtime is there; else "".
func (l *Look) homeSpace() string {
	first, _ := l.readSpace(1)
	home := ""
	for _, s := range l.seen {
		if !slices.Contains(knowledge.Runtimes, s.comm) || slices.Contains(knowledge.Kubelets, s.comm) {
			continue
		}
		switch l.ownerOf(s) {
		case own:
			return l.spaceOf(s)
		case unknown:
			if l.spaceOf(s) == first {
				home = first
			}
		}
	}
	return home
}

// spaceOf returns the pid namespace of a process, which is the same for all its life.
func (l *Look) spaceOf(s sighting) string {
	if s.tracked.space == "" {
		s.tracked.space, _ = l.readSpace(s.proc.PID)
	}
	return s.tracked.space
}

func (l *Look) readSpace(pid int) (string, error) {
	return Fetch(l, File{pid, "ns/pid", true}, func() (string, error) {
		return os.Readlink(filepath.Join(l.root, "proc", strconv.Itoa(pid), "ns/pid"))
	})
}

// listening returns the paths of the sockets at which a process listens, as far as that
// may be known.
func (l *Look) listening(p procfs.Proc) (paths []string) {
	open, err := Fetch(l, File{p.PID, "fd", true}, p.FileDescriptorTargets)
	if err != nil || !slices.ContainsFunc(open, func(target string) bool { return strings.HasPrefix(target, "socket:") }) {
		return nil
	}
	table, err := Fetch(l, File{p.PID, "net/unix", true}, func() (*procfs.NetUNIX, error) { return socketsSeenBy(l.root, p.PID) })
	if err != nil {
		return nil
	}
	return listensAmong(open, table)
}

// Listening returns the paths of the sockets at which a process of the host with that root
// listens, by the names that they were made with; none if that may not be known. It may hang.
func Listening(root string, p procfs.Proc) []string {
	open, err := p.FileDescriptorTargets()
	if err != nil {
		return nil
	}
	table, err := socketsSeenBy(root, p.PID)
	if err != nil {
		return nil
	}
	return listensAmong(open, table)
}

// socketsSeenBy reads the kernel's table of the sockets that are in a process's namespace.
func socketsSeenBy(root string, pid int) (*procfs.NetUNIX, error) {
	of, err := procfs.NewFS(filepath.Join("/", root, "proc", strconv.Itoa(pid)))
	if err != nil {
		return nil, err
	}
	return of.NetUNIX()
}

// listensAmong returns the paths of those sockets of a table at which somebody listens who
// has these files open.
func listensAmong(open []string, table *procfs.NetUNIX) (paths []string) {
	for _, row := range table.Rows {
		if row.Flags&listens != 0 && slices.Contains(open, "socket:["+strconv.FormatUint(row.Inode, 10)+"]") {
			paths = append(paths, row.Path)
		}
	}
	return paths
}

// isAt reports whether a socket, by the name that a process has for it, is that of the
// runtime: the process may have another folder mounted there than we have.
func (l *Look) isAt(pid int, socket string) bool {
	return l.isOurs(socket) || l.leadsToOurs(pid, socket)
}

// leadsToOurs reports whether what a process finds at the path of a socket is that of the
// runtime.
func (l *Look) leadsToOurs(pid int, socket string) bool {
	same, _ := Fetch(l, File{pid, "root", true}, func() (bool, error) {
		ours, err := os.Stat(SocketPath(l.endpoint))
		if err != nil {
			return false, err
		}
		theirs, err := os.Stat(filepath.Join(l.root, "proc", strconv.Itoa(pid), "root", SocketPath(socket)))
		return err == nil && os.SameFile(ours, theirs), err
	})
	return same
}

// isConfined reports whether this /proc is that of a container. It says no where
// that cannot be known.
func (l *Look) isConfined() bool {
	namespace, err := l.readSpace(1)
	return err == nil && namespace != firstNamespace
}

// isOurs reports whether a socket, by the name that the host's own processes
// have for it, is that of the runtime which is looked at. One socket can have
// several names: /var/run is mostly a link to /run, and the endpoint may be given
// by its path below the folder where the host's root is mounted.
func (l *Look) isOurs(socket string) bool {
	ours := OnHost(l.root, l.endpoint)
	if socket == "" || ours == "" {
		return false
	}
	theirs := SocketPath(socket)
	if theirs == ours {
		return true
	}
	same, known := l.ours[theirs]
	if !known {
		same, _ = Fetch(l, File{Name: theirs, Risky: true}, func() (bool, error) {
			return l.sameFile(ours, theirs) || path.Base(ours) == path.Base(theirs) && l.sameFile(path.Dir(ours), path.Dir(theirs)), nil
		})
		l.ours[theirs] = same
	}
	return same
}

// SocketPath returns the path of a socket or an endpoint, /var/run being another
// name of /run, also where neither can be looked at.
func SocketPath(endpoint string) string {
	if endpoint == "" {
		return ""
	}
	p := path.Clean(strings.TrimPrefix(strings.TrimPrefix(endpoint, "unix:"), "//"))
	if rest, ok := strings.CutPrefix(p, "/var/run/"); ok {
		return "/run/" + rest
	}
	return p
}

// OnHost returns the endpoint's path as the host's own processes know it, also
// for one that was given below the folder where the host's root is mounted.
func OnHost(root, endpoint string) string {
	p := SocketPath(endpoint)
	if rest, ok := strings.CutPrefix(p, root+"/"); ok && root != "/" {
		return SocketPath("/" + rest)
	}
	return p
}
