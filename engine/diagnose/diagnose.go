package diagnose

import (
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// An Input is all that a diagnosis goes by.
type Input struct {
	Snapshot *engine.Snapshot // must be there
	History  *History         // of what came before, the snapshot's own update included; nil for none
	Evidence *evidence.Report // of the node; nil if nobody looked
	Endpoint string           // of the runtime, for commands; may be empty
}

// past returns the history, or one of nothing.
func (in Input) past() *History {
	if in.History != nil {
		return in.History
	}
	return &noHistory
}

var noHistory History // read only

// A rule looks for one kind of trouble. It returns nothing on a healthy node,
// and what it finds without regard for the other rules: [explain] sets the
// causes, [order] the order.
type rule func(Input) []Finding

// rules is every rule there is. Their order matters only between findings that
// are equal in all else.
var rules = []rule{
	runtimeDown,
	runtimeUnresponsive,
	inspectHung,
	listHung,
	listTooBig,
	inspectFailing,
	runtimeSlow,
	relistSlowChurn,
	plegUnhealthy,
	processStuck,
	runtimeNotReady,
	networkNotReady,
	plegFlapping,
	kubeletStuck,
	ghostRunning,
	crashLoop,
	eventsDiscarded,
	orphanShims,
	clockStep,
	hostPressure,
}

// Diagnose returns what is wrong, causes before their effects, the worst cause
// first; nil for a healthy node. Equal inputs give equal findings. It does not
// change its input, and may be called from any goroutine as long as nobody adds
// to the History.
func Diagnose(in Input) []Finding {
	var findings []Finding
	for _, look := range rules {
		findings = append(findings, look(in)...)
	}
	if len(findings) == 0 {
		return nil
	}
	return order(explain(findings))
}
