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
	rules      ruleSet
	chance     *rand.Rand // for calls, so that they do not disturb the world's
	away       bool       // nothing listens on the socket
	networkBad bool       // Status says so
	runtimeBad bool       // Status says so
	stopped    bool       // the runtime's process, by a signal
	off        map[string]func()
}

func newScene(sc scenario, seed uint64, now time.Time) *scene {
	sn := &scene{
		world: newWorld(seed, now), chance: rand.New(rand.NewPCG(seed, 1)), off: map[string]func(){},
	}
	sc.pods(sn)
	for _, s := range sc.steps {
		switch {
		case s.at == 0:
			s.do(sn)
		case sc.cycle == 0:
			sn.after(s.at, func() { s.do(sn) })
		}
	}
	if sc.cycle > 0 {
		sn.repeat(sc.cycle, slices.DeleteFunc(slices.Clone(sc.steps), func(s step) bool { return s.at == 0 }))
	}
	return sn
}

// set switches a fault on or off.
func (sn *scene) set(name string, on bool) error {
	all := faults()
	i := slices.IndexFunc(all, func(f fault) bool { return f.name == name })
	if i < 0 {
		return fmt.Errorf("no fault named %q", name)
	}
	off := sn.off[name]
	switch {
	case on && off == nil:
		sn.off[name] = all[i].begin(sn)
	case !on && off != nil:
		delete(sn.off, name)
		off()
	}
	return nil
}

// A step is something that happens at one moment of a scenario or of its cycle.
type step struct {
	at time.Duration
	do func(*scene)
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

// repeat takes the steps, then again with each cycle, until stop is called.
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
	end := sn.every(cycle, once)
	return func() {
		stopped = true
		end()
	}
}
