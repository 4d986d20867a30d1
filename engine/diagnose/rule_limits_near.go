package diagnose

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/waits"
)

// LimitsNear is a limit that the runtime or the node has nearly used up.
const LimitsNear ID = "limits-near"

const (
	// limitNear is the part of a limit from which it is reported: a burst, such as the start of all pods, takes the rest
	// at once.
	limitNear = 0.9
	// limitReached is the part from which something fails now and then.
	limitReached = 0.99
	// mostPIDs is the largest kernel.pid_max on machines of 64 bits. (include/linux/threads.h, PID_MAX_LIMIT)
	mostPIDs = 4 << 20
)

// A limit on open files, threads or memory is nearly used up; the kernel kills or refuses because of one; or a call says
// so.
var limitsNear = Rule{
	ID: LimitsNear,
	Find: func(f *Facts, report func(Match)) {
		text, _ := f.complaint(knowledge.UsedUp)
		threads, found := false, false
		for _, l := range f.Look.Limits {
			if m, near := f.nearLimit(l); near {
				m.Values["complaint"] = text
				threads, found = threads || l.What == evidence.Threads && l.Of != "", true
				report(m)
			}
		}
		if m, refused := f.forkRefused(); refused && !threads {
			m.Values["complaint"], found = text, true
			report(m)
		}
		if !found && text != "" {
			report(Match{
				Variant: "complaint", Severity: Warning, Values: Values{"complaint": text, "excerpt": extract(text), "pid": pids(f.runtimesNow()...)},
				Steps: map[string][]Step{"+restart": f.restart("frees what the runtime itself holds")},
			})
		}
	},
}

// limitVariants are the variants of the row, for limits of the node and for those of a process.
var limitVariants = map[string][2]string{
	evidence.OpenFiles: {"files-node", "files"}, evidence.Threads: {"threads-node", "threads"},
	evidence.Memory: {"memory", "memory"}, evidence.OOMKills: {"killed", "killed"},
}

// nearLimit is about a limit, if it is near. Nearly all are not.
func (f *Facts) nearLimit(l evidence.Limit) (m Match, near bool) {
	share, from := float64(l.Used)/float64(max(l.Most, 1)), limitNear
	if l.What == evidence.OOMKills {
		from = 1
	}
	if share < from {
		return m, false
	}
	m = Match{Severity: Warning, Group: l.Of + " " + l.What + " " + l.Path, Values: f.limitValues(l), Variant: limitVariants[l.What][0]}
	m.Values["from"] = strconv.Itoa(int(100 * from))
	m.Values["used"], m.Values["most"] = l.Used, l.Most
	m.Values["ofMemory"] = l.What == evidence.Memory || l.What == evidence.OOMKills
	if l.Of != "" {
		m.Variant = limitVariants[l.What][1]
		m.Values["process"] = evidence.Process{Command: l.Of, PID: l.PID}
	}
	if l.What == evidence.Memory {
		m.Values["used"], m.Values["most"] = bytes(l.Used), bytes(l.Most)
		for _, p := range f.runtimesNow() {
			if p.PID == l.PID && f.doing(&p, evidence.AsRuntime).What == evidence.OnMemory {
				m.Nodes = []string{waits.Key(waits.Kernel, strconv.Itoa(l.PID))} // that it waits there is an effect
			}
		}
	}
	if l.What == evidence.OOMKills {
		m.Values["processes"], m.Values["killed"] = many{int(l.Used), "process"}, true
	}
	if share >= limitReached && (l.What == evidence.OpenFiles || l.What == evidence.Threads || f.worksNot()) {
		m.Severity = Critical
	}
	return m, true
}

// limitValues are what commands about a limit need. A limit of a control group is set through systemd if it is a
// service's, and by its own file if nobody else cares for it.
func (f *Facts) limitValues(l evidence.Limit) Values {
	v := Values{"path": l.Path}
	if l.Most > 0 {
		v["twice"], v["was"] = strconv.FormatUint(2*l.Most, 10), strconv.FormatUint(l.Most, 10)
	}
	if l.PID != 0 {
		v["pid"] = strconv.Itoa(l.PID)
	}
	for _, p := range f.runtimes() {
		if p.PID == l.PID {
			v["start"] = startOf(p.Start)
			if unit, is := strings.CutSuffix(p.Unit, ".service"); is {
				v["unit"] = unit
			}
		}
	}
	if key, is := strings.CutPrefix(l.Path, "/proc/sys/"); is && l.Most > 0 {
		v["key"] = strings.ReplaceAll(key, "/", ".")
		if key == "kernel/pid_max" {
			v["twice"] = strconv.FormatUint(min(2*l.Most, mostPIDs), 10)
		}
	}
	switch path.Base(l.Path) { // of both versions of control groups
	case "pids.max", "memory.max":
		v["file"] = l.Path
	case "memory.limit_in_bytes":
		v["file"], v["v1"] = l.Path, true
	}
	if l.Hard > l.Most {
		v["hard"] = strconv.FormatUint(l.Hard, 10)
	}
	return v
}

// forkRefused is about a control group of the runtime in which the kernel has refused another process. The kernel says
// that once for each group.
func (f *Facts) forkRefused() (m Match, refused bool) {
	for _, l := range f.kernelLog() {
		i := slices.IndexFunc(f.runtimes(), func(p evidence.Process) bool { return inGroup(p, l) })
		if l.About != knowledge.AboutGroup || i < 0 {
			continue
		}
		p := f.runtimes()[i]
		limit := evidence.Limit{What: evidence.Threads, Of: p.Command, PID: p.PID}
		return Match{
			Variant: "refused", Severity: Warning, Group: limit.Of + " " + limit.What, Values: f.limitValues(limit).with(Values{"process": p}),
		}, true
	}
	return m, false
}

// worksNot reports whether what hangs may do so because the runtime lacks something: it is no object's fault.
func (f *Facts) worksNot() bool {
	list := f.List()
	return f.Scope.Whole() || f.Scope == answers.NoStatus || list != nil && list.Sure
}
