package diagnose

import (
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
)

// RuntimeRestarts is a runtime that is there now, but was away again and again, or a moment ago.
const RuntimeRestarts ID = "runtime-restarts"

// The runtime was away several times in the last ten minutes, or started a moment before plegtop. One restart that
// plegtop saw is maintenance.
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

// service returns the init system's report on the service of a process; false if there is none.
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
