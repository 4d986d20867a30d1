// Package director shows an audience what a demo does, and steers it: a line at the
// foot of the screen, with the panes above it in view.
package director

import "github.com/plegtop/plegtop/cri/sim/script"

// A Caption is what an audience is told of an act.
type Caption = script.Caption

// A Director steers the scenario that a demo's runtime plays, while its clients stay
// connected. All its methods return at once and are safe for concurrent use; what
// they ask for shows in the next [script.State].
type Director interface {
	// State returns how far the script is now.
	State() script.State
	// Faults returns all faults, in a fixed order.
	Faults() []script.Fault
	// Freeze has the script stand still, or go on. The clocks and the calls go on.
	Freeze(frozen bool)
	// Step freezes the script and has the next thing in it happen now. It reports whether there was any.
	Step() bool
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
