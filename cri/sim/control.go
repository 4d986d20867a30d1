package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/cri/sim/script"
)

// Faults returns all faults and whether they are on, in a fixed order.
func (s *Server) Faults() []script.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []script.Fault
	for _, sc := range scenarios() {
		if sc.wrong != "" {
			all = append(all, script.Fault{Name: sc.name, Summary: sc.wrong, On: s.scene.undo[sc.name] != nil})
		}
	}
	return all
}

// AddRule has calls go wrong as the rule says, from now on until end is called. What it held
// is answered then. Ending it twice does no harm.
func (s *Server) AddRule(r Rule) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	remove := s.scene.addRule(r)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		remove()
	}
}

// Calls returns the last 10,000 calls that came in, oldest first, those that
// failed or are still held included.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return newest(s.calls)
}

// AwaitHeld waits until exactly n of the calls that are held match m, which
// they do from when they came in until they were released or given up.
func (s *Server) AwaitHeld(ctx context.Context, m Match, n int) error {
	for {
		s.mu.Lock()
		held, moved := 0, s.moved
		for _, c := range s.held {
			if m.matches(c) {
				held++
			}
		}
		s.mu.Unlock()
		if held == n {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d held calls, have %d: %w", n, held, ctx.Err())
		}
	}
}

// The speeds that a script can have.
const (
	MinSpeed = 0.25
	MaxSpeed = 8
)

// limit returns the speed at which the scenario can go that is nearest to the one
// given. One that has a clock of its own is about how long the kubelet waits, and
// would be over before that if it went faster than the clock.
func (sc scenario) limit(speed float64) float64 {
	most := float64(MaxSpeed)
	if sc.speed != 0 {
		most = 1
	}
	return min(max(speed, MinSpeed), most)
}

// State returns how far the scenario is.
func (s *Server) State() script.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	sn := s.scene
	acts := sn.scenario.acts()
	on, next := sn.act(sn.pace.scriptAt(s.Now()))
	p := script.State{
		Scenario: sn.scenario.name, Frozen: sn.pace.frozen, Speed: sn.pace.speed,
		Act: on, Acts: len(acts), Next: s.Real(time.Duration(float64(next) / sn.pace.speed)), Faults: len(sn.undo),
	}
	if on > 0 {
		p.Caption = acts[on-1].caption
	}
	return p
}

// Freeze has the script stand still, or go on from there. The clock goes on, calls
// are answered, and what a fault does to calls it still does. It returns at once, as
// do the other methods that direct the script; the socket and the node's files follow
// within moments.
func (s *Server) Freeze(frozen bool) {
	s.direct(func() { s.scene.setPace(s.scene.pace.speed, frozen) })
}

// Step freezes the script and has happen now whatever in it is the next that calls or
// the node would show. It says what that was, and reports whether there was any.
func (s *Server) Step() (what string, moved bool) {
	s.direct(func() {
		sn := s.scene
		was, _ := sn.act(sn.now)
		moved = sn.step()
		what = sn.last.String()
		if on, _ := sn.act(sn.now); what == "" && on != was && on > 0 { // a fault, which is what the act is about
			what = sn.scenario.acts()[on-1].caption.What
		}
	})
	return what, moved
}

// SetSpeed has the script go so many times as fast as the server's clock, which
// stays as it is. It is cut to [MinSpeed] and [MaxSpeed], or to 1 in a scenario that
// is about how long the kubelet waits.
func (s *Server) SetSpeed(times float64) {
	s.direct(func() { s.scene.setPace(s.scene.scenario.limit(times), s.scene.pace.frozen) })
}

// SetFault switches a fault on or off. A name that is not among Faults changes nothing.
func (s *Server) SetFault(fault string, on bool) {
	s.direct(func() { _ = s.scene.set(fault, on) })
}

// Restart plays the scenario from its beginning. Pods that are as they were then
// stay, and all others are replaced; the faults that are on end.
func (s *Server) Restart() { s.Next(0) }

// Next plays the scenario that is so many places further in the list of [Scenarios],
// or back; the list goes round. The server's clock goes on at the pace of that one.
func (s *Server) Next(places int) {
	s.direct(func() {
		before := s.scene.scenario.name
		fit := slices.DeleteFunc(scenarios(), func(sc scenario) bool { return sc.keys == "" && sc.name != before })
		at := slices.IndexFunc(fit, func(sc scenario) bool { return sc.name == before })
		s.begin(fit[((at+places)%len(fit)+len(fit))%len(fit)])
	})
}

// begin plays another scenario. The clock goes on from what it shows, at the pace that
// this one wants.
func (s *Server) begin(sc scenario) {
	if c, speed := s.clock.Load(), s.config.speed(sc); c.speed != speed {
		now := time.Now()
		s.clock.Store(&clock{shows: c.then(now), at: now, speed: speed})
	}
	s.scene = newScene(sc, s.config.Seed, s.scene.clock, s.scene)
}

// direct changes what is to come, without waiting for the wire and the node.
func (s *Server) direct(change func()) {
	s.change(change)
	s.look()
}

// A PodSpec is a pod for [Server.AddPod].
type PodSpec struct {
	Namespace, Name string
	Age             time.Duration // how long ago it was created
	Containers      []string      // by name; all run
}

// A Pod says what [Server.AddPod] made.
type Pod struct {
	UID        string
	Sandbox    string            // its id
	Containers map[string]string // ids by name
}

// AddPod puts a pod on the node, at once and complete. The kubelet keeps its
// hands off it: it changes only by ExitContainer and RemovePod, in any scenario.
func (s *Server) AddPod(spec PodSpec) Pod {
	made := Pod{Containers: map[string]string{}}
	s.edit(func() {
		w := s.scene.world
		born := w.clock.Add(-spec.Age)
		p := w.newPod(podSpec{namespace: spec.Namespace, name: spec.Name, manual: true})
		made.UID, made.Sandbox = p.uid, w.newSandbox(p, 0, born).status.Id
		for _, name := range spec.Containers {
			c := w.newContainer(p, &containerSpec{name: name, image: imageApp}, born)
			w.run(c, born)
			made.Containers[name] = c.status.Id
		}
	})
	return made
}

// ExitContainer ends a running container, with a reason and a message that may be empty.
// It fails for one that does not run.
func (s *Server) ExitContainer(id string, code int32, reason, message string) error {
	var err error
	s.edit(func() {
		w := s.scene.world
		switch c := w.containerOf[id]; {
		case c == nil:
			err = errors.New("no such container")
		case !c.runs():
			err = fmt.Errorf("it is %v", c.status.State)
		default:
			w.exitContainer(c, exit{code, reason, message})
		}
	})
	if err != nil {
		return fmt.Errorf("end container %s: %w", id, err)
	}
	return nil
}

// RemovePod takes all of a pod off the node at once; one that is not there, it leaves so.
func (s *Server) RemovePod(uid string) {
	s.edit(func() {
		if p := s.scene.world.pod(uid); p != nil {
			s.scene.world.removePod(p)
		}
	})
}
