package sim

import (
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
)

// A rule makes the calls that it matches go wrong in one way.
type rule struct {
	match  Match
	hangs  bool // calls wait until the rule ends
	delay  time.Duration
	spread time.Duration       // delay is drawn from so much less to so much more
	spare  string              // a method whose calls pass all the same
	errs   []error             // not empty: calls fail with one of them
	odds   float64             // of failing, if there are errs
	left   int                 // how many calls it is still good for, if there are errs; negative: any number
	change func(proto.Message) // of answers on their way out; may be nil

	ended chan struct{} // closed at the end, if calls hang
}

func (r *rule) matches(c Call) bool {
	return r.match.matches(c) && (r.spare == "" || r.spare != c.Method)
}

// An effect is what the rules have in store for one call, in this order.
type effect struct {
	holds []<-chan struct{}
	delay time.Duration
	err   error // in place of an answer
}

// addRule puts a rule in force and returns what ends it. Ending it lets go of the
// calls that it holds; doing so twice does no harm.
func (sn *scene) addRule(want rule) (end func()) {
	r := &want
	r.ended = make(chan struct{})
	sn.rules = append(sn.rules, r)
	return func() {
		before := len(sn.rules)
		if sn.rules = drop(sn.rules, r); r.hangs && len(sn.rules) < before {
			close(r.ended)
		}
	}
}

// decide returns what is to become of a call, and uses up the rules that are
// good for so many calls only. Rules added later fail a call first.
func (sn *scene) decide(call Call) effect {
	var e effect
	for _, r := range slices.Backward(slices.Clone(sn.rules)) {
		if !r.matches(call) {
			continue
		}
		e.delay += r.delay
		if r.spread > 0 {
			e.delay += time.Duration(sn.chance.Int64N(2*int64(r.spread)+1)) - r.spread
		}
		if r.hangs {
			e.holds = append(e.holds, r.ended)
		}
		if e.err == nil {
			e.err = sn.fail(r)
		}
	}
	return e
}

// fail returns the error that r has for a call, or nil.
func (sn *scene) fail(r *rule) error {
	if len(r.errs) == 0 || r.odds < 1 && sn.chance.Float64() >= r.odds {
		return nil
	}
	if r.left > 0 {
		if r.left--; r.left == 0 {
			sn.rules = drop(sn.rules, r)
		}
	}
	return r.errs[sn.chance.IntN(len(r.errs))]
}
