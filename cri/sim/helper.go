package sim

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/cri/sim/proc"
)

// A helper is a program that does one thing for the runtime or a shim, and does not
// end.
type helper struct {
	pid     uint32
	program string // its path
	args    []string
	of      *container // that it is about, in whose sandbox's shim it was begun
	call    string     // of the CRI, that waits for it
	locks   bool       // that call holds the lock of the container's status meanwhile
	born    time.Time  // by the world's clock
}

// sickFor is how long something has been wrong already, if it is so from the beginning:
// the node is looked at since it is sick.
const sickFor = 4 * time.Minute

// sick returns how long what begins to be wrong now has been so already.
func (sn *scene) sick() time.Duration {
	if sn.before == nil && sn.now.Equal(sn.began) {
		return sickFor
	}
	return 0
}

// send begins a helper and returns what ends it.
func (sn *scene) send(e helper) (end func()) {
	e.pid, e.born = sn.pid(), sn.clock.Add(-sn.sick())
	sn.helpers = append(sn.helpers, &e)
	sn.changes++
	return func() {
		delete(sn.pids, e.pid)
		sn.helpers = drop(sn.helpers, &e)
		sn.changes++
	}
}

func sends(e helper) fault { return func(sn *scene) func() { return sn.send(e) } }

func ofRunc(c *container, call, verb string, args ...string) helper {
	log := stateFolder + "/" + c.status.Id + "/log.json"
	global := []string{"--root", "/run/containerd/runc/k8s.io", "--log", log, "--log-format", "json", "--systemd-cgroup", verb}
	return helper{program: "/usr/bin/runc", args: append(append(global, args...), c.status.Id), of: c, call: call}
}

// hangUpdate has "runc update" of a container hang, as of a resize of its pod in place.
// The runtime holds the lock of its status meanwhile, for which its status calls and all
// lists of containers wait.
func hangUpdate(sn *scene, c *container) func() {
	e := ofRunc(c, "UpdateContainerResources", "update", "--resources", "-")
	e.locks = true
	return together(hang(statusCall(c)), hang(Match{Method: "ListContainers"}), sends(e))(sn)
}

// statusCall matches the status calls of a container, whichever of its name it is by then.
func statusCall(c *container) Match {
	return Match{Method: "ContainerStatus", Pod: c.pod.ref(), Container: c.spec.name}
}

// there reports whether the helper is still to be seen: not without the shim that it is a
// child of.
func (e *helper) there() bool {
	return e.of.runs()
}

func (e *helper) process() proc.Process {
	return proc.Process{
		PID: int(e.pid), Parent: int(e.of.sandbox.shim), Name: e.program[strings.LastIndexByte(e.program, '/')+1:],
		Args: terminated(append([]string{e.program}, e.args...)), Cgroup: "/system.slice/containerd.service",
		State: 'S', Sleep: proc.InFutex, Born: e.born, Pages: 3100, Threads: 1,
	}
}

// terminated returns texts as the kernel shows them, a NUL byte after each.
func terminated(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "\x00") + "\x00"
}

// listDeadline is how long a kubelet waits for a list before it makes another; the one
// that it has given up waits on in the runtime.
const listDeadline = 2 * time.Minute

// others returns the calls of other clients that the runtime has not ended: those that
// wait for helpers, and the kubelet's lists behind those that hold a lock.
func (sn *scene) others() []Call {
	var all []Call
	for _, e := range sn.helpers {
		if !e.there() {
			continue
		}
		all = append(all, Call{Method: e.call, At: e.born, ID: e.of.status.Id, Pod: e.of.pod.ref(), Container: e.of.spec.name})
		for at := e.born.Add(time.Second); e.locks && at.Before(sn.clock); at = at.Add(listDeadline) {
			all = append(all, Call{Method: "ListContainers", At: at})
		}
	}
	return all
}
