package host

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/cgroup"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// limits returns what the runtime's own processes and the node have used of what
// runs out.
func (w *walker) limits(l *proc.Look, daemons []evidence.Process) []evidence.Limit {
	all := nodeLimits(l)
	for _, d := range daemons {
		if !slices.Contains(knowledge.Runtimes, d.Command) {
			continue
		}
		p, _, _ := l.Seen(d.PID)
		for _, limit := range append(w.groupLimits(l, p), openFiles(l, p)) {
			if limit.Most > 0 {
				limit.Of, limit.PID = d.Command, d.PID
				all = append(all, limit)
			}
		}
	}
	return all
}

// openFiles tells nothing of a process that is another user's.
func openFiles(l *proc.Look, p procfs.Proc) evidence.Limit {
	text, err := l.Text(proc.File{PID: p.PID, Name: "limits", Risky: true}, filepath.Join("proc", strconv.Itoa(p.PID), "limits"))
	if err != nil {
		return evidence.Limit{}
	}
	soft, hard := openFilesIn(text)
	open, err := proc.Fetch(l, proc.File{PID: p.PID, Name: "fd", Risky: true}, p.FileDescriptorsLen)
	if err != nil {
		return evidence.Limit{}
	}
	path := filepath.Join("/proc", strconv.Itoa(p.PID), "limits")
	return evidence.Limit{What: evidence.OpenFiles, Used: uint64(open), Most: soft, Hard: hard, Path: path}
}

// openFilesIn returns the limits of open files in the text of a limits file; 0 for "unlimited".
func openFilesIn(text string) (soft, hard uint64) {
	const row = "Max open files"
	for line := range strings.Lines(text) {
		if fields := strings.Fields(strings.TrimPrefix(line, row)); strings.HasPrefix(line, row) && len(fields) >= 2 {
			soft, _ = strconv.ParseUint(fields[0], 10, 64)
			hard, _ = strconv.ParseUint(fields[1], 10, 64)
		}
	}
	return soft, hard
}

// groupLimits returns the limits of the control group that a daemon is in; what is
// not limited has none.
func (w *walker) groupLimits(l *proc.Look, p procfs.Proc) []evidence.Limit {
	lines, err := proc.Fetch(l, proc.File{PID: p.PID, Name: "cgroup", Risky: true}, p.Cgroups)
	if err != nil {
		return nil
	}
	read := func(c controller, file string) string {
		if c.folder == "" {
			return ""
		}
		text, _ := l.Text(proc.File{PID: p.PID, Name: file, Risky: true}, filepath.Join(c.folder, file))
		return text
	}
	number := func(c controller, file string) uint64 {
		n, _ := strconv.ParseUint(strings.TrimSpace(read(c, file)), 10, 64)
		return n // 0 for "max", and where there is no such file
	}
	limit := func(c controller, what string, used uint64, most string) evidence.Limit {
		return evidence.Limit{What: what, Used: used, Most: number(c, most), Path: filepath.Join(c.folder, most)}
	}
	pids, memory := controllerOf(lines, "pids"), controllerOf(lines, "memory")
	all := []evidence.Limit{
		limit(pids, evidence.Threads, number(pids, "pids.current"), "pids.max"),
		limit(memory, evidence.Memory, 0, memory.pick("memory.limit_in_bytes", "memory.max")),
	}
	events := read(memory, memory.pick("memory.oom_control", "memory.events.local")) // of those below, containers have their own
	usage, stat := number(memory, memory.pick("memory.usage_in_bytes", "memory.current")), read(memory, "memory.stat")
	if all[1].Used = memory.kept(stat, usage); cgroup.Stat(events, "under_oom") > 0 { // of v1: its tasks wait for memory
		all[1].Used = all[1].Most
	}
	if kills := cgroup.Stat(events, "oom_kill"); events != "" {
		if was, known := w.kills[memory.folder]; known && kills > was {
			path := filepath.Join(memory.folder, memory.pick("memory.limit_in_bytes", "memory.max"))
			all = append(all, evidence.Limit{What: evidence.OOMKills, Used: kills - was, Most: 1, Path: path})
		}
		w.kills[memory.folder] = kills
	}
	return all
}

// A controller is where a control group keeps what limits one resource.
type controller struct {
	folder string // as the node's own processes see it; empty if it cannot be followed
	isV2   bool
}

// pick returns the name of a file in either version.
func (c controller) pick(v1, v2 string) string {
	if c.isV2 {
		return v2
	}
	return v1
}

// kept returns how much of the memory that a group uses cannot be dropped, as that of files
// can. What is in no process, such as files in memory and the kernel's own, counts as well.
func (c controller) kept(stat string, usage uint64) uint64 {
	of := func(v1, v2 string) uint64 { return cgroup.Stat(stat, c.pick(v1, v2)) }
	dropped := of("total_inactive_file", "inactive_file") + of("total_active_file", "active_file") + of("", "slab_reclaimable")
	return max(of("total_rss", "anon"), usage-min(usage, dropped))
}

// controllerOf finds a resource's controller by the lines of /proc/PID/cgroup. Beside
// those of v1 the hierarchy of v2 has none.
func controllerOf(lines []procfs.Cgroup, resource string) (c controller) {
	const mount = "/sys/fs/cgroup"
	for _, line := range lines {
		path := proc.Followable(line.Path)
		switch {
		case path == "":
		case slices.Contains(line.Controllers, resource):
			return controller{folder: filepath.Join(mount, strings.Join(line.Controllers, ","), path)}
		case line.HierarchyID == 0:
			c = controller{filepath.Join(mount, path), true}
		}
	}
	return c
}

// nodeLimits returns what all of the node's processes share.
func nodeLimits(l *proc.Look) (all []evidence.Limit) {
	read := func(file string) []string {
		text, _ := l.Text(proc.File{Name: file}, filepath.Join("proc", file))
		return strings.Fields(text)
	}
	add := func(what, used, file, most string) {
		u, err := strconv.ParseUint(used, 10, 64)
		m, err2 := strconv.ParseUint(most, 10, 64)
		if err == nil && err2 == nil && m > 0 {
			all = append(all, evidence.Limit{What: what, Used: u, Most: m, Path: filepath.Join("/proc", file)})
		}
	}
	if files := read("sys/fs/file-nr"); len(files) == 3 {
		add(evidence.OpenFiles, files[0], "sys/fs/file-max", files[2])
	}
	load := read("loadavg")
	if len(load) < 4 {
		return all
	}
	_, threads, _ := strings.Cut(load[3], "/")
	for _, file := range []string{"sys/kernel/pid_max", "sys/kernel/threads-max"} {
		if most := read(file); len(most) == 1 {
			add(evidence.Threads, threads, file, most[0])
		}
	}
	return all
}
