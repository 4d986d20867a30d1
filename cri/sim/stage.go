package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A stage is a world and what is wrong with the runtime that shows it. It is
// as pure as the world is.
type stage struct {
	*world
	rules      ruleSet
	chance     *rand.Rand // for calls, so that they do not disturb the world's
	away       bool       // nothing listens on the socket
	networkBad bool       // Status says so
	runtimeBad bool       // Status says so
	stopped    bool       // the runtime's process, by a signal
	off        map[string]func()
}

func newStage(c scenario, seed uint64, now time.Time) *stage {
	st := &stage{
		world: newWorld(seed, now), chance: rand.New(rand.NewPCG(seed, 1)), off: map[string]func(){},
	}
	c.build(st)
	return st
}

// set switches a fault on or off.
func (st *stage) set(name string, on bool) error {
	all := faults()
	i := slices.IndexFunc(all, func(f fault) bool { return f.name == name })
	if i < 0 {
		return fmt.Errorf("no fault named %q", name)
	}
	off := st.off[name]
	switch {
	case on && off == nil:
		st.off[name] = all[i].begin(st)
	case !on && off != nil:
		delete(st.off, name)
		off()
	}
	return nil
}

// A beat is something that happens at one moment of a lap.
type beat struct {
	at time.Duration
	do func()
}

// laps runs the beats, then again with each period, until stop is called.
func (st *stage) laps(period time.Duration, beats []beat) (stop func()) {
	stopped := false
	lap := func() {
		for _, b := range beats {
			st.after(b.at, func() {
				if !stopped {
					b.do()
				}
			})
		}
	}
	lap()
	end := st.every(period, lap)
	return func() {
		stopped = true
		end()
	}
}

// switches returns beats that switch a fault on and off.
func (st *stage) switches(name string, on, off time.Duration) []beat {
	flip := func(to bool) func() {
		return func() { _ = st.set(name, to) } // the name is one of ours
	}
	return []beat{{on, flip(true)}, {off, flip(false)}}
}
