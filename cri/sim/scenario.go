package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/cri/sim/script"
)

// A Scenario is one world that Start can show.
type Scenario struct {
	Name    string
	Summary string // one line for people
	Keys    string // what to press and what that shows, one line for people
	Events  bool   // it is about the runtime's event stream, which therefore is read from the start
}

// A scenario is the pods of a node, what goes wrong there, and what else
// happens. What goes wrong can also be switched on and off while another one plays.
type scenario struct {
	name    string
	summary string  // one line for people; empty: what goes wrong
	keys    string  // what to press and what that shows, one line; empty: people cannot choose it
	speed   float64 // of its clock: 0: as fast as the real one
	events  bool    // it is about the runtime's event stream
	bare    bool    // the node does not show its processes: [Server.HostRoot]

	pods func(*scene) // places them, and has them do what they do by themselves; nil: only a fault

	wrong string        // what goes wrong, one line; empty: nothing
	fault fault         // has it go wrong
	at    time.Duration // when, if the scenario is chosen
	watch string        // what to see then, in a sentence; empty: the steps say all

	steps []step        // beside that
	cycle time.Duration // after which the steps are taken again; 0: never
}

// A fault has something go wrong and returns what undoes it.
type fault func(*scene) (undo func())

// A step is something that happens at one moment of a scenario or of its cycle.
type step struct {
	at      time.Duration
	do      func(*scene) // nil: nothing; there is only something to say
	caption caption      // what happens now; zero: nothing to say; without keys: those of the scenario
}

type caption = script.Caption

// acts returns the steps that have a caption. A fault that is all there is has its own.
func (sc scenario) acts() []step {
	all := slices.Clone(sc.steps)
	if sc.watch != "" {
		all = append(all, step{sc.at, nil, caption{What: strings.ToUpper(sc.wrong[:1]) + sc.wrong[1:] + ".", Watch: sc.watch}})
	}
	if sc.watch != "" && sc.at > 0 {
		all = append([]step{{caption: caption{What: fmt.Sprintf("All is well. Something goes wrong in %v s.", sc.at.Seconds()), Watch: "Pods come and go. Every call is answered."}}}, all...)
	}
	all = slices.DeleteFunc(all, func(s step) bool { return s.caption == caption{} })
	for i := range all {
		all[i].caption.Press = cmp.Or(all[i].caption.Press, sc.keys)
	}
	return all
}

// Scenarios returns the scenarios that people can choose, the default first.
func Scenarios() []Scenario {
	var all []Scenario
	for _, sc := range scenarios() {
		if sc.keys == "" {
			continue
		}
		soon := ""
		if sc.at > 0 {
			soon = fmt.Sprintf("after %v s ", sc.at.Seconds())
		}
		all = append(all, Scenario{sc.name, cmp.Or(sc.summary, soon+sc.wrong), sc.keys, sc.events})
	}
	return all
}

// Known reports whether Start can show a scenario of that name.
func Known(name string) bool {
	_, err := scenarioNamed(name)
	return err == nil && name != ""
}

// scenarioNamed returns the scenario of that name, or the first for "".
func scenarioNamed(name string) (scenario, error) {
	all := scenarios()
	i := slices.IndexFunc(all, func(sc scenario) bool { return (sc.name == name || name == "") && sc.pods != nil })
	if i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, sc := range Scenarios() {
		names = append(names, sc.Name)
	}
	return scenario{}, fmt.Errorf("no scenario named %q; there are: %s", name, strings.Join(names, ", "))
}
