package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// RuntimeSlow is a runtime that answers, but late: all calls, only a list, or only the status calls.
const RuntimeSlow ID = "runtime-slow"

// slowKinds is how many operations must be slow before all calls count as slow: Version and Status may not touch the
// part that makes the others slow.
const slowKinds = 3

// A runtime answers every kind of call, and every kind is late; or only the status calls or the lists are late.
var runtimeSlow = Rule{
	ID: RuntimeSlow, Needs: Unpaused, Whole: true, Warned: Slow,
	Find: func(f *Facts, report func(Match)) {
		if f.Scope == answers.AllSlow {
			report(f.slowRuntime("half", f.HalfSlow(answers.Slow)))
			return
		}
		if f.Scope.Whole() || f.itselfHangs() {
			return
		}
		if slow, all := f.slowOperations(); all && len(slow) >= slowKinds {
			report(f.slowRuntime("", slices.Min(slow)))
			return
		}
		if op, slow := f.slowObjects(); slow {
			m := f.slowRuntime("objects", f.Sums(op).P50)
			m.Subject.Operation, m.Values["operation"] = op.String(), op
			report(m)
			return
		}
		if op, took := f.slowList(); took > 0 {
			report(f.slowListMatch(op, took))
			return
		}
		if half := f.HalfSlow(f.SlowFrom()); f.once() && half > 0 {
			report(f.slowRuntime("half", half))
		}
	},
}

// slowRuntime returns a match about calls that are slow.
func (f *Facts) slowRuntime(variant string, took time.Duration) Match {
	m := Match{
		Variant: variant, Severity: Warning, Values: f.usageValues().with(Values{"took": took}), Lines: map[string][]line{},
	}
	m.Steps = map[string][]Step{"+restart": f.thenRestart(f.advise("runtime.slow", m.Values)...)}
	if f.Sweep != nil {
		m.Values["refused"] = f.Sweep.Refused
	}
	for i := range f.Calls {
		if c := &f.Calls[i]; c.Count > 0 && c.Op != call.GetContainerEvents {
			v := Values{"operation": c.Op, "p50": c.P50, "p99": c.P99, "max": c.Max, "calls": many{int(c.Count), "call"}}
			m.Lines["figures"] = append(m.Lines["figures"], lineOf("figures", v))
		}
	}
	return m
}

// slowListMatch returns a match about a list that is slow while other calls are fast.
func (f *Facts) slowListMatch(op call.Operation, took time.Duration) Match {
	return Match{
		Variant: "list", Severity: Warning, Subject: Subject{Operation: op.String()}, Group: groupLists,
		Values: Values{"operation": op, "took": took, "bytes": bytes(f.Sums(op).LastResponseBytes)},
		Lines:  map[string][]line{"seen": f.seenOf()},
		Steps:  map[string][]Step{"+restart": f.thenRestart(f.advise("list.hangs", Values{"ofSandboxes": op == call.ListPodSandbox})...)},
	}
}
