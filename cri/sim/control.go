package sim

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

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

// Hang holds all calls that m matches, from now on, until release is called or
// their clients give up; released calls are then answered. Releasing twice does
// no harm.
func (s *Server) Hang(m Match) (release func()) {
	return s.addRule(rule{match: m, hangs: true})
}

// Fail lets the next calls that m matches fail, as many as times says, or all
// from now on if times is not positive, until undo is called.
func (s *Server) Fail(m Match, code codes.Code, text string, times int) (undo func()) {
	r := failing(m, code, text)
	if times > 0 {
		r.left = times
	}
	return s.addRule(r)
}

// Delay lets all calls that m matches take d longer, by the server's clock,
// until undo is called.
func (s *Server) Delay(m Match, d time.Duration) (undo func()) {
	return s.addRule(rule{match: m, delay: d})
}

func (s *Server) addRule(r rule) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	remove := s.scene.addRule(r)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		remove()
	}
}

// Rewrite lets change have every answer that m matches before it is sent, for
// answers that no healthy runtime would give, until undo is called. An answer
// is the response of cri-api, or one event of a stream; change may do to it
// what it likes and must be safe for concurrent use. Texts have to stay valid
// UTF-8: gRPC fails the call otherwise, with Internal.
func (s *Server) Rewrite(m Match, change func(answer proto.Message)) (undo func()) {
	return s.addRule(rule{match: m, change: change})
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
