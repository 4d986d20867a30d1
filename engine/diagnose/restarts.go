package diagnose

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
)

// RuntimeRestarts is a runtime that is there, and was away again and again, or a moment ago.
const RuntimeRestarts ID = "runtime-restarts"

var runtimeRestartsKind = &kind{
	id: RuntimeRestarts, find: runtimeRestarts,
	because: starves,
	warned:  Headline{Word: "AT RISK"},
	words:   []nodeWord{(*view).kernelSaid}, killed: runtimeKilled,
	severity: "warning", scenario: "a real node",
	when: "the runtime was away three times or more in the last 10 min, by the starts of its process and by calls that found nobody, or systemd has restarted it as often, " +
		"and its process began in the last minute; else info, as for one start of the last minute that was before plegtop began to look",
}

// runtimeRestarts tells how often the runtime was away in the last ten minutes. Nothing of
// one restart that was seen: that is maintenance.
func runtimeRestarts(v *view) []Finding {
	starts := v.starts()
	if len(starts) == 0 || v.Scope == answers.Refused || v.Flaky.Failed > 0 {
		return nil
	}
	last, times := starts[len(starts)-1], v.timesAway()
	unit, byInit := v.service(last.PID)
	byInit = byInit && unit.Restarts >= answers.Outages
	f := Finding{ID: RuntimeRestarts, Severity: Info, Next: v.endsAgain("runtime.restarts")}
	age := v.At.Sub(last.At)
	switch isNew := age <= evidence.FreshRuntime; {
	case isNew && (times >= answers.Outages || byInit):
		f.Severity = Warning
	case times >= answers.Outages, isNew && times > 0 && v.Started.After(last.At):
	default:
		return nil
	}
	f.Summary = fmt.Sprintf("%s began %s ago", last.Command, going(age))
	if said := v.awayWords(); said != "" {
		f.Summary = fmt.Sprintf("%s %s, and began %s ago", last.Command, said, going(age))
	}
	if byInit {
		f.say(unitLine(unit))
	}
	return []Finding{f}
}

// endsAgain returns what to do about a runtime that has ended, and may end again.
func (v *view) endsAgain(culprit string) []Step {
	values := Values{}
	if v.timesAway() >= answers.Outages {
		values["often"] = one("yes")
	}
	return v.advise(culprit, values)
}

// starts returns the starts of the runtime in the last ten minutes, oldest first.
func (v *view) starts() []past.Start {
	if !v.sameClock() {
		return nil
	}
	return v.Memory.StartsSince(v.At.Add(-past.AwayFor))
}

// timesAway returns how often the runtime was away in the last ten minutes, as far as is
// known: the first start is one only where shims are older.
func (v *view) timesAway() int {
	starts := v.starts()
	n := len(starts)
	older := func(p evidence.Process) bool {
		return p.Own && p.Age > 0 && v.evidence.At.Add(-p.Age).Before(starts[0].At.Add(-shimsFirst))
	}
	if n > 0 && !slices.ContainsFunc(v.evidence.Processes.Shims, older) {
		n--
	}
	outages, _ := v.Memory.Outages.Since(past.AwayFor, v.At)
	return max(n, len(outages))
}

// shimsFirst is by how much at least a shim must be older than a runtime to be another
// one's.
const shimsFirst = 2 * answers.Late

// awayWords says how often the runtime was away in the last ten minutes; empty if it is not
// known to have been.
func (v *view) awayWords() string {
	n := v.timesAway()
	if n == 0 {
		return ""
	}
	least := ""
	if v.At.Sub(v.Started) < past.AwayFor {
		least = "at least "
	}
	return fmt.Sprintf("was away %s%s in the last 10 minutes", least, times(n))
}

// service returns the init system's service of a process, where it was asked.
func (v *view) service(pid int) (evidence.Unit, bool) {
	daemons, all := v.evidence.Processes.Daemons, v.evidence.Services
	i := slices.IndexFunc(daemons, func(p evidence.Process) bool { return p.PID == pid && p.Unit != "" })
	if i < 0 {
		return evidence.Unit{}, false
	}
	j := slices.IndexFunc(all, func(u evidence.Unit) bool { return u.Name == daemons[i].Unit && u.State != "" })
	if j < 0 {
		return evidence.Unit{}, false
	}
	return all[j], true
}
