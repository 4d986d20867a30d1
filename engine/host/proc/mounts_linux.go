package proc

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// waitLong is from when on it matters what a process in uninterruptible sleep
	// waits for.
	waitLong = 500 * time.Millisecond

	// waitsPerLook bounds the processes of which that is found out in one look: a
	// dead server may have them all. It is remembered for as long as they wait.
	waitsPerLook = 30

	// amongAsked is of how many mounts it is found out whose they are, where a process may wait for
	// any of them: of more nobody is named.
	amongAsked = 3
)

// onDescriptor are the system calls whose first argument is an open file.
var onDescriptor = map[int]bool{
	unix.SYS_READ: true, unix.SYS_PREAD64: true, unix.SYS_READV: true, unix.SYS_PREADV: true,
	unix.SYS_WRITE: true, unix.SYS_PWRITE64: true, unix.SYS_WRITEV: true, unix.SYS_PWRITEV: true,
	unix.SYS_FSYNC: true, unix.SYS_FDATASYNC: true, unix.SYS_SYNCFS: true,
	unix.SYS_FSTAT: true, unix.SYS_GETDENTS64: true, unix.SYS_LSEEK: true, unix.SYS_IOCTL: true,
	unix.SYS_FTRUNCATE: true, unix.SYS_FALLOCATE: true, unix.SYS_FLOCK: true, unix.SYS_FCHMOD: true, unix.SYS_FCHOWN: true,
}

// waitsFor completes a process with the mount of the file that its thread's system call is
// about, as far as we may know that.
func (l *Look) waitsFor(p *evidence.Process, s sighting) {
	if s.now.state != evidence.Uninterrupted || l.at.Sub(s.now.since) < waitLong {
		return
	}
	w := &s.tracked.wait
	still := s.now.isStill(w.threadState)
	if (!still || l.isDeep && !w.deep && w.mount.Type == "") && l.waits < waitsPerLook {
		l.waits++
		*w, still = waited{threadState: s.now, deep: l.isDeep}, true
		w.mount, w.among = l.findMount(s, p)
		w.mount = l.onNode(w.mount, s)
		for i := range w.among[:min(len(w.among), amongAsked)] {
			w.among[i] = l.onNode(w.among[i], s)
		}
		w.servers = l.servers(append([]evidence.Mount{w.mount}, w.among...))
	}
	if still {
		p.Mount, p.Among, p.Servers = w.mount, w.among, l.StillHold(w.servers)
	}
}

// findMount returns the mount for which a thread of a process waits: that of the open file
// that its system call is about or, if it waits for a server, of the path. Where neither is
// known it returns the mounts of such servers among which that is. What is mounted below a
// path that a process does not see any more is not found.
func (l *Look) findMount(s sighting, p *evidence.Process) (m evidence.Mount, among []evidence.Mount) {
	call, args := l.systemCall(s)
	functions := slices.Concat([]string{p.Wchan}, p.Stack)
	mayBe := func(m evidence.Mount) bool { return evidence.MayWaitFor(m, functions...) }
	onFile, forServer := onDescriptor[call] && len(args) > 0, slices.ContainsFunc(functions, evidence.ServerFunction)
	if !onFile && !forServer {
		return m, nil
	}
	mounts, err := Fetch(l, File{s.proc.PID, "mountinfo", true}, func() ([]*procfs.MountInfo, error) { return s.proc.MountInfo() })
	if err != nil {
		return m, nil
	}
	if onFile {
		info, err := Fetch(l, File{s.proc.PID, "fdinfo", true}, func() (*procfs.ProcFDInfo, error) { return s.proc.FDInfo(strconv.FormatUint(args[0], 10)) })
		for _, one := range mounts {
			if err == nil && strconv.Itoa(one.MountID) == info.MntID {
				return mountOf(one), nil
			}
		}
		if err == nil { // it is on a mount that the process does not see any more
			return m, nil
		}
	}
	if !forServer {
		return m, nil
	}
	if at := MountAt(mounts, l.pathOf(s, call, args)); at != nil && mayBe(mountOf(at)) {
		return mountOf(at), nil
	}
	known := map[string]bool{} // devices: each container may have its own mount of one
	for _, one := range mounts {
		if m := mountOf(one); !known[m.Device] && mayBe(m) {
			known[m.Device], among = true, append(among, m)
		}
	}
	return l.mapped(s, call, among)
}

// systemCall returns the number of a thread's system call and its arguments, [pageCall]
// if it is in none, and [unknownCall] if that may not be known.
func (l *Look) systemCall(s sighting) (call int, args []uint64) {
	text, err := l.text(File{s.proc.PID, "syscall", true}, s.threadFolder(s.now.thread), "syscall")
	fields := strings.Fields(text) // number and arguments; "running" if it is not in one
	if err != nil || len(fields) < 2 {
		return unknownCall, nil
	}
	if call, err = strconv.Atoi(fields[0]); err != nil {
		return unknownCall, nil
	}
	for _, field := range fields[1:] {
		n, err := strconv.ParseUint(strings.TrimPrefix(field, "0x"), 16, 64)
		if err != nil {
			return unknownCall, nil
		}
		args = append(args, n)
	}
	return call, args
}

// onNode adds to a mount for which a process waits where the node itself has it: its only place, or
// else the one of the pod; and whose volume it is.
func (l *Look) onNode(m evidence.Mount, s sighting) evidence.Mount {
	if m.Device == "" {
		return m
	}
	all, err := Fetch(l, File{PID: 1, Name: "mountinfo"}, func() ([]*procfs.MountInfo, error) { return mountsOfFirst(l.root), nil })
	if err != nil {
		return m
	}
	var places, ofPod []string
	for _, one := range all {
		here := mountOf(one)
		switch {
		case here.Type == "fusectl" && strings.HasPrefix(m.Type, "fuse"):
			_, connection, _ := strings.Cut(m.Device, ":")
			m.Abort = filepath.Join(here.Point, connection, "abort")
		case here.Device != m.Device || slices.Contains(places, here.Point):
		default:
			places = append(places, here.Point)
			if slices.ContainsFunc(s.member.uids, func(uid string) bool { return uid != "" && strings.Contains(here.Point, uid) }) {
				ofPod = append(ofPod, here.Point)
			}
		}
	}
	if len(places) == 1 {
		m.Node = places[0]
	} else if len(ofPod) == 1 {
		m.Node = ofPod[0]
	}
	if s.identity.role == daemon && m.Served() { // of a container's own process the pod is known
		m.Pod = l.volumeOf(m, places)
	}
	return m
}

// podMountsRead is how many containers are asked whether they have a share: more than a node has.
const podMountsRead = 1000

// inPod finds the pod in the path at which a kubelet mounts a volume.
var inPod = regexp.MustCompile("/pods/([0-9A-Za-z-]+)/volume(?:s|-subpaths)/")

// volumeOf returns the pod whose volume a mount is: by its path, by the only path of a pod among those
// where the node has it, or by the only pod with a container that has it, as of a path of the node. One
// of several pods is nobody's.
func (l *Look) volumeOf(m evidence.Mount, places []string) pleg.UID {
	if found := inPod.FindStringSubmatch(m.Point); found != nil {
		return pleg.UID(found[1])
	}
	pods := map[string]bool{}
	for _, place := range places {
		if found := inPod.FindStringSubmatch(place); found != nil {
			pods[found[1]] = true
		}
	}
	if len(pods) == 0 {
		pods = l.podsWith(m)
	}
	if len(pods) != 1 {
		return ""
	}
	for uid := range pods {
		return pleg.UID(uid)
	}
	return ""
}

// podsWith returns the UIDs of the pods with a container that has a mount; none if not all containers
// could be asked.
func (l *Look) podsWith(m evidence.Mount) map[string]bool {
	pods, asked := map[string]bool{}, map[string]bool{}
	for _, s := range l.seen {
		n := len(s.member.ids) - 1
		if n < 0 || s.member.uids[n] == "" || asked[s.member.ids[n]] || s.now.state == evidence.Zombie {
			continue
		}
		if asked[s.member.ids[n]] = true; len(asked) > podMountsRead {
			return nil
		}
		mounts, err := Fetch(l, File{s.proc.PID, "mountinfo", true}, func() ([]*procfs.MountInfo, error) { return s.proc.MountInfo() })
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has ended
			continue
		case err != nil:
			return nil
		}
		if slices.ContainsFunc(mounts, func(one *procfs.MountInfo) bool { return one.MajorMinorVer == m.Device }) {
			pods[s.member.uids[n]] = true
		}
	}
	return pods
}

func mountOf(m *procfs.MountInfo) evidence.Mount {
	return evidence.Mount{Point: blanks.Replace(m.MountPoint), Type: m.FSType, Source: blanks.Replace(m.Source), Device: m.MajorMinorVer}
}

// blanks undoes what the kernel does to them in the names of mounts.
var blanks = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
