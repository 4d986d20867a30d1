package sim

import (
	"context"
	"fmt"

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
