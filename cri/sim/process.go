package sim

import (
	"strings"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
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

// A process is what the node's kernel shows of one process. Processes are
// compared to see what has changed.
type process struct {
	pid, parent int
	name        string
	args        string // the program and its arguments, a NUL byte after each
	cgroup      string // its path in the unified hierarchy
	state       byte   // as the kernel writes it
	sleep       *sleep // where it sleeps; nil: it runs
	born        time.Time
	pages       int // resident
	threads     int // with the ids that follow its own
	percent     int // of a core that it uses
}

// A sleep is the place in the kernel where a thread waits.
type sleep struct {
	wchan string
	stack string // innermost function first, as /proc/PID/stack has it
}

func sleeping(functions ...string) *sleep {
	wchan, _, _ := strings.Cut(functions[0], "+")
	return &sleep{wchan, "[<0>] " + strings.Join(functions, "\n[<0>] ") + "\n"}
}

// Where the node's processes wait: for a signal, for work, for the lock of a Go
// program, for an answer of an NFS server, for the signal to go on.
var (
	inPause = sleeping("__x64_sys_pause+0x1c/0x30", "do_syscall_64+0x7d/0x160", "entry_SYSCALL_64_after_hwframe+0x76/0x7e")
	inPoll  = sleeping("ep_poll+0x31a/0x3b0", "do_epoll_wait+0xab/0xd0", "__x64_sys_epoll_wait+0x6b/0x110",
		"do_syscall_64+0x7d/0x160", "entry_SYSCALL_64_after_hwframe+0x76/0x7e")
	inFutex = sleeping("futex_wait_queue+0x69/0xa0", "__futex_wait+0x13d/0x1b0", "futex_wait+0x6c/0x110", "do_futex+0xcb/0x190",
		"__x64_sys_futex+0x12d/0x210", "do_syscall_64+0x7d/0x160", "entry_SYSCALL_64_after_hwframe+0x76/0x7e")
	inNFS = sleeping("rpc_wait_bit_killable+0x11/0x80 [sunrpc]", "__rpc_execute+0x146/0x4e0 [sunrpc]",
		"rpc_execute+0xcb/0x100 [sunrpc]", "rpc_run_task+0x15a/0x200 [sunrpc]", "nfs4_do_call_sync+0x6a/0xb0 [nfsv4]",
		"_nfs4_proc_getattr+0x12a/0x170 [nfsv4]", "nfs4_proc_getattr+0x72/0x110 [nfsv4]", "__nfs_revalidate_inode+0xe5/0x340 [nfs]",
		"nfs_getattr+0x2d9/0x4a0 [nfs]", "vfs_statx+0x9a/0x190", "__do_sys_newfstatat+0x4b/0x80",
		"do_syscall_64+0x7d/0x160", "entry_SYSCALL_64_after_hwframe+0x76/0x7e")
	inStop = sleeping("do_signal_stop+0x1c4/0x2a0", "get_signal+0x6b8/0x7a0", "arch_do_signal_or_restart+0x2e/0x270",
		"syscall_exit_to_user_mode+0x1b5/0x210", "do_syscall_64+0x89/0x160", "entry_SYSCALL_64_after_hwframe+0x76/0x7e")
)

// The node's own programs, there since it was booted.
const (
	initPID       = 1
	containerdPID = 812
	kubeletPID    = 1043
)

// processes returns what runs on the node. The runtime listens on socket.
func (sn *scene) processes(socket string) []process {
	all := sn.daemons()
	shims := map[*sandbox]bool{}
	shim := func(s *sandbox) {
		if !shims[s] {
			shims[s] = true
			all = append(all, s.shimProcess(socket))
		}
	}
	for _, s := range sn.sandboxes {
		if s.ready {
			shim(s)
			all = append(all, s.pause())
		}
	}
	for _, c := range sn.containers {
		if c.state == cri.ContainerState_CONTAINER_RUNNING {
			shim(c.sandbox)
			if c.fate != gone {
				all = append(all, c.process())
			}
		}
	}
	return all
}

func (sn *scene) daemons() []process {
	all := []process{
		{
			pid: initPID, name: "systemd", args: "/sbin/init\x00", cgroup: "/init.scope",
			state: 'S', sleep: inPoll, pages: 3300, threads: 1,
		},
		{
			pid: kubeletPID, parent: initPID, name: "kubelet", args: "/usr/bin/kubelet\x00--config=/var/lib/kubelet/config.yaml\x00",
			cgroup: "/system.slice/kubelet.service", state: 'S', sleep: inFutex, pages: 24000, threads: 4, percent: 3,
		},
	}
	if sn.away {
		return all
	}
	runtime := process{
		pid: containerdPID, parent: initPID, name: "containerd", args: "/usr/bin/containerd\x00",
		cgroup: "/system.slice/containerd.service", state: 'S', sleep: inFutex, pages: 17000, threads: 4, percent: 2,
	}
	if sn.stopped {
		runtime.state, runtime.sleep, runtime.percent = 'T', inStop, 0
	}
	return append(all, runtime)
}

// shimProcess returns the shim that is the parent of all processes of s.
func (s *sandbox) shimProcess(socket string) process {
	args := []string{"/usr/bin/containerd-shim-runc-v2", "-namespace", "k8s.io", "-id", s.id, "-address", socket, ""}
	return process{
		pid: int(s.shim), parent: initPID, name: "containerd-shim-runc-v2", args: strings.Join(args, "\x00"),
		cgroup: "/system.slice/containerd.service", state: 'S', sleep: inFutex, born: s.born, pages: 2900, threads: 1,
	}
}

func (s *sandbox) pause() process {
	return process{
		pid: int(s.pid), parent: int(s.shim), name: "pause", args: "/pause\x00", cgroup: s.pod.cgroup(s.id),
		state: 'S', sleep: inPause, born: s.born, pages: 160, threads: 1,
	}
}

func (c *container) process() process {
	p := process{
		pid: int(c.pid), parent: int(c.sandbox.shim), name: c.spec.name, args: "/usr/bin/" + c.spec.name + "\x00",
		cgroup: c.pod.cgroup(c.id), state: 'S', sleep: inPoll, born: c.born, pages: 6200, threads: 1,
	}
	if c.fate == stuck {
		p.state, p.sleep = 'D', inNFS
	}
	return p
}

// cgroup returns the path of one of p's containers, as systemd makes it for
// containerd.
func (p *pod) cgroup(id string) string {
	slice := "kubepods-burstable-pod" + strings.ReplaceAll(p.uid, "-", "_") + ".slice"
	return "/kubepods.slice/kubepods-burstable.slice/" + slice + "/cri-containerd-" + id + ".scope"
}
