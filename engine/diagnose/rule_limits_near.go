package diagnose

import (
	"strconv"

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
)

// A limit on open files, threads or memory is nearly used up; the kernel kills because of one; or a call says so.
var limitsNear = Rule{
	ID: LimitsNear,
	Find: func(f *Facts, report func(Match)) {
		text, _ := f.complaint(knowledge.UsedUp)
		found := false
		for _, l := range f.Look.Limits {
			if m := f.nearLimit(l); m.Variant != "" {
				m.Values["complaint"], found = text, true
				report(m)
			}
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

// nearLimit is about a limit. It has no variant if the limit is not near: nearly all are not.
func (f *Facts) nearLimit(l evidence.Limit) Match {
	share, from := float64(l.Used)/float64(max(l.Most, 1)), limitNear
	if l.What == evidence.OOMKills {
		from = 1
	}
	if share < from {
		return Match{}
	}
	m := Match{Severity: Warning, Group: l.Of + " " + l.What + " " + l.Path, Values: f.limitValues(l), Variant: limitVariants[l.What][0]}
	m.Values["from"] = strconv.Itoa(int(100 * from))
	if l.Of != "" {
		m.Variant = limitVariants[l.What][1]
	}
	if l.What == evidence.Memory && f.waitsForMemory(l.PID) {
		m.Nodes = []string{waits.Key(waits.Kernel, strconv.Itoa(l.PID))} // that it waits there is an effect
	}
	// A process at its limit of memory may go on: the kernel takes back what it can. Its calls show whether it does.
	list := f.List()
	hangs := f.Scope.Whole() || f.Scope == answers.NoStatus || list != nil && list.Sure
	if share >= limitReached && (l.What == evidence.OpenFiles || l.What == evidence.Threads || hangs) {
		m.Severity = Critical
	}
	return m
}
