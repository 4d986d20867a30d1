package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// searchTime is how long one look reads what all processes have open, and how long it then reads what they
	// have mounted. Both must leave time for the rest of the look.
	searchTime = 400 * time.Millisecond

	// filesRead is how many open files of a process are looked at. The first ones are those that the program
	// opened at its start.
	filesRead = 512

	// fuseDevice is the device that every program has open that serves a FUSE file system.
	fuseDevice = "/dev/fuse"
)

// openFiles is what a process has open. Only links and files of the kernel are read for it:
// no file system is asked.
type openFiles struct {
	task
	folder, root, space string // its working folder, its root, its mount namespace
	files               []string
	connections         []string // of its /dev/fuse; only newer kernels name them
}

// everybody returns what all processes have open, as far as there is time to read it. It is read once in a
// look, and only if a caller needs it.
func (l *Look) everybody() []*openFiles {
	if l.open != nil {
		return l.open
	}
	l.open = []*openFiles{}
	began := time.Now()
	for _, p := range l.procs {
		if time.Since(began) > l.w.search {
			break
		}
		if o, err := ask(l, l.first(p), "links", func() (*openFiles, error) { return l.readLinks(p), nil }); err == nil {
			l.open = append(l.open, o)
		}
	}
	return l.open
}

// readLinks returns what a process has open. If its first thread has ended, it reads the files of another one.
func (l *Look) readLinks(p procfs.Proc) *openFiles {
	o := &openFiles{task: l.first(p)}
	link := func(name string) string {
		to, _ := os.Readlink(o.dir + "/" + name)
		return to
	}
	if _, err := os.Readlink(o.dir + "/cwd"); errors.Is(err, fs.ErrNotExist) {
		threads, _ := l.fs.AllThreads(p.PID)
		for _, t := range threads {
			if t.PID != p.PID {
				o.task = l.thread(o.task, t.PID)
			}
		}
	}
	o.folder, o.root, o.space = link("cwd"), link("root"), link("ns/mnt")
	dir, err := os.Open(o.dir + "/fd")
	if err != nil {
		return o
	}
	defer dir.Close()
	numbers, _ := dir.Readdirnames(filesRead)
	for _, number := range numbers {
		to := link("fd/" + number)
		o.files = append(o.files, to)
		if to == fuseDevice {
			info, _ := os.ReadFile(o.dir + "/fdinfo/" + number)
			o.connections = append(o.connections, StatusField(string(info), "fuse_connection")...)
		}
	}
	return o
}

// servers returns the program that serves one of these FUSE mounts. If it is not known which program does, it
// returns all that may.
func (l *Look) servers(mounts []evidence.Mount) (all []evidence.Holder) {
	mounts = slices.DeleteFunc(mounts, func(m evidence.Mount) bool { return !strings.HasPrefix(m.Type, "fuse") || !m.Served() })
	if len(mounts) == 0 {
		return nil
	}
	for _, by := range []evidence.Hold{evidence.ByConnection, evidence.ByArguments, evidence.ByName, evidence.ByDevice} {
		for _, o := range l.everybody() {
			if slices.Contains(o.files, fuseDevice) && slices.ContainsFunc(mounts, func(m evidence.Mount) bool { return l.serves(o, m, by) }) {
				all = l.withHolder(all, o, by)
			}
		}
		if len(all) > 0 {
			break
		}
	}
	return all
}

// serves reports whether a program with /dev/fuse open serves a mount. It looks at one kind of sign. If the
// kernel names the connections of the program, nothing else counts.
func (l *Look) serves(o *openFiles, m evidence.Mount, by evidence.Hold) bool {
	if len(o.connections) > 0 {
		_, connection, _ := strings.Cut(m.Device, ":")
		return by == evidence.ByConnection && slices.Contains(o.connections, connection)
	}
	switch by {
	case evidence.ByArguments: // it was started for the place of the mount
		args, _ := ask(l, o.task, "cmdline", o.CmdLine)
		return slices.ContainsFunc(args, func(arg string) bool {
			return arg != "" && (filepath.Clean(arg) == m.Point || filepath.Clean(arg) == m.Node)
		})
	case evidence.ByName: // sshfs for the type fuse.sshfs, or s3fs for the source s3fs
		comm := strings.TrimSpace(l.text(o.task, "comm"))
		_, kind, _ := strings.Cut(m.Type, ".")
		source, _, _ := strings.Cut(m.Source, ":")
		return comm != "" && slices.ContainsFunc([]string{kind, source}, func(name string) bool {
			return strings.EqualFold(name[:min(len(name), commLength)], comm)
		})
	}
	return by == evidence.ByDevice
}

// HoldersOf returns which processes keep mounts busy; paths has the path of each mount by a name, and the
// result has the same names. A holder is a process with something open below the path, or the first process of
// a mount namespace with a copy of the mount. The namespaces of the node, the runtime and its shims do not
// count, because they have the mount itself. The mounts are read as far as there is time: a node may have
// thousands of namespaces.
func (l *Look) HoldersOf(paths map[string]string) map[string][]evidence.Holder {
	found := make(map[string][]evidence.Holder, len(paths))
	for name := range paths {
		found[name] = nil // it was searched for, even if nobody is found
	}
	spaces, ids, devices := map[string]bool{}, map[string]bool{}, map[string]string{} // namespaces that were read; ids of the node's own mounts at the paths; their devices by name
	isOwn := map[int]bool{1: true}
	for _, p := range slices.Concat(l.found.Daemons, l.found.Shims, l.found.Helpers) {
		isOwn[p.PID] = true
	}
	everybody, began := l.everybody(), time.Now()
	mountsOf := func(o *openFiles) (mounts []*Mount) {
		if !spaces[o.space] && time.Since(began) <= l.w.search {
			mounts, _ = ask(l, o.task, "mountinfo", o.mountTable)
		}
		spaces[o.space] = o.space != ""
		return mounts
	}
	for _, o := range everybody {
		if !isOwn[o.of] {
			continue
		}
		for _, m := range mountsOf(o) {
			for name, path := range paths {
				if m.Point == path {
					ids[m.ID], devices[name] = true, m.Device
				}
			}
		}
	}
	for _, o := range everybody {
		mounts := slices.DeleteFunc(mountsOf(o), func(m *Mount) bool { return ids[m.ID] || !stays(m) })
		for name, path := range paths {
			isCopy := func(m *Mount) bool {
				return m.Point == path || devices[name] != "" && m.Device == devices[name]
			}
			if by := o.holds(path); by != "" {
				found[name] = l.withHolder(found[name], o, by)
			} else if slices.ContainsFunc(mounts, isCopy) {
				found[name] = l.withHolder(found[name], o, evidence.ByMounts)
			}
		}
	}
	return found
}

// stays reports whether a mount in another namespace stays when the node unmounts its own: it is the root
// there, or it is private.
func stays(m *Mount) bool {
	return m.Point == "/" || !m.Linked
}

// holds returns how a process keeps the mount at a path busy; empty if it does not.
func (o *openFiles) holds(root string) evidence.Hold {
	in := func(path string) bool { return path == root || strings.HasPrefix(path, root+"/") }
	switch {
	case in(o.folder):
		return evidence.ByFolder
	case in(o.root):
		return evidence.ByRoot
	case slices.ContainsFunc(o.files, in):
		return evidence.ByFile
	}
	return ""
}

// withHolder returns the holders with one more process, unless that process has ended.
func (l *Look) withHolder(all []evidence.Holder, o *openFiles, by evidence.Hold) []evidence.Holder {
	p, lives := l.again(o.of)
	if !lives {
		return all
	}
	h := evidence.Holder{PID: o.of, Command: p.comm, Start: p.start, State: p.now.state, By: by}
	if groups, err := ask(l, p.task, "cgroup", p.Cgroups); err == nil {
		if ids := without(memberOf(groups).ids, l.w.node); len(ids) > 0 {
			h.Container = ids[len(ids)-1]
		}
	}
	return append(all, h)
}

// StillHold returns the holders that still live, with their present states.
func (l *Look) StillHold(holders []evidence.Holder) (all []evidence.Holder) {
	for _, was := range holders {
		if p, lives := l.again(was.PID); lives && p.start == was.Start {
			was.State = p.now.state
			all = append(all, was)
		}
	}
	return all
}

// again reads the present state of a process, whether or not the look has seen it. p is nil if the process
// cannot be read. lives is false for that, and for a process that has ended.
func (l *Look) again(pid int) (p *process, lives bool) {
	proc, err := l.fs.Proc(pid)
	if err != nil {
		return nil, false
	}
	a := fetchAll(l, []fileAt{statOf(l.first(proc))}, readStat)[0]
	if a.Err != nil {
		return nil, false
	}
	p = &process{start: a.Value.Starttime, comm: a.Value.Comm}
	l.begin(p, proc, a.Value)
	return p, p.now.state != evidence.Zombie
}
