package proc

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// fuseDevice is what a program has open that serves a FUSE file system.
	fuseDevice = "/dev/fuse"
	// filesRead is how many open files of a process are looked at. A program has those first that it
	// opens at its start.
	filesRead = 512
)

// An opener is a program that serves FUSE file systems, with the numbers of their connections: none
// where the kernel does not say. Only the fdinfo of new kernels has them.
type opener struct {
	procfs.Proc
	connections []string
}

// servers returns the program that serves one of some FUSE mounts, or all that may.
func (l *Look) servers(mounts []evidence.Mount) (all []evidence.Holder) {
	mounts = slices.DeleteFunc(slices.Clone(mounts), func(m evidence.Mount) bool { return !strings.HasPrefix(m.Type, "fuse") || !m.Served() })
	if len(mounts) == 0 {
		return nil
	}
	open := l.openers()
	for _, by := range []struct {
		hold evidence.Hold
		is   func(opener, evidence.Mount) bool
	}{
		{evidence.ByConnection, opener.isConnected},
		{evidence.ByArguments, l.isGiven},
		{evidence.ByName, l.isNamed},
		{evidence.ByDevice, func(o opener, _ evidence.Mount) bool { return o.connections == nil }},
	} {
		for _, o := range open {
			if slices.ContainsFunc(mounts, func(m evidence.Mount) bool { return by.is(o, m) }) {
				if h, runs := l.holder(o.Proc, by.hold); runs {
					all = append(all, h)
				}
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// openers returns all programs that serve FUSE file systems. It is asked only where something waits for
// one, and reads only links and the kernel's own files: no file system is asked.
func (l *Look) openers() []opener {
	if l.fuse != nil {
		return *l.fuse
	}
	var all []opener
	for p := range l.everybody {
		o, err := Fetch(l, File{p.PID, "fd", true}, func() (*opener, error) { return openerOf(filepath.Join(l.dir, strconv.Itoa(p.PID))) })
		if err == nil && o != nil {
			o.Proc = p
			all = append(all, *o)
		}
	}
	l.fuse = &all
	return all
}

// openerOf reads whether the process with a folder serves any; nil if it does not.
func openerOf(folder string) (*opener, error) {
	dir, err := os.Open(filepath.Join(folder, "fd"))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	numbers, err := dir.Readdirnames(filesRead)
	if errors.Is(err, io.EOF) { // it has none open
		return nil, nil
	}
	var o *opener
	for _, number := range numbers {
		if to, err := os.Readlink(filepath.Join(folder, "fd", number)); err != nil || to != fuseDevice {
			continue
		}
		if o == nil {
			o = new(opener)
		}
		text, _ := os.ReadFile(filepath.Join(folder, "fdinfo", number)) // nothing of one that was closed
		o.connections = append(o.connections, StatusField(string(text), "fuse_connection")...)
	}
	return o, err
}

func (o opener) isConnected(m evidence.Mount) bool {
	_, connection, _ := strings.Cut(m.Device, ":")
	return slices.Contains(o.connections, connection)
}

// isGiven reports whether a program was started for the place of a mount, and serves no other as far as
// the kernel says.
func (l *Look) isGiven(o opener, m evidence.Mount) bool {
	args, err := Fetch(l, File{o.PID, "cmdline", true}, o.CmdLine)
	return err == nil && o.connections == nil && slices.ContainsFunc(args, func(arg string) bool {
		return arg != "" && (filepath.Clean(arg) == m.Point || filepath.Clean(arg) == m.Node)
	})
}

// isNamed reports whether a program is called as the file system is: sshfs of the type fuse.sshfs, or
// s3fs of that source.
func (l *Look) isNamed(o opener, m evidence.Mount) bool {
	comm, err := Fetch(l, File{o.PID, "comm", true}, o.Comm)
	if err != nil || comm == "" || o.connections != nil {
		return false
	}
	_, kind, _ := strings.Cut(m.Type, ".")
	source, _, _ := strings.Cut(m.Source, ":")
	return slices.ContainsFunc([]string{kind, source}, func(name string) bool {
		return strings.EqualFold(name[:min(len(name), commLength)], comm)
	})
}
