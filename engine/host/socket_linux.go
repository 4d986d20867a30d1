package host

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

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
	id := identify(root, a)
	return id != fileID{} && id == identify(root, b)
}

// A fileID is a file, whatever its name is. The zero value is none.
type fileID struct{ device, inode uint64 }

func identify(root, path string) fileID {
	fd, err := openOnHost(root, path)
	if err != nil {
		return fileID{}
	}
	defer func() { _ = unix.Close(fd) }() // opened for its name alone: there is nothing to lose
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return fileID{}
	}
	return fileID{s.Dev, s.Ino}
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
