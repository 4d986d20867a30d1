package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/knowledge"
)

const (
	// mostBelow is how many disks below another one are searched for at most.
	mostBelow = 16
	// mostLinks is how many links the kernel follows in a path (path_resolution(7)).
	mostLinks = 40
)

// A diskWatch looks at the file system of the runtime's data.
type diskWatch struct {
	path string   // of the folder; "" until it is known
	of   pidStart // the runtime's process for which path was found; zero if no process is known
	ask  diskAsk
}

// read returns the file system of the runtime's data, for Report.Disk. It finds the folder once for each
// process of the runtime. If the folder goes away while it is used, that is a fault, so the path is kept.
func (w *diskWatch) read(ctx context.Context, l *Look) (fill, error) {
	var s *static
	if w.path = cmp.Or(l.RuntimeRoot, w.path); l.RuntimeRoot == "" {
		s = l.static(ctx, limit/2)
	}
	mounts := l.table.rows(ctx) // they have had time to come in the meantime
	if s != nil && (w.path == "" || s.process.pid != 0 && s.process != w.of) {
		w.path, w.of = w.find(l, s, mounts), s.process
	}
	d := evidence.Disk{Missing: "it is not known where the runtime keeps its data"}
	if l.Offline { // a picture does not say how much room is left
		if d = mountedAt(l.Root, w.path, mounts); d.Mount.Device == "" {
			d = evidence.Disk{Missing: "a made-up node has no disk"}
		}
	} else if w.path != "" {
		d, _ = w.ask.stat(l.Root, w.path, mounts)
	}
	return func(r *evidence.Report) { r.Disk = d }, nil
}

// find returns the data folder that the runtime was given, or else the first usual one that exists; "" if none
// does. A folder of another endpoint's runtime does not count: anybody may have left it there.
func (w *diskWatch) find(l *Look, s *static, mounts []*proc.Mount) string {
	if given := s.given("data"); given != "" || l.Offline {
		return s.setting("data")
	}
	usual := []string{s.setting("data")}
	for _, f := range knowledge.At(l.Endpoint) {
		usual = append(usual, f.Data)
	}
	for _, path := range usual {
		if path == "" {
			continue
		}
		if _, err := w.ask.stat(l.Root, path, mounts); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return ""
}

// missing reports a file system that does not answer. It keeps what the mount table says of it.
func (w *diskWatch) missing(r *evidence.Report, err error) { r.Disk = w.ask.without(err) }

// A diskAsk asks a file system, which may hang. Until the answer comes, known has what is known without it.
type diskAsk struct {
	known atomic.Pointer[evidence.Disk]
}

// without returns what is known of the folder that does not answer, with the error as the reason.
func (a *diskAsk) without(err error) (d evidence.Disk) {
	if known := a.known.Load(); known != nil {
		d = *known
	}
	d.Missing = err.Error()
	return d
}

// stat returns the file system of a folder on the host. If there is an error, it returns what the mount table
// says. It may hang.
func (a *diskAsk) stat(root, path string, mounts []*proc.Mount) (evidence.Disk, error) {
	d := a.follow(root, path, mounts)
	fd, _, err := openOnHost(root, path)
	if err == nil {
		defer func() { _ = unix.Close(fd) }()
		err = statfs(fd, &d)
	}
	for _, answer := range []error{fs.ErrNotExist, unix.EIO, unix.ENXIO, unix.ESTALE, unix.ENOTCONN, unix.EUCLEAN, unix.ESHUTDOWN, unix.ETIMEDOUT, unix.EHOSTDOWN} {
		d.Broken = d.Broken || errors.Is(err, answer)
	}
	if err != nil {
		d.Missing = err.Error()
	}
	return d, err
}

// follow follows the links of a path on the host, and returns what the mount table says of the place where they
// lead. It asks each folder on the way whether the next name is a link. Before it does, it sets known to the
// file system of that folder. So known is right, whichever folder does not answer.
func (a *diskAsk) follow(root, path string, mounts []*proc.Mount) (d evidence.Disk) {
	var last *proc.Mount
	at, rest := "/", namesOf(path)
	for links := 0; ; {
		if m := proc.MountAt(mounts, at); m != last || d.Path == "" {
			d, last = mountedAt(root, at, mounts), m
			d.Path = path
			known := d
			a.known.Store(&known)
		}
		if len(rest) == 0 || links > mostLinks {
			return d
		}
		at, rest = filepath.Join(at, rest[0]), rest[1:]
		if m := proc.MountAt(mounts, at); m != nil && m.Point == at {
			continue // it is no link, and what is mounted there may not answer
		}
		if to, err := os.Readlink(filepath.Join("/", root, at)); err == nil {
			if at, links = filepath.Dir(at), links+1; filepath.IsAbs(to) {
				at = "/"
			}
			rest = append(namesOf(to), rest...)
		}
	}
}

// namesOf returns the parts of a path.
func namesOf(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// statfs sets the figures of the file system of an open file: bytes, inodes, and whether it is read-only.
func statfs(fd int, d *evidence.Disk) error {
	var s unix.Statfs_t
	if err := unix.Fstatfs(fd, &s); err != nil {
		return err
	}
	block := uint64(cmp.Or(s.Frsize, s.Bsize))
	d.Total, d.Free, d.Left = s.Blocks*block, s.Bavail*block, s.Bfree*block
	d.Inodes, d.InodesUnused = s.Files, s.Ffree
	if s.Flags&unix.ST_RDONLY != 0 && d.ReadOnly == "" {
		d.ReadOnly = "it is mounted read-only"
	}
	return nil
}

// mountedAt returns what the node's mount table and the kernel's own files say of the file system of a folder:
// its mount, its disk and the disks below, and the errors that ext4 has found in itself. After an error ext4
// may refuse all writes, even if it is not mounted read-only.
func mountedAt(root, path string, mounts []*proc.Mount) evidence.Disk {
	d := evidence.Disk{Path: path}
	m := proc.MountAt(mounts, path)
	if path == "" || m == nil {
		return d
	}
	d.Mount = evidence.Mount{Node: m.Point, Type: m.Type, Device: m.Device}
	name := blockName(root, m.Device)
	if name == "" { // btrfs and overlay have numbers of their own
		if m.Upper != "" {
			m = proc.MountAt(mounts, m.Upper)
		}
		if m == nil || !strings.HasPrefix(m.Source, "/dev/") {
			return d
		}
		d.Mount.Source = m.Source
		fd, is, err := openOnHost(root, m.Source)
		if err != nil {
			return d
		}
		_ = unix.Close(fd)
		if name = blockName(root, fmt.Sprintf("%d:%d", unix.Major(is.Rdev), unix.Minor(is.Rdev))); name == "" {
			return d
		}
	}
	d.Mount.Source, d.Below = "/dev/"+name, disksBelow(root, name)
	read := func(path ...string) string {
		text, _ := os.ReadFile(filepath.Join("/", root, filepath.Join(path...)))
		return strings.TrimSpace(string(text))
	}
	d.Errors, _ = strconv.ParseUint(read("sys/fs/ext4", name, "errors_count"), 10, 64) // 0 for another file system
	if last, _ := strconv.ParseInt(read("sys/fs/ext4", name, "last_error_time"), 10, 64); d.Errors > 0 {
		d.ErrorAge = max(time.Since(time.Unix(last, 0)), 0)
	}
	for option := range strings.FieldsSeq(read("proc/fs/ext4", name, "options")) {
		if option == "emergency_ro" || option == "shutdown" {
			d.ReadOnly = "ext4 has stopped all writing after an error (" + option + ")"
		}
	}
	return d
}

// blockName returns the kernel's name of a block device by its number; "" if there is no device with this
// number.
func blockName(root, number string) string {
	link, err := os.Readlink(filepath.Join("/", root, "sys/dev/block", number))
	if err != nil {
		return ""
	}
	return filepath.Base(link)
}

// disksBelow returns the disks below a disk, the nearest first: the whole disk of a partition, the parts of a
// mapped disk or an array, and the disks below those.
func disksBelow(root, name string) []string {
	all := []string{name}
	for i := 0; i < len(all); i++ {
		at, err := os.Readlink(filepath.Join("/", root, "sys/class/block", all[i]))
		if err != nil {
			continue
		}
		var next []string
		at = filepath.Join("/", root, "sys/class/block", at)
		if _, err := os.Lstat(filepath.Join(at, "partition")); err == nil {
			next = []string{filepath.Base(filepath.Dir(at))}
		}
		parts, _ := os.ReadDir(filepath.Join(at, "slaves")) // a plain disk may have no such folder
		for _, part := range parts {
			next = append(next, part.Name())
		}
		for _, disk := range next {
			if len(all) <= mostBelow && !slices.Contains(all, disk) {
				all = append(all, disk)
			}
		}
	}
	return all[1:]
}
