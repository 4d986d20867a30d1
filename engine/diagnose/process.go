package diagnose

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A listed is a sandbox or a container as it is listed.
type listed struct {
	pod       pleg.PodRef
	container string // its name; empty for a sandbox
	id        string
	sandboxID string // of a container
	sandbox   bool
	state     pleg.State
}

// String returns the names that the object goes by, or its id.
func (o listed) String() string {
	switch {
	case o.pod != (pleg.PodRef{}):
	case o.sandbox:
		return "sandbox " + o.id + " (not listed)"
	default:
		return "container " + o.id + " (not listed)"
	}
	return objectName(o.pod, o.container)
}

// listing returns all that the runtime lists, by id.
func listing(s *engine.Snapshot) map[string]listed {
	objects := make(map[string]listed, s.Counts.Sandboxes+s.Counts.Containers)
	for _, p := range s.Pods {
		seen := p.Seen()
		if seen == nil {
			continue
		}
		for i := range seen.Sandboxes {
			sb := &seen.Sandboxes[i]
			objects[sb.ID] = listed{pod: p.PodRef, id: sb.ID, sandbox: true, state: sb.State}
		}
		for i := range seen.Containers {
			c := &seen.Containers[i]
			objects[c.ID] = listedContainer(p, *c)
		}
	}
	delete(objects, "")
	return objects
}

func listedContainer(p *engine.Pod, c pleg.Container) listed {
	return listed{pod: p.PodRef, container: c.Name, id: c.ID, sandboxID: c.SandboxID, state: c.State}
}

// owns reports whether a shim was started by the runtime that is looked at.
func (in Input) owns(p evidence.Process) bool { return p.Own }

// serverCalls begin the names of kernel functions in which a process waits for
// somebody else than a disk: a server over the network, or a file system in a
// program.
var serverCalls = []string{
	"nfs", "rpc_", "xprt_", "cifs_", "smb", "ceph_", "rbd_", "fuse_", "request_wait_answer", "autofs_", "p9_", "v9fs_", "afs_", "lustre_", "ll_", "gfs2_", "ocfs2_",
}

func waitsForServer(p evidence.Process) bool {
	return slices.ContainsFunc(append([]string{p.Wchan}, p.Stack...), func(function string) bool {
		return slices.ContainsFunc(serverCalls, func(begin string) bool { return strings.HasPrefix(function, begin) })
	})
}
