package engine

import (
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// A policy is that of the machine, which makes its calls by it.
type policy struct{ answers.Policy }

// The calls of a look that is made once: what people wait for.
const (
	sweepWidth = 4
	longer     = 4 // times the timeout of a status call, for lists, Status and Version;
	retries    = 2 // of a call that fails at once
)

// running is the policy of an engine that goes on: the kubelet's, and for what the
// kubelet does not do, ours.
func running(c Config) answers.Policy {
	return answers.Policy{ListTimeout: c.Timeout, CallTimeout: answers.Hung, Width: sweepWidth}
}

// kubelets returns how a call is made that the kubelet makes, too.
func (p policy) kubelets(f call.Flight) callSpec {
	w := callSpec{Flight: f, timeout: p.ListTimeout}
	if p.Once {
		w.tries, w.bounded, w.endsEarly = 1+retries, true, true
	}
	return w
}

// own returns how a call is made that only we make: it must hold up nothing.
func (p policy) own(f call.Flight) callSpec {
	return callSpec{Flight: f, timeout: p.CallTimeout, bounded: true, yields: true}
}
