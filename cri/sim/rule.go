package sim

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A rule makes the calls that it matches go wrong in one way.
type rule struct {
	match  Match
	hold   chan struct{} // not nil: calls wait until it is closed
	delay  time.Duration
	spread time.Duration // delay is drawn from so much less to so much more
	spare  string        // a method whose calls pass all the same
	errs   []error       // not empty: calls fail with one of them
	odds   float64       // of failing, if there are errs
	left   int           // how many calls it is still good for, if there are errs; negative: any number
}

// An effect is what the rules have in store for one call, in this order.
type effect struct {
	holds []<-chan struct{}
	delay time.Duration
	err   error // in place of an answer
}

// A ruleSet is the rules in force. The zero value lets every call pass.
type ruleSet struct{ rules []*rule }

// add puts a rule in force and returns what ends it. Ending it lets go of the
// calls that it holds; doing so twice does no harm.
func (s *ruleSet) add(r *rule) (end func()) {
	s.rules = append(s.rules, r)
	return func() {
		before := len(s.rules)
		s.rules = drop(s.rules, r)
		if r.hold != nil && len(s.rules) < before {
			close(r.hold)
		}
	}
}

// decide returns what is to become of a call, and uses up the rules that are
// good for so many calls only. Rules added later fail a call first.
func (s *ruleSet) decide(call Call, rng *rand.Rand) effect {
	var e effect
	for _, r := range slices.Backward(slices.Clone(s.rules)) {
		if !r.match.matches(call) || r.spare != "" && r.spare == call.Method {
			continue
		}
		e.delay += r.draw(rng)
		if r.hold != nil {
			e.holds = append(e.holds, r.hold)
		}
		if e.err == nil {
			e.err = s.fail(r, rng)
		}
	}
	return e
}

// draw returns by how much r delays a call.
func (r *rule) draw(rng *rand.Rand) time.Duration {
	if r.spread == 0 {
		return r.delay
	}
	return r.delay - r.spread + time.Duration(rng.Int64N(2*int64(r.spread)+1))
}

// fail returns the error that r has for a call, or nil.
func (s *ruleSet) fail(r *rule, rng *rand.Rand) error {
	if len(r.errs) == 0 || r.odds < 1 && rng.Float64() >= r.odds {
		return nil
	}
	if r.left > 0 {
		if r.left--; r.left == 0 {
			s.rules = drop(s.rules, r)
		}
	}
	return r.errs[rng.IntN(len(r.errs))]
}
