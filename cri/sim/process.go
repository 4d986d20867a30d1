package sim

import (
	"strings"

	"github.com/plegtop/plegtop/cri/sim/proc"
)

// A fate is what has become of a container's process, whatever the runtime
// says about the container.
type fate uint8

const (
	alive fate = iota
	stuck      // in the kernel, waiting for a file server that is dead
	gone       // without the runtime having noticed
)

// setFate gives the process of a container a fate. A container that ends and is
// started again has a new process.
func (w *world) setFate(c *container, f fate) {
	c.fate = f
	w.changes++
}

// The node's own programs, there since it was booted.
const (
	initPID       = 1
	containerdPID = 812
	kubeletPID    = 1043
)

// processes returns what runs on the node. The runtime listens on socket.
func (sn *scene) processes(socket string) []proc.Process {
	all := sn.daemons(socket)
	shims := map[*sandbox]bool{}
	shim := func(s *sandbox) {
		if !shims[s] {
			shims[s] = true
			all = append(all, s.shimProcess(socket))
		}
	}
	for _, s := range sn.sandboxes {
		if s.ready() {
			shim(s)
			all = append(all, s.pause())
		}
	}
	for _, c := range sn.containers {
		if c.runs() {
			shim(c.sandbox)
			if c.fate != gone {
				all = append(all, c.process())
			}
		}
	}
	for _, e := range sn.helpers {
		if e.there() {
			all = append(all, e.process())
		}
	}
	return all
}

func (sn *scene) daemons(socket string) []proc.Process {
	all := []proc.Process{
		{
			PID: initPID, Name: "systemd", Args: "/sbin/init\x00", Cgroup: "/init.scope",
			State: 'S', Sleep: proc.InPoll, Pages: 3300, Threads: 1, Mounts: mounts,
		},
		{
			PID: kubeletPID, Parent: initPID, Name: "kubelet", Args: "/usr/bin/kubelet\x00--config=/var/lib/kubelet/config.yaml\x00",
			Cgroup: "/system.slice/kubelet.service", State: 'S', Sleep: proc.InFutex, Pages: 24000, Threads: 4, Percent: 3,
		},
	}
	if sn.away {
		return all
	}
	runtime := proc.Process{
		PID: containerdPID, Parent: initPID, Name: "containerd", Args: "/usr/bin/containerd\x00",
		Cgroup: "/system.slice/containerd.service", State: 'S', Sleep: proc.InFutex, Pages: 17000, Threads: 4, Percent: 2, Listens: socket,
	}
	if sn.stopped {
		runtime.State, runtime.Sleep, runtime.Percent = 'T', proc.InStop, 0
	}
	return append(all, runtime)
}

// shimProcess returns the shim that is the parent of all processes of s.
func (s *sandbox) shimProcess(socket string) proc.Process {
	args := []string{"/usr/bin/containerd-shim-runc-v2", "-namespace", "k8s.io", "-id", s.status.Id, "-address", socket, ""}
	return proc.Process{
		PID: int(s.shim), Parent: initPID, Name: "containerd-shim-runc-v2", Args: strings.Join(args, "\x00"),
		Cgroup: "/system.slice/containerd.service", State: 'S', Sleep: proc.InFutex, Born: s.born, Pages: 2900, Threads: 1,
	}
}

func (s *sandbox) pause() proc.Process {
	return proc.Process{
		PID: int(s.pid), Parent: int(s.shim), Name: "pause", Args: "/pause\x00", Cgroup: s.pod.cgroup(s.status.Id),
		State: 'S', Sleep: proc.InPause, Born: s.born, Pages: 160, Threads: 1,
	}
}

func (c *container) process() proc.Process {
	p := proc.Process{
		PID: int(c.pid), Parent: int(c.sandbox.shim), Name: c.spec.name, Args: "/usr/bin/" + c.spec.name + "\x00",
		Cgroup: c.pod.cgroup(c.status.Id), State: 'S', Sleep: proc.InPoll, Born: c.born, Pages: 6200, Threads: 1,
	}
	if c.fate == stuck {
		p.State, p.Sleep = 'D', proc.InNFS
	}
	return p
}

// cgroup returns the path of one of p's containers, as systemd makes it for
// containerd.
func (p *pod) cgroup(id string) string {
	return "/kubepods.slice/kubepods-burstable.slice/" + p.slice() + "/cri-containerd-" + id + ".scope"
}
