package evidence

import (
	"slices"
	"strings"
)

// A served is a kind of file system, or several.
type served struct{ types, calls []string }

// servers are the file systems behind which there is a server or a program, and not a
// disk: how their types begin, and the functions of the kernel in which a thread waits for
// one.
var servers = []served{
	{[]string{"nfs"}, []string{"nfs", "rpc_", "xprt_"}},
	{[]string{"cifs", "smb"}, []string{"cifs_", "smb"}},
	{[]string{"ceph"}, []string{"ceph_"}},
	{nil, []string{"rbd_"}}, // a disk over the network
	{[]string{"fuse", "virtiofs"}, []string{"fuse_", "request_wait_answer"}},
	{[]string{"autofs"}, []string{"autofs_"}},
	{[]string{"9p"}, []string{"p9_", "v9fs_"}},
	{[]string{"afs"}, []string{"afs_"}},
	{[]string{"lustre"}, []string{"lustre_", "ll_"}},
	{[]string{"gfs2"}, []string{"gfs2_"}},
	{[]string{"ocfs2"}, []string{"ocfs2_"}},
	{[]string{"glusterfs", "beegfs"}, nil},
}

// Served reports whether there is a server or a program behind a file system.
func (m Mount) Served() bool {
	return m.Type != "fuseblk" && slices.ContainsFunc(servers, func(s served) bool { return beginsAs(m.Type, s.types) })
}

// ServerFunction reports whether a function of the kernel is one in which a thread waits
// for a server or a program.
func ServerFunction(function string) bool {
	return slices.ContainsFunc(servers, func(s served) bool { return beginsAs(function, s.calls) })
}

// MayWaitFor reports whether a thread that waits in one of the functions of the kernel
// may wait for the server of a file system.
func MayWaitFor(m Mount, functions ...string) bool {
	return m.Served() && slices.ContainsFunc(servers, func(s served) bool {
		return beginsAs(m.Type, s.types) && slices.ContainsFunc(functions, func(f string) bool { return beginsAs(f, s.calls) })
	})
}

func beginsAs(name string, begins []string) bool {
	return slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(name, begin) })
}
