package host

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/cgroup"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// limits returns the limits of the node and of the runtime's own processes.
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

// nodeLimits returns the limits that all processes of the node share.
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
	if load := read("loadavg"); len(load) >= 4 {
		_, threads, _ := strings.Cut(load[3], "/")
		for _, file := range []string{"sys/kernel/pid_max", "sys/kernel/threads-max"} {
			add(evidence.Threads, threads, file, strings.Join(read(file), ""))
		}
	}
	return all
}

// openFilesRow is a row of /proc/PID/limits, with the soft and the hard limit.
var openFilesRow = regexp.MustCompile(`(?m)^Max open files +(\S+) +(\S+)`)

// openFiles returns the limit of a process's open files. It is zero if the process is of another user, or if
// the limit is "unlimited".
func openFiles(l *proc.Look, p procfs.Proc) evidence.Limit {
	path := filepath.Join("/proc", strconv.Itoa(p.PID), "limits")
	text, _ := l.Text(proc.File{PID: p.PID, Name: "limits", Risky: true}, path) // an empty text has no row
	row := openFilesRow.FindStringSubmatch(text)
	open, err := proc.Fetch(l, proc.File{PID: p.PID, Name: "fd", Risky: true}, p.FileDescriptorsLen)
	if row == nil || err != nil {
		return evidence.Limit{}
	}
	soft, _ := strconv.ParseUint(row[1], 10, 64)
	hard, _ := strconv.ParseUint(row[2], 10, 64)
	return evidence.Limit{What: evidence.OpenFiles, Used: uint64(open), Most: soft, Hard: hard, Path: path}
}

// A controller is where a control group has the files of one resource.
type controller struct {
	folder string // as the node's own processes see it; empty if we cannot follow it
	isV2   bool
}

// controllerOf returns the controller of a resource, by the lines of /proc/PID/cgroup. If v1 has the
// controller, v2 does not have it.
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

// pick returns the name that a file or a figure has in either version.
func (c controller) pick(v1, v2 string) string {
	if c.isV2 {
		return v2
	}
	return v1
}

// groupLimits returns the limits of a daemon's control group, and how many of the group's processes were killed
// for want of memory since the last look. A Most of 0 means that there is no limit.
func (w *walker) groupLimits(l *proc.Look, p procfs.Proc) []evidence.Limit {
	lines, err := proc.Fetch(l, proc.File{PID: p.PID, Name: "cgroup", Risky: true}, p.Cgroups)
	if err != nil {
		return nil
	}
	read := func(c controller, file string) string { return c.read(l, p.PID, file) }
	number := func(c controller, file string) uint64 {
		n, _ := strconv.ParseUint(read(c, file), 10, 64)
		return n // 0 for "max", and if there is no such file
	}
	pids, memory := controllerOf(lines, "pids"), controllerOf(lines, "memory")
	most := memory.pick("memory.limit_in_bytes", "memory.max")
	all := []evidence.Limit{
		{What: evidence.Threads, Used: number(pids, "pids.current"), Most: number(pids, "pids.max"), Path: filepath.Join(pids.folder, "pids.max")},
		{What: evidence.Memory, Most: number(memory, most), Path: filepath.Join(memory.folder, most)},
	}
	all[1].Used = memory.kept(read(memory, "memory.stat"), number(memory, memory.pick("memory.usage_in_bytes", "memory.current")))
	events := read(memory, memory.pick("memory.oom_control", "memory.events.local")) // not of the groups below: containers have their own
	if cgroup.Stat(events, "under_oom") > 0 {                                        // of v1: its tasks wait for memory
		all[1].Used = all[1].Most
	}
	if kills := cgroup.Stat(events, "oom_kill"); events != "" {
		if was, known := w.kills[memory.folder]; known && kills > was {
			all = append(all, evidence.Limit{What: evidence.OOMKills, Used: kills - was, Most: 1, Path: all[1].Path})
		}
		w.kills[memory.folder] = kills
	}
	return all
}

// read returns the text of a file in a process's control group; empty if there is none.
func (c controller) read(l *proc.Look, pid int, file string) (text string) {
	if c.folder != "" {
		text, _ = l.Text(proc.File{PID: pid, Name: file, Risky: true}, filepath.Join(c.folder, file))
	}
	return strings.TrimSpace(text)
}

// quotaOf returns how many processors the control group of a daemon may use at most; 0 for no limit. It does
// not look at the groups above. (Documentation/admin-guide/cgroup-v2.rst, cpu.max;
// Documentation/scheduler/sched-bwc.rst)
func quotaOf(l *proc.Look, p procfs.Proc) float64 {
	lines, err := proc.Fetch(l, proc.File{PID: p.PID, Name: "cgroup", Risky: true}, p.Cgroups)
	if err != nil {
		return 0
	}
	c := controllerOf(lines, "cpu")
	words := strings.Fields(c.read(l, p.PID, c.pick("cpu.cfs_quota_us", "cpu.max")))
	if !c.isV2 {
		words = append(words, c.read(l, p.PID, "cpu.cfs_period_us"))
	}
	if len(words) != 2 {
		return 0
	}
	quota, err := strconv.ParseUint(words[0], 10, 32) // "max" and -1 are no limit
	period, err2 := strconv.ParseUint(words[1], 10, 32)
	if err != nil || err2 != nil || period == 0 {
		return 0
	}
	return float64(quota) / float64(period)
}

// kept returns the memory of a group, in bytes, that the kernel cannot drop. It can drop the memory of files.
// Memory that is of no process counts too: files in memory, and the kernel's own.
func (c controller) kept(stat string, usage uint64) uint64 {
	of := func(v1, v2 string) uint64 { return cgroup.Stat(stat, c.pick(v1, v2)) }
	dropped := of("total_inactive_file", "inactive_file") + of("total_active_file", "active_file") + of("", "slab_reclaimable")
	return max(of("total_rss", "anon"), usage-min(usage, dropped))
}

// A sample is what a process had used when its stat file was read.
type sample struct {
	name  string
	stat  procfs.ProcStat
	at    time.Time
	quota float64 // of its control group, in processors; 0 for no limit
}

// A usageMeter computes what processes use, by comparing each look with the one before.
type usageMeter struct{ before, now map[pidStart]sample }

// readOwn returns what plegtop itself uses, for Report.Usage. It leaves out what cannot be read.
func (m *usageMeter) readOwn(context.Context, *Look) (fill, error) {
	p := processOf("", os.Getpid())
	if p.PID == 0 {
		return func(*evidence.Report) {}, nil
	}
	own := m.add(nil, sample{name: "plegtop", stat: p.stat, at: time.Now()})
	m.next()
	return func(r *evidence.Report) { r.Usage = append(r.Usage, own...) }, nil
}

// add adds what a process uses to the usages of programs. Processes of one name are added up.
func (m *usageMeter) add(all []evidence.Usage, s sample) []evidence.Usage {
	if m.now == nil {
		m.now = map[pidStart]sample{}
	}
	key := pidStart{s.stat.PID, s.stat.Starttime}
	m.now[key] = s
	u := evidence.Usage{Name: s.name, PID: s.stat.PID, CPU: -1, Memory: uint64(max(s.stat.ResidentMemory(), 0)), Threads: s.stat.NumThreads, Quota: s.quota}
	if before, known := m.before[key]; known && s.at.After(before.at) {
		u.CPU = evidence.Cores(max(s.stat.CPUTime()-before.stat.CPUTime(), 0) / s.at.Sub(before.at).Seconds())
	}
	i := slices.IndexFunc(all, func(o evidence.Usage) bool { return o.Name == u.Name })
	if i < 0 {
		return append(all, u)
	}
	sum := &all[i]
	sum.PID, sum.Memory, sum.Threads, sum.Quota = 0, sum.Memory+u.Memory, sum.Threads+u.Threads, max(sum.Quota, u.Quota)
	if sum.CPU < 0 || u.CPU < 0 {
		sum.CPU = max(sum.CPU, u.CPU)
	} else {
		sum.CPU += u.CPU
	}
	return all
}

// next ends a look.
func (m *usageMeter) next() { m.before, m.now = m.now, nil }
