package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

// searchTime is for how long all processes are asked what they have open in one look: it must leave time
// for the rest of that.
const searchTime = 400 * time.Millisecond

// everybody yields all processes, in any order, for as long as there is time.
func (l *Look) everybody(yield func(procfs.Proc) bool) {
	began := time.Now()
	procs, _ := Fetch(l, File{Name: "the list"}, l.proc.AllProcs)
	slices.SortFunc(procs, func(a, b procfs.Proc) int { return a.PID - b.PID })
	for _, p := range procs {
		if time.Since(began) > searchTime || !yield(p) {
			return
		}
	}
}

// opened is where the links lead that say what a process has open. No file system is asked for them.
type opened struct {
	folder, root, space string // its working folder, its root, its mount namespace
	files               []string
}

// openedBy reads what the process with a folder has open, as far as that may be known.
func openedBy(folder string) (o opened) {
	link := func(name string) string {
		to, _ := os.Readlink(filepath.Join(folder, name))
		return to
	}
	o.folder, o.root, o.space = link("cwd"), link("root"), link("ns/mnt")
	dir, err := os.Open(filepath.Join(folder, "fd"))
	if err != nil {
		return o
	}
	defer dir.Close()
	numbers, _ := dir.Readdirnames(filesRead) // none of one that has none
	for _, number := range numbers {
		o.files = append(o.files, link(filepath.Join("fd", number)))
	}
	return o
}

// holds returns what shows that it keeps busy what is mounted at a path; empty for nothing.
func (o opened) holds(root string) evidence.Hold {
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

// HoldersOf returns who keeps busy what is mounted at some paths, by their names: processes that have
// something open there, and the first of each mount namespace that has a copy of it. The namespaces of
// the node and of the runtime are no holders: it is mounted there.
func (l *Look) HoldersOf(paths map[string]string) map[string][]evidence.Holder {
	found := make(map[string][]evidence.Holder, len(paths))
	for name := range paths {
		found[name] = nil // also where nobody is found: it was looked for
	}
	own := l.ownMounts(paths)
	for p := range l.everybody {
		o, err := Fetch(l, File{p.PID, "links", true}, func() (opened, error) { return openedBy(filepath.Join(l.dir, strconv.Itoa(p.PID))), nil })
		if err != nil {
			continue
		}
		var mounts []*procfs.MountInfo
		if !own.spaces[o.space] {
			mounts, _ = Fetch(l, File{p.PID, "mountinfo", true}, p.MountInfo)
		}
		own.spaces[o.space] = o.space != ""
		for name, path := range paths {
			by := o.holds(path)
			if by == "" && slices.ContainsFunc(mounts, func(m *procfs.MountInfo) bool { return own.keeps(m, name, path) }) {
				by = evidence.ByMounts
			}
			if by == "" {
				continue
			}
			if h, runs := l.holder(p, by); runs {
				found[name] = append(found[name], h)
			}
		}
	}
	return found
}

// ownMounts are what the node, the runtime and what looks after its containers have mounted at some paths.
type ownMounts struct {
	spaces  map[string]bool   // their mount namespaces, and those that were asked
	ids     map[int]bool      // of the mounts
	devices map[string]string // by the names of the paths
}

func (l *Look) ownMounts(paths map[string]string) ownMounts {
	own := ownMounts{map[string]bool{}, map[int]bool{}, map[string]string{}}
	pids := []int{1}
	for _, of := range [][]evidence.Process{l.found.Daemons, l.found.Shims, l.found.Helpers} {
		for _, p := range of {
			pids = append(pids, p.PID)
		}
	}
	for _, pid := range pids {
		p, err := l.proc.Proc(pid)
		if err != nil {
			continue
		}
		space, _ := Fetch(l, File{pid, "mount namespace", true}, func() (string, error) { return os.Readlink(filepath.Join(l.dir, strconv.Itoa(pid), "ns/mnt")) })
		if own.spaces[space] {
			continue
		}
		own.spaces[space] = space != ""
		mounts, _ := Fetch(l, File{pid, "mountinfo", true}, p.MountInfo)
		for _, m := range mounts {
			for name, path := range paths {
				if blanks.Replace(m.MountPoint) == path {
					own.ids[m.MountID], own.devices[name] = true, m.MajorMinorVer
				}
			}
		}
	}
	return own
}

// keeps reports whether a mount of another namespace is a copy of that at a path, which stays when that
// is taken away: it is a root there, or it is private.
func (own ownMounts) keeps(m *procfs.MountInfo, name, path string) bool {
	device := own.devices[name]
	if own.ids[m.MountID] || blanks.Replace(m.MountPoint) != path && (device == "" || m.MajorMinorVer != device) {
		return false
	}
	_, shared := m.OptionalFields["shared"]
	_, follows := m.OptionalFields["master"]
	return m.MountPoint == "/" || !shared && !follows
}

// StillHold returns those of some processes that still run, with their states by now.
func (l *Look) StillHold(holders []evidence.Holder) (all []evidence.Holder) {
	for _, was := range holders {
		p, err := l.proc.Proc(was.PID)
		if err != nil {
			continue
		}
		stat, err := Fetch(l, File{PID: p.PID, Name: "stat"}, p.Stat)
		if err == nil && stat.Starttime == was.Start && StateOf(stat) != evidence.Zombie {
			was.State = StateOf(stat)
			all = append(all, was)
		}
	}
	return all
}

// holder returns what is known of a process that has something open, and whether it still runs.
func (l *Look) holder(p procfs.Proc, by evidence.Hold) (h evidence.Holder, runs bool) {
	stat, err := Fetch(l, File{PID: p.PID, Name: "stat"}, p.Stat)
	if err != nil {
		return h, false
	}
	h = evidence.Holder{PID: p.PID, Command: stat.Comm, Start: stat.Starttime, State: StateOf(stat), By: by}
	if groups, err := Fetch(l, File{p.PID, "cgroup", true}, p.Cgroups); err == nil {
		if ids := without(memberOf(groups).ids, l.node); len(ids) > 0 {
			h.Container = ids[len(ids)-1]
		}
	}
	return h, h.State != evidence.Zombie
}
