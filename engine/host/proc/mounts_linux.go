package proc

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// waitLong is from when on it matters what a process in uninterruptible sleep
	// waits for.
	waitLong = 500 * time.Millisecond

	// waitsPerLook bounds the processes of which that is found out in one look: a
	// dead server may have them all. It is remembered for as long as they wait.
	waitsPerLook = 30
)

// onDescriptor are the system calls whose first argument is an open file.
var onDescriptor = map[int]bool{
	unix.SYS_READ: true, unix.SYS_PREAD64: true, unix.SYS_READV: true, unix.SYS_PREADV: true,
	unix.SYS_WRITE: true, unix.SYS_PWRITE64: true, unix.SYS_WRITEV: true, unix.SYS_PWRITEV: true,
	unix.SYS_FSYNC: true, unix.SYS_FDATASYNC: true, unix.SYS_SYNCFS: true,
	unix.SYS_FSTAT: true, unix.SYS_GETDENTS64: true, unix.SYS_LSEEK: true, unix.SYS_IOCTL: true,
	unix.SYS_FTRUNCATE: true, unix.SYS_FALLOCATE: true, unix.SYS_FLOCK: true, unix.SYS_FCHMOD: true, unix.SYS_FCHOWN: true,
}

// waitsFor returns the mount of the file that a thread's system call is about; zero
// if that names none, or we may not know. What is mounted below a path that a
// process does not see any more is not found.
func (l *Look) waitsFor(s sighting) evidence.Mount {
	if s.now.state != evidence.Uninterrupted || l.at.Sub(s.now.since) < waitLong {
		return evidence.Mount{}
	}
	if !s.now.isStill(s.wait.threadState) && l.waits < waitsPerLook {
		l.waits++
		s.tracked.wait = waited{s.now, l.findMount(s)}
	}
	return s.tracked.wait.mount
}

func (l *Look) findMount(s sighting) (m evidence.Mount) {
	text, err := l.text(File{s.proc.PID, "syscall", true}, s.threadFolder(s.now.thread), "syscall")
	fields := strings.Fields(text) // number and arguments; "running" if it is not in one
	if err != nil || len(fields) < 2 {
		return m
	}
	call, err := strconv.Atoi(fields[0])
	fd, err2 := strconv.ParseUint(strings.TrimPrefix(fields[1], "0x"), 16, 32)
	if err != nil || err2 != nil || !onDescriptor[call] {
		return m
	}
	info, err := Fetch(l, File{s.proc.PID, "fdinfo", true}, func() (*procfs.ProcFDInfo, error) { return s.proc.FDInfo(strconv.FormatUint(fd, 10)) })
	if err != nil {
		return m
	}
	mounts, _ := Fetch(l, File{s.proc.PID, "mountinfo", true}, func() ([]*procfs.MountInfo, error) { return s.proc.MountInfo() })
	for _, one := range mounts {
		if strconv.Itoa(one.MountID) == info.MntID {
			return mountOf(one)
		}
	}
	return m
}

func mountOf(m *procfs.MountInfo) evidence.Mount {
	return evidence.Mount{Point: unescape(m.MountPoint), Type: m.FSType, Source: unescape(m.Source), Device: m.MajorMinorVer}
}

// unescape undoes what the kernel does to blanks in the names of mounts.
func unescape(name string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(name)
}
