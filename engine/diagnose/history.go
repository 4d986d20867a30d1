package diagnose

import "github.com/plegtop/plegtop/engine"

// A History is what a diagnosis needs to know of the time before the present
// snapshot: [History.Add] takes in each update, [History.AddReport] each look at
// the node. Its memory is bounded. It belongs to one goroutine. Each part
// stands beside the rule that needs it, and its zero value has seen nothing.
type History struct {
	deaths   deathLog  // of containers
	losses   losses    // of events
	flaps    flaps     // of the verdict on PLEG
	bereft   bereftLog // of pods that run without their sandbox
	looks    looks     // at the node
	departed departed  // sandboxes

	growth     growth     // of list answers
	outages    outages    // of the runtime
	recoveries recoveries // of inspections
	lates      lateCalls  // of relists
	pace       pace       // of Status
}

// NewHistory returns a history of nothing.
func NewHistory() *History { return new(History) }

// Add takes in an update. Updates come in order.
func (h *History) Add(u engine.Update) {
	if u.Snapshot == nil {
		return
	}
	h.growth.add(u)
	h.outages.add(u)
	h.recoveries.add(u)
	h.lates.add(u)
	h.pace.add(u)
	h.deaths.add(u)
	h.losses.add(u)
	h.flaps.add(u)
	h.bereft.add(u)
	h.departed.add(u)
}
