package diagnose

import (
	"fmt"
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

var limitsNearKind = &kind{
	id: LimitsNear, find: limitsNear,
	is:    starves | limits,
	words: []nodeWord{(*view).kernelSaid}, killed: memoryKilled,
	severity: "warning", scenario: "a real node",
	when: "nine tenths of a limit on open files, threads or memory are used by the runtime, its control group or the node, critical from 99 % of files or " +
		"threads on, and at a limit where lists or all calls hang, whose cause it then is; the kernel kills in its control group for want of memory, or refuses a thread; a call's error says so",
}

const (
	// limitNear is the part of a limit from which on it is told: what comes in bursts,
	// such as a node that starts all its pods, takes the rest at once.
	limitNear = 0.9
	// limitReached is the part from which on something fails now and then.
	limitReached = 0.99
)

// limitsNear finds what the runtime or the node has used up, or a call that says so.
func limitsNear(v *view) (findings []Finding) {
	for _, l := range v.evidence.Limits {
		if f, near := v.limitFinding(l); near {
			findings = append(findings, f)
		}
	}
	findings = append(findings, v.forkRefused(findings)...)
	return v.orSaid(findings, LimitsNear, "the runtime has used up a limit", []string{knowledge.UsedUp}, func() []Step {
		return append(v.advise("limit.used-up", Values{"pid": pids(v.daemonsNow()...)}), v.restart("frees what the runtime itself holds")...)
	})
}

// mostPIDs is what kernel.pid_max takes at most on machines of 64 bits (PID_MAX_LIMIT in
// include/linux/threads.h).
const mostPIDs = 4 << 20

// limitValues are what commands about a limit need. A group is set through systemd where it is a
// service's, and by its own file where nobody else cares for it.
func (v *view) limitValues(l evidence.Limit) Values {
	values := Values{"path": one(l.Path)}
	if l.Most > 0 {
		values["twice"], values["was"] = one(strconv.FormatUint(2*l.Most, 10)), one(strconv.FormatUint(l.Most, 10))
	}
	if l.PID != 0 {
		values["pid"] = one(strconv.Itoa(l.PID))
	}
	for _, p := range v.daemons() {
		if p.PID == l.PID {
			values["start"] = one(startOf(p))
			if unit, is := strings.CutSuffix(p.Unit, ".service"); is {
				values["unit"] = one(unit)
			}
		}
	}
	if key, is := strings.CutPrefix(l.Path, "/proc/sys/"); is && l.Most > 0 {
		values["key"] = one(strings.ReplaceAll(key, "/", "."))
		if key == "kernel/pid_max" {
			values["twice"] = one(strconv.FormatUint(min(2*l.Most, mostPIDs), 10))
		}
	}
	switch path.Base(l.Path) { // as both versions of control groups have it
	case "pids.max", "memory.max":
		values["file"] = one(l.Path)
	case "memory.limit_in_bytes":
		values["file"], values["v1"] = one(l.Path), one("yes")
	}
	if l.Hard > l.Most {
		values["hard"] = one(strconv.FormatUint(l.Hard, 10))
	}
	return values
}

// forkRefused finds a group of the runtime's in which the kernel has refused another process, unless its
// limit was read. The kernel says that once for each group.
func (v *view) forkRefused(told []Finding) []Finding {
	for _, l := range v.kernel() {
		i := slices.IndexFunc(v.daemons(), func(p evidence.Process) bool { return inGroup(p, l) })
		if l.About != knowledge.AboutGroup || i < 0 {
			continue
		}
		p := v.daemons()[i]
		limit := evidence.Limit{What: evidence.Threads, Of: p.Command, PID: p.PID}
		group := limit.Of + " " + limit.What
		if slices.ContainsFunc(told, func(f Finding) bool { return strings.HasPrefix(f.Group, group) }) {
			return nil
		}
		f := Finding{
			ID: LimitsNear, Severity: Warning, Group: group,
			Summary: fmt.Sprintf("the control group of %s (pid %d) is at its limit of threads: the kernel refused one", p.Command, p.PID),
			Next:    v.advise("limit.threads", v.limitValues(limit)),
		}
		f.say(v.refusedFor(knowledge.UsedUp))
		return []Finding{f}
	}
	return nil
}

func (v *view) limitFinding(l evidence.Limit) (Finding, bool) {
	share := float64(l.Used) / float64(max(l.Most, 1))
	near := limitNear
	if l.What == evidence.OOMKills {
		near = 1
	}
	if share < near {
		return Finding{}, false // as nearly all are, at each update
	}
	f := Finding{ID: LimitsNear, Severity: Warning, Group: l.Of + " " + l.What + " " + l.Path}
	if share >= limitReached && (l.What == evidence.OpenFiles || l.What == evidence.Threads || v.worksNot()) {
		f.Severity = Critical
	}
	if i := slices.IndexFunc(v.daemonsNow(), func(p evidence.Process) bool { return p.PID == l.PID && waits.ForMemory(&p) }); i >= 0 && l.What == evidence.Memory {
		f.Nodes = []string{waits.Key(waits.Kernel, strconv.Itoa(l.PID))}
	}
	who := "the node"
	if l.Of != "" {
		who = fmt.Sprintf("%s (pid %d)", l.Of, l.PID)
	}
	values := v.limitValues(l)
	switch l.What {
	case evidence.OpenFiles:
		f.Summary = fmt.Sprintf("%s has %s of %s files open", who, thousands(l.Used), thousands(l.Most))
		f.Next = v.advise("limit.files-node", values)
		if l.Of != "" {
			f.Next = v.advise("limit.files", values)
		}
	case evidence.Threads:
		f.Summary = fmt.Sprintf("%s has %s of %s threads", who, thousands(l.Used), thousands(l.Most))
		f.Next = v.advise("limit.threads-node", values)
		if l.Of != "" {
			f.Summary = fmt.Sprintf("the control group of %s has %s of %s threads", who, thousands(l.Used), thousands(l.Most))
			f.Next = v.advise("limit.threads", values)
		}
	case evidence.Memory:
		f.Summary = fmt.Sprintf("the control group of %s has %s of %s of memory", who, size(l.Used), size(l.Most))
		f.Next = v.advise("limit.memory", values)
	case evidence.OOMKills:
		f.Summary = fmt.Sprintf("the kernel has killed %s of the control group of %s for want of memory", count(int(l.Used), "process"), who)
		values["killed"] = one("yes")
		f.Next = v.advise("limit.memory", values)
	}
	f.say("the limit is in "+l.Path, fmt.Sprintf("told from %.0f %% of it on", 100*near), v.refusedFor(knowledge.UsedUp))
	return f, true
}

// worksNot reports whether what hangs may do so for want of anything: it is no object's.
func (v *view) worksNot() bool {
	list := v.List()
	return v.Scope.Whole() || v.Scope == answers.NoStatus || list != nil && list.Sure
}

// memoryKilled reports whether the kernel has killed the runtime for a limit on memory.
func memoryKilled(v *view, f *Finding, l evidence.KernelLine) bool {
	return v.ofRuntime(l) && (strings.Contains(f.Group, evidence.Memory) || strings.Contains(f.Group, evidence.OOMKills))
}
