package diagnose

import (
	"cmp"
)

// OrphanShims is a kind of finding about shims and containers that go on without the runtime: those that are in no
// list, and containers that run although they, or their sandboxes, are listed as ended.
const OrphanShims ID = "orphan-shims"

// If a runtime has lost lostLeast sandboxes together, and at least half of all, it has lost its folders.
const lostLeast = 2

// A shim or a container goes on without the runtime.
var orphanShims = Rule{
	ID: OrphanShims, Needs: Lists, Most: 10, Word: Degraded,
	Find: func(f *Facts, report func(Match)) {
		forgotten, leftOver := f.unlisted()
		if len(forgotten) > 0 {
			report(f.forgot(forgotten))
		}
		if len(leftOver) > 0 {
			m := f.unlistedMatch("left-over", leftOver)
			m.Steps = map[string][]Step{"+end": f.advise("shim.left-over", m.Values)}
			report(m)
		}
		conmons := f.isCRIO() && f.seesShims()
		for p := range f.podsWith(func(p *podFacts) bool { return p.exited > 0 || p.orphaned || conmons }) {
			if m, is := f.runsOn(p, conmons); is {
				report(m)
			}
		}
	},
}

// unlistedMatch returns a match about objects that are in no list.
func (f *Facts) unlistedMatch(variant string, all []unlisted) Match {
	m := Match{Variant: variant, Severity: Warning, Alone: true, Group: variant, Brief: "orphan shims", Values: f.unlistedValues(all)}
	for _, u := range all {
		m.Members = append(m.Members, Member{Subject{ObjectRef: u.ObjectRef}, u.values()})
	}
	if len(all) == 1 {
		m.Subject.ObjectRef = all[0].ObjectRef
	}
	return m
}

// forgot returns a match about the objects that the runtime has forgotten. Ending them would end the work of the node;
// a restart of the runtime that can read its folders brings them back.
func (f *Facts) forgot(all []unlisted) Match {
	m := f.unlistedMatch("forgotten", all)
	before := 0
	for _, p := range f.Look.Processes.Shims {
		if p.Own && p.Sandbox != "" && f.beganBefore(p) {
			before++
		}
	}
	if n := m.Values["sandboxes"].(int); n >= lostLeast && 2*n >= before {
		m.Severity, m.Values["lost"] = Critical, true
	}
	if runtime := f.youngRuntime(); runtime.PID != 0 {
		m.Values["began"], m.Values["runtimePid"] = age(f.byNow(runtime).Age), pids(runtime)
	}
	of := f.flavours()[0]
	m.Values["data"], m.Values["state"] = cmp.Or(f.Look.Disk.Path, of.Data), cmp.Or(f.Look.State.Path, of.State)
	steps := append(f.advise("runtime.forgot", m.Values), f.makingFit()...)
	m.Steps = map[string][]Step{"+end": append(steps, f.restartWhen("that is done", "reads them again")...)}
	return m
}
