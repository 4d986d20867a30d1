package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
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
		"threads on, and at a limit where lists or all calls hang, whose cause it then is; the kernel kills in its control group for want of memory; a call's error says so",
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
	return v.orSaid(findings, LimitsNear, "the runtime has used up a limit", usedUp, func() []Step {
		return []Step{
			{Text: "the runtime's own limits", Command: fmt.Sprintf("cat /proc/$(pidof %s)/limits", v.program())},
			{Text: "the node's", Command: "cat /proc/sys/fs/file-nr /proc/loadavg; sysctl kernel.pid_max kernel.threads-max fs.inotify"},
			v.restart("frees what the runtime itself holds; " + v.restartRisk()),
		}
	})
}

// unitOf names the unit of a process of the runtime's, for a shell.
func (v *view) unitOf(pid int) string {
	if units := v.units(); len(units) == 1 {
		return units[0]
	}
	return fmt.Sprintf(`"$(ps -o unit= -p %d)"`, pid)
}

// raised returns the step that doubles a limit of the node's, where it is one that can be set.
func raised(l evidence.Limit) Step {
	name, is := strings.CutPrefix(l.Path, "/proc/sys/")
	if !is || l.Most == 0 {
		return inWords("end or move the pod that has most of them")
	}
	name = strings.ReplaceAll(name, "/", ".")
	if name == "fs.file-nr" {
		name = "fs.file-max"
	}
	return Step{Text: "doubles it until the next boot; end what leaks, too", Command: fmt.Sprintf("sysctl -w %s=%d", name, 2*l.Most), Risky: true}
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
	const raises = "raises it for now: what leaks then takes it from the pods"
	property := func(set string) Step {
		return Step{Text: raises, Command: "systemctl set-property --runtime " + v.unitOf(l.PID) + " " + set, Risky: true}
	}
	switch l.What {
	case evidence.OpenFiles:
		f.Summary = fmt.Sprintf("%s has %s of %s files open", who, thousands(l.Used), thousands(l.Most))
		f.Next = []Step{{Text: "who has most of them", Command: `for p in /proc/[0-9]*; do echo "$(ls $p/fd 2>/dev/null | wc -l) $p $(cat $p/comm)"; done | sort -rn | head`}}
		if l.Of != "" {
			f.Next = []Step{
				{Text: "what they are", Command: fmt.Sprintf("ls -l /proc/%d/fd | awk '{print $NF}' | sed 's/[0-9a-f]\\{8,\\}/ID/g; s/[0-9]\\+/N/g' | sort | uniq -c | sort -rn | head", l.PID)},
				{Text: "raises it for the process that runs, until that is restarted", Command: fmt.Sprintf("prlimit --pid %d --nofile=%d:%d", l.PID, max(1<<20, 2*l.Most), max(1<<20, 2*l.Most)), Ends: true},
			}
		} else {
			f.Next = append(f.Next, raised(l))
		}
	case evidence.Threads:
		f.Summary = fmt.Sprintf("%s has %s of %s threads", who, thousands(l.Used), thousands(l.Most))
		f.Next = []Step{{Text: "who has most of them", Command: "ps -eo nlwp,pid,args --sort=-nlwp | head -n 20"}}
		if l.Of != "" {
			f.Summary = fmt.Sprintf("the control group of %s has %s of %s threads", who, thousands(l.Used), thousands(l.Most))
			f.Next = append(f.Next, property("TasksMax=infinity"))
		} else {
			f.Next = append(f.Next, raised(l))
		}
	case evidence.Memory:
		f.Summary = fmt.Sprintf("the control group of %s has %s of %s of memory", who, size(l.Used), size(l.Most))
		f.Next = []Step{{Text: "who takes it", Command: "ps -eo pid,rss,args --sort=-rss | head -n 20"}, property("MemoryMax=infinity")}
	case evidence.OOMKills:
		f.Summary = fmt.Sprintf("the kernel has killed %s of the control group of %s for want of memory", count(int(l.Used), "process"), who)
		f.Next = []Step{{Text: "what was killed, and what took the memory", Command: "dmesg -T | grep -iE 'oom|killed process' | tail -n 20"}, property("MemoryMax=infinity")}
	}
	f.say("the limit is in "+l.Path, fmt.Sprintf("told from %.0f %% of it on", 100*near), v.refusedFor(usedUp...))
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
