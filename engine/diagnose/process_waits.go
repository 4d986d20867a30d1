package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// servedTypes begin the names of file systems behind which there is a server or a
// program, and not a disk.
var servedTypes = []string{"nfs", "cifs", "smb", "ceph", "fuse", "9p", "afs", "lustre", "glusterfs", "virtiofs", "beegfs", "gfs2", "ocfs2", "autofs"}

func isServed(m evidence.Mount) bool {
	return beginsAs(m.Type, servedTypes) && m.Type != "fuseblk"
}

// serverCalls begin the names of kernel functions in which a process waits for
// somebody else than a disk: a server over the network, or a file system in a
// program.
var serverCalls = []string{
	"nfs", "rpc_", "xprt_", "cifs_", "smb", "ceph_", "rbd_", "fuse_", "request_wait_answer", "autofs_", "p9_", "v9fs_", "afs_", "lustre_", "ll_", "gfs2_", "ocfs2_",
}

func waitsForServer(p evidence.Process) bool {
	return isServed(p.Mount) || forServer(p.Wchan) || slices.ContainsFunc(p.Stack, forServer)
}

func forServer(function string) bool {
	return beginsAs(function, serverCalls)
}

// serverOf returns the name of the server behind a mount: nas of nas:/export and of
// //nas/share; empty if it has none.
func serverOf(m evidence.Mount) string {
	if share, isCIFS := strings.CutPrefix(m.Source, "//"); isCIFS {
		name, _, _ := strings.Cut(share, "/")
		return name
	}
	name, _, isNFS := strings.Cut(m.Source, ":/")
	if !isNFS {
		return ""
	}
	return strings.Trim(name, "[]")
}

// isPartOf reports whether a file system on source, such as /dev/sdb1 or /dev/nvme0n1p1, is on
// a device, such as sdb1, sdb, nvme0n1 or the controller nvme0.
func isPartOf(source, device string) bool {
	name, isDevice := strings.CutPrefix(source, "/dev/")
	part, begins := strings.CutPrefix(name, device)
	if !isDevice || !begins || device == "" {
		return false
	}
	_, err := strconv.ParseUint(part, 10, 32)
	numbered := device[len(device)-1] >= '0' && device[len(device)-1] <= '9' // then its parts are p1, p2
	return part == "" || err == nil && !numbered || numbered && devicePart.MatchString(part)
}

var devicePart = regexp.MustCompile(`^(n\d+)?(p\d+)?$`)

// waitsOn returns the file system for which a process in the kernel waits; of a
// container's own files that is the runtime's disk.
func (v *view) waitsOn(p evidence.Process) evidence.Mount {
	if store := v.evidence.Disk.Mount; p.Mount.Type == "overlay" && store.Device != "" {
		store.Point = v.evidence.Disk.Path
		return store
	}
	return p.Mount
}

// byFileSystem puts together those that wait for one file system, if they are
// several or the runtime is among them. Where there is one such disk, who waits in the
// kernel for nobody knows what waits for that: to unmount anything, all of it is
// written first.
func (v *view) byFileSystem(stuck []stuckProcess) (groups [][]stuckProcess, single []stuckProcess) {
	by := make(map[string][]stuckProcess)
	var devices []string
	for _, p := range stuck {
		d := v.waitsOn(p.Process).Device
		if d != "" && by[d] == nil {
			devices = append(devices, d)
		}
		by[d] = append(by[d], p)
	}
	single = by[""]
	if len(devices) == 1 && !strings.HasPrefix(devices[0], "0:") {
		single = nil
		for _, p := range by[""] {
			if p.State == evidence.Uninterrupted && !waitsForServer(p.Process) {
				by[devices[0]] = append(by[devices[0]], p)
			} else {
				single = append(single, p)
			}
		}
	}
	for _, d := range devices {
		if g := by[d]; len(g) > 1 || g[0].what == "runtime" {
			groups = append(groups, g)
		} else {
			single = append(single, g...)
		}
	}
	slices.SortStableFunc(single, worstFirst)
	return groups, single
}

// onFileSystem begins the group of those that wait for one file system.
const onFileSystem = "file system "

// waitingFinding is about all that waits for one file system. The first of them is
// known to.
func (v *view) waitingFinding(g []stuckProcess) Finding {
	first := g[0].Process
	m := v.waitsOn(first)
	f := Finding{ID: ProcessStuck, Group: onFileSystem + m.Device, Summary: fmt.Sprintf("%s for %s", whoWait(g), fileSystem(m))}
	longest := first.For
	for _, p := range g {
		f.Severity, longest = max(f.Severity, p.severity), max(longest, p.For)
	}
	if isFrozen(first) {
		f.Summary += ", which is frozen,"
	}
	f.Summary += " for " + going(longest)
	f.Since = v.evidence.At.Add(-longest)
	f.say(v.disk(m)...)
	f.Next = append([]Step{{Text: "all that waits; no signal reaches it, and no restart helps, before the file system answers", Command: allInKernel}}, freeing(first)...)
	return about(f, g, stuckProcess.line).withChain(v.chainOfStuck(g[0]))
}

// whoWait names those that wait: containerd, 2 shims and 1 process.
func whoWait(g []stuckProcess) string {
	var who []string
	for _, what := range []string{"shim", "errand", "process"} {
		n := 0
		for _, p := range g {
			if p.what == what {
				n++
			}
		}
		if n > 0 {
			who = append(who, count(n, what))
		}
	}
	if i := slices.IndexFunc(g, func(p stuckProcess) bool { return p.what == "runtime" }); i >= 0 {
		who = append([]string{fmt.Sprintf("%s (pid %d)", g[i].Command, g[i].PID)}, who...)
	}
	verb := " wait"
	if len(g) == 1 {
		verb = " waits"
	}
	return join(who) + verb
}

// fileSystem names a mounted file system: /data (ext4 on /dev/sdb1).
func fileSystem(m evidence.Mount) string {
	return fmt.Sprintf("%s (%s on %s)", m.Point, m.Type, m.Source)
}

// isFrozen reports whether a process waits until its file system is no longer frozen,
// as for a snapshot of its disk.
func isFrozen(p evidence.Process) bool {
	return p.Mount.Type != "" && len(p.Stack) > 0 && (strings.HasPrefix(p.Stack[0], "percpu_rwsem_wait") ||
		slices.ContainsFunc(p.Stack, func(s string) bool { return strings.HasPrefix(s, "__sb_start_write") }))
}

// disk says what is known of the disk behind a file system.
func (v *view) disk(m evidence.Mount) (lines []string) {
	for _, d := range v.evidence.Devices {
		if d.Number == m.Device {
			line := fmt.Sprintf("%s has been given %s and has not answered", d.Name, count(d.InFlight, "request"))
			if d.Still > 0 {
				line += ", nor any other for " + going(d.Still)
			}
			lines = append(lines, line)
		}
	}
	for _, d := range []evidence.Disk{v.evidence.Disk, v.evidence.State} {
		if d.Mount.Device == m.Device && m.Device != "" {
			lines = append(lines, d.Path+" is on it")
			if d.ReadOnly != "" {
				lines = append(lines, d.ReadOnly)
			}
			if d.Errors > 0 {
				lines = append(lines, fmt.Sprintf("%s in it since it was checked, the last %s ago", count(d.Errors, "error"), going(d.ErrorAge)))
			}
		}
	}
	return lines
}

// freeing returns what can end the wait of a process for its file system.
func freeing(p evidence.Process) []Step {
	m := p.Mount
	number := m.Device[strings.IndexByte(m.Device, ':')+1:]
	switch {
	case isFrozen(p):
		return []Step{{Text: "thaws the file system; who froze it, a backup or a snapshot, may still need it so", Command: "fsfreeze --unfreeze " + quote(m.Point), Risky: true}}
	case strings.HasPrefix(m.Type, "fuse") && m.Type != "fuseblk":
		return []Step{
			{Text: "is the program that serves it alive", Command: "ps -eo pid,state,etime,args | grep -e " + quote(m.Source) + " -e fuse"},
			{Text: "fails all that waits for it", Command: "echo 1 > /sys/fs/fuse/connections/" + number + "/abort", Risky: true},
		}
	case strings.HasPrefix(m.Type, "nfs"):
		return []Step{
			{Text: "is the server reached", Command: "nfsstat -m; ss -tn dport = 2049"},
			{Text: "fails what waits for it", Command: "umount -f " + quote(m.Point), Risky: true},
		}
	case isServed(m):
		return []Step{{Text: "what the kernel says of the server", Command: "dmesg -T | tail -n 50"}}
	}
	return []Step{
		{Text: "what the kernel says of the disk", Command: "dmesg -T | grep -e " + quote(strings.TrimPrefix(m.Source, "/dev/")) + " -e 'I/O error' -e 'blocked for more' | tail -n 30"},
		{Text: "does it answer at all", Command: "cat /sys/dev/block/" + m.Device + "/inflight /sys/dev/block/" + m.Device + "/stat"},
	}
}
