// Package script has the words for how far a demo is: which scenario its runtime plays, how
// fast, and what is wrong there.
package script

import (
	"strings"
	"time"
)

// A State is how far a scenario is.
type State struct {
	Scenario  string        // its name
	Frozen    bool          // the script stands still
	Speed     float64       // how many times as fast as the runtime's clock it goes
	Act, Acts int           // which of its acts is on, from 1, and how many there are; 0 before the first
	Caption   Caption       // of this act; zero if there is nothing to say
	Next      time.Duration // in real time until the next act at this speed, as if it were not frozen; 0 if none comes
	Faults    int           // how many are on
}

// A Caption tells an audience of an act, each in a line of plain English.
type Caption struct {
	What  string // happens
	Watch string // what will be seen
	Press string // keys, each with what it shows: "2 enter: an event; 3: the calls"
}

// Line returns what happens and the first keys, for one line.
func (c Caption) Line() string {
	keys, _, found := strings.Cut(c.Press, ":")
	if !found {
		return c.What
	}
	return strings.TrimSuffix(c.What, ".") + "; press " + keys
}

// A Fault is something that can be wrong with the demo's runtime, or on its node, and that
// can be switched on and off while it runs, whatever the scenario.
type Fault struct {
	Name    string
	Summary string // one line for people
	On      bool
}
