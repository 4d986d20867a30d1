package proc

import (
	"strings"
	"time"
)

// A Process is what the node's kernel shows of one process. Processes are
// compared to see what has changed.
type Process struct {
	PID, Parent int
	Name        string
	Args        string    // the program and its arguments, a NUL byte after each
	Env         string    // its environment, in the same way; may be empty
	Cgroup      string    // its path in the unified hierarchy
	State       byte      // as the kernel writes it
	Sleep       *Sleep    // where it sleeps; nil: it runs
	Born        time.Time // zero: with the node
	Pages       int       // resident
	Threads     int       // with the ids that follow its own
	Percent     int       // of a core that it uses
	Listens     string    // the path of the socket at which it listens; may be empty
	Mounts      string    // those that it sees, as /proc/PID/mountinfo has them; may be empty
}

// A Sleep is the place in the kernel where a thread waits.
type Sleep struct {
	wchan string
	stack string // innermost function first, as /proc/PID/stack has it
	mount string // of the file that its system call is about, as /proc/PID/mountinfo has it; may be empty
}

func sleeping(functions ...string) *Sleep {
	wchan, _, _ := strings.Cut(functions[0], "+")
	return &Sleep{wchan: wchan, stack: "[<0>] " + strings.Join(functions, "\n[<0>] ") + "\n"}
}

// on returns s as that of a system call about a file in that mount.
func (s *Sleep) on(mount string) *Sleep {
	s.mount = mount
	return s
}

// Where the node's processes wait: for a signal, for work, for the lock of a Go
// program, for an answer of an NFS server, for the signal to go on.
var (
	InPause = sleeping("__x64_sys_pause+0x1c/0x30", "do_syscall_64+0x7d/0x160", "entry_SYSCALL_64_after_hwframe+0x76/0x7e")
	InPoll  = sleeping("ep_poll+0x31a/0x3b0", "do_epoll_wait+0xab/0xd0", "__x64_sys_epoll_wait+0x6b/0x110",
		"do_syscall_64+0x7d/0x160", "entry_SYSCALL_64_after_hwframe+0x76/0x7e")
	InFutex = sleeping("futex_wait_queue+0x69/0xa0", "__futex_wait+0x13d/0x1b0", "futex_wait+0x6c/0x110", "do_futex+0xcb/0x190",
		"__x64_sys_futex+0x12d/0x210", "do_syscall_64+0x7d/0x160", "entry_SYSCALL_64_after_hwframe+0x76/0x7e")
	InNFS = sleeping("rpc_wait_bit_killable+0x11/0x80 [sunrpc]", "__rpc_execute+0x146/0x4e0 [sunrpc]",
		"rpc_execute+0xcb/0x100 [sunrpc]", "rpc_run_task+0x15a/0x200 [sunrpc]", "nfs4_do_call_sync+0x6a/0xb0 [nfsv4]",
		"_nfs4_proc_getattr+0x12a/0x170 [nfsv4]", "nfs4_proc_getattr+0x72/0x110 [nfsv4]", "__nfs_revalidate_inode+0xe5/0x340 [nfs]",
		"nfs_getattr+0x2d9/0x4a0 [nfs]", "vfs_fstat+0x4b/0x90", "__do_sys_newfstat+0x29/0x60",
		"do_syscall_64+0x7d/0x160", "entry_SYSCALL_64_after_hwframe+0x76/0x7e").
		on("812 730 0:57 / /data rw,relatime shared:311 - nfs4 10.0.0.9:/vol rw,vers=4.2,hard,proto=tcp,addr=10.0.0.9\n")
	InStop = sleeping("do_signal_stop+0x1c4/0x2a0", "get_signal+0x6b8/0x7a0", "arch_do_signal_or_restart+0x2e/0x270",
		"syscall_exit_to_user_mode+0x1b5/0x210", "do_syscall_64+0x89/0x160", "entry_SYSCALL_64_after_hwframe+0x76/0x7e")
)
