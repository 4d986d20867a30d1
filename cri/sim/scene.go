package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
)

// A scene is a world and what is wrong with the runtime that shows it. It is
// as pure as the world is.
type scene struct {
	*world
	scenario   scenario
	began      time.Time  // by the script
	rules      []*Rule    // in force; with none every call passes
	chance     *rand.Rand // for calls, so that they do not disturb the world's
	away       bool       // nothing listens on the socket
	log        []said     // the kernel's
	networkBad bool       // Status says so
	runtimeBad bool       // Status says so
	stream     streamFaults
	undo       map[string]func() // of the faults that are on
	actors     actors            // if the tour is on
	helpers    []*helper         // that do not end, the oldest first
}

// newScene returns a scenario at its beginning. If there is a scene before it, whose
// clock shows now, it takes over the node from that.
func newScene(sc scenario, seed uint64, now time.Time, before *scene) *scene {
	sn := &scene{
		world: newWorld(seed, now), scenario: sc, began: now,
		chance: rand.New(rand.NewPCG(seed, 1)), undo: map[string]func(){},
	}
	sn.kubelet.ails = sn.ailments
	if before == nil {
		sc.pods(sn)
		sn.play()
	} else {
		sn.follow(before.world)
		sn.setPace(sc.limit(before.pace.speed), false) // frozen, its pods would never come
		sc.pods(sn)
		sn.replace()
		before.release()
		sn.began = now.Add(startTime)
		sn.after(startTime, sn.play)
	}
	sn.advance(now)
	return sn
}

// play begins what happens by the scenario.
func (sn *scene) play() {
	if sc := sn.scenario; sc.fault != nil {
		sn.after(sc.at, func() { on(sc.name)(sn) })
	}
	sn.repeat(sn.scenario.cycle, sn.scenario.steps)
}

// startTime is how long pods take to start, before anything is done to them.
const startTime = 3 * time.Second

// release lets go of the calls that are held.
func (sn *scene) release() {
	for _, r := range sn.rules {
		if r.Hangs {
			close(r.ended)
		}
	}
	sn.rules = nil
}

// act returns which act of the scenario is on, from 1, and how long the script goes
// on until the next; 0 stands for none.
func (sn *scene) act(now time.Time) (on int, next time.Duration) {
	acts, cycle := sn.scenario.acts(), sn.scenario.cycle
	since := now.Sub(sn.began)
	if len(acts) == 0 {
		return 0, 0
	}
	lap := time.Duration(0)
	if cycle > 0 {
		lap = since / cycle * cycle
	}
	for on < len(acts) && lap+acts[on].at <= since {
		on++
	}
	switch {
	case on < len(acts):
		next = lap + acts[on].at - since
	case cycle > 0:
		next = lap + cycle + acts[0].at - since
	}
	if on == 0 && lap > 0 {
		on = len(acts)
	}
	return on, next
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
				if !stopped && s.do != nil {
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

// A Rule has the calls that it matches go wrong.
type Rule struct {
	Match  Match
	Spares func(Call) bool // which calls pass all the same; nil: none
	Hangs  bool            // calls wait until the rule ends or their clients give up
	Delay  time.Duration   // by the server's clock
	Spread time.Duration   // Delay is drawn from so much less to so much more
	Errs   []error         // not empty: calls fail with one of them, of gRPC's
	Left   int             // how many calls fail then; 0: any number

	// Change has every answer before it is sent, for answers that no healthy runtime would
	// give; nil: none. An answer is the response of cri-api, or one event of a stream; Change
	// may do to it what it likes and must be safe for concurrent use. Texts have to stay
	// valid UTF-8: gRPC fails the call otherwise, with Internal.
	Change func(answer proto.Message)

	ended chan struct{} // closed at the end, if calls hang
}

func (r *Rule) matches(c Call) bool {
	return r.Match.matches(c) && (r.Spares == nil || !r.Spares(c))
}

// An effect is what the rules have in store for one call, in this order.
type effect struct {
	holds []<-chan struct{}
	delay time.Duration
	err   error // in place of an answer
}

// addRule puts a rule in force and returns what ends it. Ending it lets go of the
// calls that it holds; doing so twice does no harm.
func (sn *scene) addRule(want Rule) (end func()) {
	r := &want
	r.ended = make(chan struct{})
	sn.rules = append(sn.rules, r)
	sn.changes++
	return func() {
		before := len(sn.rules)
		if sn.rules = drop(sn.rules, r); len(sn.rules) == before {
			return
		}
		sn.changes++
		if r.Hangs {
			close(r.ended)
		}
	}
}

// holds returns what ends the rules by which a call hangs.
func (sn *scene) holds(call Call) (all []<-chan struct{}) {
	for _, r := range slices.Backward(sn.rules) {
		if r.Hangs && r.matches(call) {
			all = append(all, r.ended)
		}
	}
	return all
}

// decide returns what is to become of a call, and uses up the rules that are
// good for so many calls only. Rules added later fail a call first.
func (sn *scene) decide(call Call) effect {
	e := effect{holds: sn.holds(call)}
	for _, r := range slices.Backward(slices.Clone(sn.rules)) {
		if !r.matches(call) {
			continue
		}
		e.delay += r.Delay
		if r.Spread > 0 {
			e.delay += time.Duration(sn.chance.Int64N(2*int64(r.Spread)+1)) - r.Spread
		}
		if e.err == nil {
			e.err = sn.fail(r)
		}
	}
	return e
}

// fail returns the error that r has for a call, or nil.
func (sn *scene) fail(r *Rule) error {
	if len(r.Errs) == 0 {
		return nil
	}
	if r.Left > 0 {
		if r.Left--; r.Left == 0 {
			sn.rules = drop(sn.rules, r)
		}
	}
	return r.Errs[sn.chance.IntN(len(r.Errs))]
}
