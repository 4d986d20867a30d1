package diagnose

import (
	"slices"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
)

// RuntimeRestarts is a runtime that is there, and was away again and again, or a moment ago.
const RuntimeRestarts ID = "runtime-restarts"

// The runtime was away several times in the last ten minutes, or began a moment before plegtop. One restart that plegtop
// saw is maintenance.
var runtimeRestarts = Rule{
	ID: RuntimeRestarts, Warned: AtRisk,
	Find: func(f *Facts, report func(Match)) {
		starts := f.starts()
		if len(starts) == 0 || f.Scope == answers.Refused || f.Flaky.Failed > 0 {
			return
		}
		last, times := starts[len(starts)-1], f.timesAway()
		unit, byInit := f.service(last.PID)
		byInit = byInit && unit.Restarts >= answers.Outages
		since := f.at().Sub(last.At)
		m := Match{Severity: Info, Values: Values{"command": last.Command, "age": age(since), "away": f.awayWords(), "often": times >= answers.Outages}}
		switch isNew := since <= evidence.FreshRuntime; {
		case isNew && (times >= answers.Outages || byInit):
			m.Severity = Warning
		case times >= answers.Outages, isNew && times > 0 && f.Started.After(last.At):
		default:
			return
		}
		if byInit {
			m.Lines = map[string][]line{"service": {unitLine(unit)}}
		}
		report(m)
	},
}

// starts returns the starts of the runtime in the last ten minutes, the oldest first.
func (f *Facts) starts() []past.Start {
	if !f.sameClock() {
		return nil
	}
	return f.Memory.StartsSince(f.at().Add(-past.AwayFor))
}

// shimsFirst is by how much a shim must be older than a runtime to have belonged to the one before.
const shimsFirst = 2 * answers.Late

// timesAway returns how often the runtime was away in the last ten minutes, as far as is known. The first start counts
// only if shims are older: else the node booted.
func (f *Facts) timesAway() int {
	starts := f.starts()
	n := len(starts)
	older := func(p evidence.Process) bool {
		return p.Own && p.Age > 0 && f.Look.At.Add(-p.Age).Before(starts[0].At.Add(-shimsFirst))
	}
	if n > 0 && !slices.ContainsFunc(f.Look.Processes.Shims, older) {
		n--
	}
	outages, _ := f.Memory.Outages.Since(past.AwayFor, f.at())
	return max(n, len(outages))
}

// awayWords says how often the runtime was away in the last ten minutes; empty if it was not.
func (f *Facts) awayWords() string {
	n := f.timesAway()
	switch {
	case n == 0:
		return ""
	case f.at().Sub(f.Started) < past.AwayFor:
		return "was away at least " + times(n) + " in the last 10 minutes"
	}
	return "was away " + times(n) + " in the last 10 minutes"
}

// service returns the init system's word about the service of a process, if it was asked.
func (f *Facts) service(pid int) (evidence.Unit, bool) {
	for _, p := range f.Look.Processes.Daemons {
		if p.PID != pid || p.Unit == "" {
			continue
		}
		for _, u := range f.Look.Services {
			if u.Name == p.Unit && u.State != "" {
				return u, true
			}
		}
	}
	return evidence.Unit{}, false
}
