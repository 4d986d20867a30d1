package proc

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A Mount is one row of a mount table (proc_pid_mountinfo(5)). Only what we need is kept: the layers of
// the overlays are most of the text.
type Mount struct {
	evidence.Mount        // its Point, Type, Source and Device
	ID             string // of the mount
	Root           string // the folder of the file system that is mounted
	Upper          string // the upper folder of an overlay
	Linked         bool   // a mount or an unmount in another namespace reaches it, or the other way round
}

// Mounts returns the mounts of the node. Without a root these are the mounts that we see, since all
// files are opened through them: a shell may be in a mount namespace of its own, together with the
// runtime. With a root they are those of the host's process 1. It may hang.
func Mounts(root string) ([]*Mount, error) {
	if root == "" {
		return readMounts("/proc/self/mountinfo")
	}
	return readMounts(filepath.Join("/", root, "proc/1/mountinfo"))
}

// mountTable returns the mounts that a task sees. A thread whose folder has no such file sees those of
// its process.
func (t task) mountTable() ([]*Mount, error) {
	all, err := readMounts(t.dir + "/mountinfo")
	if errors.Is(err, fs.ErrNotExist) && t.PID != t.of {
		return readMounts(t.dir + "/../../mountinfo")
	}
	return all, err
}

// readMounts reads a mount table of any length: with 15 layers for each container a node of 250 pods has
// more than 1 MiB, and one row may have more than 64 KiB. A row that we do not understand is left out.
func readMounts(path string) (all []*Mount, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewReaderSize(f, 64<<10); ; {
		row, err := lines.ReadString('\n')
		if m := parseMount(strings.TrimSuffix(row, "\n")); m != nil {
			all = append(all, m)
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// parseMount returns a row such as "36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/vda rw"; nil if the
// text is not a row of a mount table. The names in a row have no blanks, but its last part may have.
func parseMount(row string) *Mount {
	left, right, _ := strings.Cut(row, " - ")
	of, on := strings.Split(left, " "), strings.SplitN(right, " ", 3)
	if len(of) < 6 || len(on) < 2 {
		return nil
	}
	m := &Mount{ID: name(of[0]), Root: name(of[3])}
	m.Device, m.Point, m.Type, m.Source = name(of[2]), name(of[4]), name(on[0]), name(on[1])
	m.Linked = slices.ContainsFunc(of[6:], func(tag string) bool { return strings.HasPrefix(tag, "shared:") || strings.HasPrefix(tag, "master:") })
	if m.Type == "overlay" && len(on) > 2 {
		_, upper, _ := strings.Cut(on[2], ",upperdir=")
		upper, _, _ = strings.Cut(upper, ",")
		m.Upper = name(upper)
	}
	return m
}

// escapes replaces what the kernel writes in names: the first four in all names, \043 in sources, and the last
// two in options of overlay.
var escapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`, `\043`, "#", `\054`, ",", `\075`, "=")

// name returns a name without escapes. It is a copy, so that the row that it is a part of is not kept in
// memory.
func name(part string) string {
	if strings.Contains(part, `\`) {
		return escapes.Replace(part)
	}
	return strings.Clone(part)
}

// MountAt returns the mount that a path without links leads to; nil for none. If several mounts have the same
// point, the last one counts.
func MountAt(mounts []*Mount, at string) (m *Mount) {
	at = path.Clean(at)
	longest := -1
	for _, one := range mounts {
		point := one.Point
		if inside := at == point || strings.HasPrefix(at, strings.TrimSuffix(point, "/")+"/"); inside && len(point) >= longest {
			m, longest = one, len(point)
		}
	}
	return m
}
