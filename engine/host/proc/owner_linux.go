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
	// listens is the flag of a unix socket at which somebody listens (__SO_ACCEPTCON).
	listens = 1 << 16

	// firstNamespace is the pid namespace of the machine itself (PROC_PID_INIT_INO).
	firstNamespace = "pid:[4026531836]"
)

// An owner says to which runtime a daemon belongs.
type owner uint8

const (
	unknown owner = iota
	own           // the runtime at the endpoint, or its kubelet
	another       // of another runtime
	nested        // the kubelet of a node that runs in a container of this one
)

// ownerOf returns to which runtime a daemon belongs. The socket at which the daemon listens counts more than
// its configuration. A known owner stays. An unknown one is searched for once in a look.
func (l *Look) ownerOf(p *process) owner {
	if l.w.Endpoint != "" && slices.Contains(knowledge.Kubelets, p.comm) && l.isNested(p) {
		return nested
	}
	if l.w.Endpoint == "" || p.owner != unknown || p.ownerless {
		return p.owner
	}
	socket := p.identity.socket
	if slices.Contains(knowledge.Runtimes, p.comm) {
		t := p.task // of this look: the read may outlast it
		at, _ := ask(l, t, "fd", func() ([]string, error) { return listening(t), nil })
		for _, at := range at {
			if l.isOurs(at) || l.leadsToOurs(p, at) {
				socket = at
				break
			}
			if path.Base(at) == path.Base(SocketPath(l.w.Endpoint)) {
				socket = at
			}
		}
	}
	switch {
	case socket == "":
		p.ownerless = true
	case l.isOurs(socket), l.leadsToOurs(p, socket):
		p.owner = own
	default:
		p.owner = another
	}
	return p.owner
}

// isNested reports whether a kubelet is in another pid namespace than our runtime, as in a container that is a
// node of its own. There another socket is at the path of our socket. It returns false if that cannot be known.
func (l *Look) isNested(p *process) bool {
	home, space := l.homeSpace(), l.spaceOf(p)
	return space != "" && home != "" && space != home && (p.identity.socket == "" || !l.leadsToOurs(p, p.identity.socket))
}

// homeSpace returns the pid namespace of our runtime. If it is not known which runtime is ours, it returns the
// namespace of process 1 if a runtime is in it, else "".
func (l *Look) homeSpace() (home string) {
	for _, p := range l.seen {
		if !slices.Contains(knowledge.Runtimes, p.comm) || slices.Contains(knowledge.Kubelets, p.comm) {
			continue
		}
		switch l.ownerOf(p) {
		case own:
			return l.spaceOf(p)
		case unknown:
			if space := l.spaceOf(p); space == l.spaceOf(l.w.known[1]) {
				home = space
			}
		}
	}
	return home
}

// spaceOf returns the pid namespace of a process, which never changes; empty if it may not be known.
func (l *Look) spaceOf(p *process) string {
	if p == nil {
		return ""
	}
	if p.space == "" {
		p.space = l.link(p.task, "ns/pid")
	}
	return p.space
}

// leadsToOurs reports whether a process finds our runtime's socket at a path. The process may have another
// folder mounted there than we have.
func (l *Look) leadsToOurs(p *process, socket string) bool {
	path := filepath.Join(p.dir, "root", SocketPath(socket))
	same, _ := ask(l, p.task, "root", func() (bool, error) {
		ours, err := os.Stat(SocketPath(l.w.Endpoint))
		if err != nil {
			return false, err
		}
		theirs, err := os.Stat(path)
		return err == nil && os.SameFile(ours, theirs), err
	})
	return same
}

// isOurs reports whether a path on the host is the socket of our runtime. A socket may have
// several paths, and the endpoint may be below the folder where the host's root is mounted.
func (l *Look) isOurs(socket string) bool {
	ours, theirs := OnHost(l.w.Root, l.w.Endpoint), SocketPath(socket)
	if socket == "" || ours == "" || theirs == ours {
		return socket != "" && ours != ""
	}
	same, known := l.ours[theirs]
	if !known {
		same, _ = Fetch(l, File{Name: theirs, Risky: true}, func() (bool, error) {
			return l.w.SameFile(ours, theirs) || path.Base(ours) == path.Base(theirs) && l.w.SameFile(path.Dir(ours), path.Dir(theirs)), nil
		})
		l.ours[theirs] = same
	}
	return same
}

// Listening returns the paths of the sockets at which a process of the host listens, by the names they were
// made with; none if we may not know them. Root is where the host's root is mounted. It may hang.
func Listening(root string, p procfs.Proc) []string {
	return listening(task{p, p.PID, filepath.Join("/", root, "proc", strconv.Itoa(p.PID))})
}

func listening(t task) (paths []string) {
	open, err := t.FileDescriptorTargets()
	if err != nil || len(open) == 0 {
		return nil
	}
	of, err := procfs.NewFS(t.dir)
	if err != nil {
		return nil
	}
	table, err := of.NetUNIX() // of the network namespace of the process
	if err != nil {
		return nil
	}
	for _, row := range table.Rows {
		if row.Flags&listens != 0 && slices.Contains(open, "socket:["+strconv.FormatUint(row.Inode, 10)+"]") {
			paths = append(paths, row.Path)
		}
	}
	return paths
}

// SocketPath returns the path of a socket or an endpoint. It writes /var/run as /run, since both are one
// folder, even if neither is there to look at.
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

// OnHost returns the path of an endpoint as the host's own processes know it. The endpoint may be below the
// folder where the host's root is mounted.
func OnHost(root, endpoint string) string {
	p := SocketPath(endpoint)
	if rest, ok := strings.CutPrefix(p, root+"/"); ok && root != "/" {
		return SocketPath("/" + rest)
	}
	return p
}
