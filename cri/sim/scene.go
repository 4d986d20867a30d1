package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A scene is a world and what is wrong with the runtime that shows it. It is
// as pure as the world is.
type scene struct {
	*world
	rules      []*rule           // in force; with none every call passes
	chance     *rand.Rand        // for calls, so that they do not disturb the world's
	away       bool              // nothing listens on the socket
	networkBad bool              // Status says so
	runtimeBad bool              // Status says so
	stopped    bool              // the runtime's process, by a signal
	undo       map[string]func() // of the faults that are on
}

// newScene returns a scenario at its beginning.
func newScene(sc scenario, seed uint64, now time.Time) *scene {
	sn := &scene{world: newWorld(seed, now), chance: rand.New(rand.NewPCG(seed, 1)), undo: map[string]func(){}}
	sc.pods(sn)
	if sc.fault != nil {
		sn.after(sc.at, func() { on(sc.name)(sn) })
	}
	sn.repeat(sc.cycle, sc.steps)
	sn.advance(now)
	return sn
}

// set switches a fault on or off.
func (sn *scene) set(fault string, on bool) error {
	all := scenarios()
	i := slices.IndexFunc(all, func(sc scenario) bool { return sc.name == fault && sc.fault != nil })
	if i < 0 {
		return fmt.Errorf("no fault named %q", fault)
	}
	undo := sn.undo[fault]
	switch {
	case on && undo == nil:
		sn.undo[fault] = all[i].fault(sn)
	case !on && undo != nil:
		delete(sn.undo, fault)
		undo()
	}
	return nil
}

// on returns what begins a fault, and off what ends it.
func on(fault string) func(*scene)  { return turn(fault, true) }
func off(fault string) func(*scene) { return turn(fault, false) }

func turn(fault string, to bool) func(*scene) {
	return func(sn *scene) {
		if err := sn.set(fault, to); err != nil {
			panic("sim: a step of ours: " + err.Error()) // a test takes all steps of all scenarios
		}
	}
}

// repeat takes the steps, then again with each cycle if there is one, until
// stop is called.
func (sn *scene) repeat(cycle time.Duration, steps []step) (stop func()) {
	stopped := false
	once := func() {
		for _, s := range steps {
			sn.after(s.at, func() {
				if !stopped {
					s.do(sn)
				}
			})
		}
	}
	once()
	end := func() {}
	if cycle > 0 {
		end = sn.every(cycle, once)
	}
	return func() {
		stopped = true
		end()
	}
}
