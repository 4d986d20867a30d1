// Package director shows an audience what a demo does, and steers it: a line at the
// foot of the screen, with the panes above it in view.
package director

import "time"

// A Director steers the scenario that a demo's runtime plays, while its clients stay
// connected. All its methods return at once and are safe for concurrent use; what
// they ask for shows in the next State.
type Director interface {
	// State returns how far the script is now.
	State() State
	// Faults returns all faults, in a fixed order.
	Faults() []Fault
	// Freeze has the script stand still, or go on. The clocks and the calls go on.
	Freeze(frozen bool)
	// Step freezes the script and has the next thing in it happen now.
	Step()
	// SetSpeed has the script go so many times as fast as the runtime's clock: from
	// 1/4 to 8, to which it is cut.
	SetSpeed(times float64)
	// Restart plays the scenario from its beginning.
	Restart()
	// Next plays the scenario that is so many places further in the list of them;
	// negative: back.
	Next(places int)
	// SetFault switches a fault on or off. A name that none has changes nothing.
	SetFault(name string, on bool)
}

// A State is how far a scenario is.
type State struct {
	Scenario  string        // its name
	Frozen    bool          // the script stands still
	Speed     float64       // how many times as fast as the runtime's clock it goes
	Act, Acts int           // which of its acts is on, from 1, and how many there are; 0 before the first
	Caption   string        // what the script does in this act, and what to expect; empty if there is nothing to say
	Next      time.Duration // until the next act at this speed, as if it were not frozen; 0 if none comes
	Faults    int           // how many are on
}

// A Fault is something that can be wrong with the demo's runtime, or on its node.
type Fault struct {
	Name    string
	Summary string // one line
	On      bool
}
