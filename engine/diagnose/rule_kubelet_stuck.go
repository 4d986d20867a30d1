package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// KubeletStuck is a kubelet that stands still although the runtime answers.
const KubeletStuck ID = "kubelet-stuck"

const (
	// The kubelet's relist may be late by the threshold / kubeletLate: half of the threshold leaves time to look.
	kubeletLate = 2
	// kubeletLateLeast is for short thresholds: the kubelet's own threshold is 3 min however short ours is, and the
	// kubelet's figures have whole seconds.
	kubeletLateLeast = 10 * time.Second
)

// The kubelet stands still while the runtime answers us well. Then the fault is in the kubelet, or in a call that we do
// not make. The kubelet's metrics alone show nothing, because they wait for every shim.
var kubeletStuck = Rule{
	ID: KubeletStuck, Needs: Unpaused, Word: KubeletIsStuck,
	Find: func(f *Facts, report func(Match)) {
		p, runs := f.Look.Processes.Kubelet()
		if runs && kubeletStandsStill(f.Look, p) {
			report(f.heldKubelet(p))
			return
		}
		if f.Memory.IdleSince.IsZero() || !f.once() && !f.kubeletCaughtUp() {
			return
		}
		m := Match{Severity: Critical}
		silent, late := f.silentKubelet(), f.kubeletRelist()
		switch {
		case silent != "":
			m.Values = Values{"text": silent}
		case late > max(f.Threshold/kubeletLate, kubeletLateLeast):
			m.Variant, m.Values = "behind", Values{"theirs": age(late), "ours": age(max(f.Health.ListAge(f.at()), 0))}
			if late <= pleg.DefaultThreshold { // the kubelet's own threshold, which no flag of it changes
				m.Severity = Warning
			}
		default:
			return
		}
		if f.once() {
			m.Severity, m.Values["once"] = Warning, "yes"
		}
		if runs {
			m.Values = m.Values.with(processValues(p))
		}
		m.Lines = map[string][]line{"kubelet": f.kubeletLines()}
		report(m)
	},
}

// heldKubelet returns a match about a kubelet that was stopped or frozen from outside.
func (f *Facts) heldKubelet(p evidence.Process) Match {
	p = f.byNow(p)
	v := processValues(p).with(Values{"number": pid(p.PID), "state": p.State, "tracer": tracerOf(p.Tracer)})
	if p.For >= time.Second {
		v["lasting"] = lasting(&p)
	}
	return Match{
		Variant: "held", Severity: Critical, Values: v, Lines: map[string][]line{"kubelet": f.kubeletLines()},
		Steps: map[string][]Step{"+go-on": f.letGoOn(p, "")},
	}
}
