package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The files of /proc as Linux 6.12 writes them; proc(5) and the kernel's
// Documentation/filesystems/proc.rst have their fields. A tick is 10 ms.

// maxName is how much of a program's name the kernel keeps.
const maxName = 15

func (p Process) comm() string { return p.Name[:min(len(p.Name), maxName)] }

// ticks returns d in the kernel's unit, at least 0.
func ticks(d time.Duration) int64 { return max(0, int64(d/(10*time.Millisecond))) }

// threadFiles returns what the folder of one thread holds, by name. Up is how
// long the node has been up, and age how long the process has been there.
func (p Process) threadFiles(tid int, up, age time.Duration) map[string]string {
	wchan, stack := "0", ""
	if p.Sleep != nil {
		wchan, stack = p.Sleep.wchan, p.Sleep.stack
	}
	files := map[string]string{"stat": p.stat(tid, up, age), "wchan": wchan, "stack": stack}
	if p.Sleep != nil && p.Sleep.mount != "" {
		files["syscall"] = fmt.Sprintf("%d %#x 0x7ffd1c2b6a10 0x0 0x0 0x0 0x0 0x7ffd1c2b69f8 0x7f3f5d21a7f4\n", syscall.SYS_FSTAT, openFile)
	}
	return files
}

// openFile is the descriptor of the file that a system call is about.
const openFile = 7

// ownFiles returns what tells of p's socket, of its mounts, and of the file that its system
// call is about, by name.
func (p Process) ownFiles() map[string]string {
	files := map[string]string{}
	if p.Listens != "" {
		files["fd/3"] = fmt.Sprintf("%s%d]", socketLink, p.PID) // any number does
		files["net/unix"] = "Num       RefCount Protocol Flags    Type St Inode Path\n" +
			fmt.Sprintf("0000000000000000: 00000002 00000000 00010000 0001 01 %d %s\n", p.PID, p.Listens)
	}
	if p.Mounts != "" {
		files["mountinfo"] = p.Mounts
	}
	if p.Sleep != nil && p.Sleep.mount != "" {
		id, _, _ := strings.Cut(p.Sleep.mount, " ")
		files["mountinfo"] = p.Sleep.mount
		files[fmt.Sprintf("fdinfo/%d", openFile)] = "pos:\t0\nflags:\t0100000\nmnt_id:\t" + id + "\nino:\t2097153\n"
	}
	return files
}

// socketLink begins what an open file links to if it is a socket.
const socketLink = "socket:["

// stat has 52 fields.
func (p Process) stat(tid int, up, age time.Duration) string {
	used := ticks(age) * int64(p.Percent) / 100
	return fmt.Sprintf("%d (%s) %c %d %d %d 0 -1 4194560 %d 0 0 0 %d %d 0 0 20 0 %d 0 %d %d %d 18446744073709551615"+
		" 4194304 5218304 140728273664512 0 0 0 0 4096 134234626 1 0 0 17 %d 0 0 0 0 0"+
		" 5513216 5590440 38514688 140728273669870 140728273669899 140728273669899 140728273670118 0\n",
		tid, p.comm(), p.State, p.Parent, p.PID, p.PID, 2*p.Pages, used*2/3, used/3, p.Threads,
		ticks(up-age), p.virtual()<<10, p.Pages, tid%4)
}

// virtual returns the size of p's address space in KiB.
func (p Process) virtual() int { return 1<<16 + 40*p.Pages }

func (p Process) status() string {
	resident := 4 * p.Pages
	lines := []string{
		"Name:\t" + p.comm(), "Umask:\t0022", fmt.Sprintf("State:\t%c (%s)", p.State, stateWords[p.State]),
		fmt.Sprintf("Tgid:\t%d", p.PID), "Ngid:\t0", fmt.Sprintf("Pid:\t%d", p.PID), fmt.Sprintf("PPid:\t%d", p.Parent), "TracerPid:\t0",
		"Uid:\t0\t0\t0\t0", "Gid:\t0\t0\t0\t0", "FDSize:\t64", "Groups:\t0 ", fmt.Sprintf("NStgid:\t%d", p.PID), fmt.Sprintf("NSpid:\t%d", p.PID),
		fmt.Sprintf("VmPeak:\t%8d kB", p.virtual()), fmt.Sprintf("VmSize:\t%8d kB", p.virtual()),
		fmt.Sprintf("VmHWM:\t%8d kB", resident), fmt.Sprintf("VmRSS:\t%8d kB", resident), "VmSwap:\t       0 kB",
		fmt.Sprintf("Threads:\t%d", p.Threads), "voluntary_ctxt_switches:\t150", "nonvoluntary_ctxt_switches:\t12",
	}
	return strings.Join(lines, "\n") + "\n"
}

var stateWords = map[byte]string{
	'R': "running", 'S': "sleeping", 'D': "disk sleep", 'T': "stopped",
}

// nodeFiles returns what /proc holds about a calm node of four cores, as of the
// moment when it has been up for so long. It was booted at boot.
func nodeFiles(up time.Duration, boot time.Time) map[string]string {
	t := ticks(up)
	cpu := fmt.Sprintf("%d %d %d %d %d 0 %d 0 0 0", t/25, t/5000, t/50, t*23/25, t/500, t/800)
	stat := "cpu  " + fmt.Sprintf("%d %d %d %d %d 0 %d 0 0 0", 4*(t/25), 4*(t/5000), 4*(t/50), 4*(t*23/25), 4*(t/500), 4*(t/800)) + "\n"
	for n := range 4 {
		stat += fmt.Sprintf("cpu%d %s\n", n, cpu)
	}
	stat += fmt.Sprintf("intr %d 0 9 0\nctxt %d\nbtime %d\nprocesses %d\nprocs_running 1\nprocs_blocked 0\n", t*9, t*17, boot.Unix(), 4000+t/40)
	stat += fmt.Sprintf("softirq %d 1 %d 4 %d %d 0 11 %d 0 %d\n", t*8, t*2, t, t/10, t*2, t*2)
	return map[string]string{
		"uptime": fmt.Sprintf("%.2f %.2f\n", up.Seconds(), 4*0.92*up.Seconds()), "stat": stat,
	}
}

// calmFiles are those that stay as they are.
var calmFiles = map[string]string{
	"loadavg":         "0.42 0.37 0.31 1/412 31337\n",
	"pressure/cpu":    "some avg10=0.12 avg60=0.20 avg300=0.18 total=391822071\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	"pressure/io":     "some avg10=0.00 avg60=0.04 avg300=0.05 total=90371828\nfull avg10=0.00 avg60=0.02 avg300=0.03 total=61739201\n",
	"pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=182011\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=93217\n",
	"meminfo": strings.Join([]string{
		"MemTotal:       16367360 kB", "MemFree:         6120388 kB", "MemAvailable:   12894200 kB", "Buffers:          310212 kB",
		"Cached:          6510920 kB", "SwapCached:            0 kB", "SwapTotal:             0 kB", "SwapFree:              0 kB",
		"Dirty:              1204 kB", "Writeback:             0 kB", "AnonPages:       2914108 kB", "Slab:             480120 kB", "",
	}, "\n"),
}

// A Process is what the node's kernel shows of one process. Processes are
// compared to see what has changed.
type Process struct {
	PID, Parent int
	Name        string
	Args        string    // the program and its arguments, a NUL byte after each
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
// program, for an answer of an NFS server.
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
)

// groupsFolder is where the unified hierarchy of control groups is mounted.
const groupsFolder = "/sys/fs/cgroup"

const (
	populated = "populated 1\nfrozen 0\n"
	deserted  = "populated 0\nfrozen 0\n"
)

func (f *Folder) groupFile(path, name string) string {
	return filepath.Join(f.dir, groupsFolder, path, name)
}

// followGroups has the folder show the control groups of these processes. One that its
// last process has left is there, deserted, until the next time.
func (f *Folder) followGroups(all []Process) error {
	members := map[string]string{}
	for _, p := range all {
		if p.Cgroup != "" {
			members[p.Cgroup] += strconv.Itoa(p.PID) + "\n"
		}
	}
	for path, was := range f.groups {
		switch _, stays := members[path]; {
		case stays:
		case was != "":
			members[path] = ""
		default:
			if err := f.removeGroup(path); err != nil {
				return err
			}
		}
	}
	for path, pids := range members {
		was, there := f.groups[path]
		if there && was == pids {
			continue
		}
		var err error
		if there {
			err = f.changeGroup(path, pids)
		} else {
			err = f.addGroup(path, pids)
		}
		if err != nil {
			return err
		}
		f.groups[path] = pids
	}
	return nil
}

// addGroup makes a group with all its files at once, as the kernel does.
func (f *Folder) addGroup(path, pids string) error {
	err := os.Mkdir(f.coming(), 0o700)
	for name, text := range map[string]string{"cgroup.procs": pids, "cgroup.events": populated} {
		err = errors.Join(err, os.WriteFile(filepath.Join(f.coming(), name), []byte(text), 0o600))
	}
	if err != nil {
		return err
	}
	at := f.groupFile(path, "")
	return within(at, func() error { return os.Rename(f.coming(), at) })
}

// changeGroup writes into the files that are there: whoever watches them sees it, and
// finds the state whole.
func (f *Folder) changeGroup(path, pids string) error {
	if err := os.WriteFile(f.groupFile(path, "cgroup.procs"), []byte(pids), 0o600); err != nil {
		return err
	}
	state := populated
	if pids == "" {
		state = deserted
	}
	events, err := os.OpenFile(f.groupFile(path, "cgroup.events"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = events.WriteAt([]byte(state), 0)
	return errors.Join(err, events.Close())
}

// removeGroup removes a group, and the pod's above it if that was its last one.
func (f *Folder) removeGroup(path string) error {
	delete(f.groups, path)
	if err := os.RemoveAll(f.groupFile(path, "")); err != nil {
		return err
	}
	_ = os.Remove(f.groupFile(filepath.Dir(path), ""))
	return nil
}
