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
	// A limit is reported when limitNear of it is used: a burst, such as the start of all pods, uses up the rest at
	// once.
	limitNear = 0.9
	// When limitReached of a limit is used, something fails now and then.
	limitReached = 0.99
)

// A limit on open files, threads or memory is nearly used up; or the kernel kills processes because of a limit; or a
// call reports that a limit is used up.
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

// limitVariants are the variants of the row for each limit: first for a limit of the node, then for a limit of a
// process.
var limitVariants = map[string][2]string{
	evidence.OpenFiles: {"files-node", "files"}, evidence.Threads: {"threads-node", "threads"},
	evidence.Memory: {"memory", "memory"}, evidence.OOMKills: {"killed", "killed"},
}

// nearLimit returns a match about a limit. The match has no variant if the limit is not near, as nearly all are.
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
		m.Nodes = []string{waits.Key(waits.Kernel, strconv.Itoa(l.PID))} // its wait there is an effect of the limit
	}
	// A process at its memory limit may go on, because the kernel takes back what it can. The process's calls show
	// whether it goes on.
	list := f.List()
	hangs := f.Scope.Whole() || f.Scope == answers.NoStatus || list != nil && list.Sure
	if share >= limitReached && (l.What == evidence.OpenFiles || l.What == evidence.Threads || hangs) {
		m.Severity = Critical
	}
	return m
}
