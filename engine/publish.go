package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// The longest real time between two snapshots.
const (
	heartbeat  = time.Second
	whileSlow  = 250 * time.Millisecond // while a call is slow: people watch its seconds
	firstFrame = 150 * time.Millisecond // before the first one: it is to hold the first relist
)

// A publisher decides when the next snapshot is made: at once if something changed,
// but not before the pace allows it; otherwise with the next heartbeat. The
// first one waits for the first relist, but not for long, so that the first that
// people see of their pods is whole wherever that is possible.
type publisher struct {
	seq  uint64
	news bool        // something changed since the last snapshot
	at   time.Time   // real time of the last snapshot; of the start before the first
	slow call.Flight // the oldest call, once it takes longer than a glance
	step Step        // in the last snapshot
}

// wait returns the real time until the next snapshot is due.
func (p *publisher) wait(real time.Time) time.Duration {
	rest := heartbeat
	switch {
	case p.seq == 0:
		rest = firstFrame
	case p.news:
		rest = pace
	case p.slow != call.Flight{}:
		rest = whileSlow
	}
	return max(rest-real.Sub(p.at), 0)
}

// hurry lets the next snapshot be made without regard to the pace.
func (p *publisher) hurry() { p.at = time.Time{} }

// publish makes a snapshot if it is time for one.
func (s *shell) publish() {
	p := &s.publisher
	now := s.clock.Now()
	if slow := s.slow(now); slow != p.slow {
		p.slow, p.news = slow, true
	}
	if p.seq == 0 && s.stands.Relisted {
		p.hurry()
	}
	if p.step != Waiting && !s.stands.Relisting {
		p.news = true
	}
	real := time.Now()
	if s.show == nil || p.wait(real) > 0 {
		return
	}
	p.seq++
	p.at, p.news = real, false
	s.askWorkers()
	snapshot := s.snapshot(s.clock.Now())
	p.step = snapshot.Phase.Step
	s.show(snapshot)
}

// publishLast makes a snapshot if there is something in it that readers would
// never get otherwise.
func (s *shell) publishLast() {
	if s.publisher.news {
		s.publisher.hurry()
		s.publish()
	}
}

// slow returns the call that has been out longest if that is long enough for
// people to be told.
func (s *shell) slow(now time.Time) call.Flight {
	f := s.stands.Oldest
	if f == (call.Flight{}) || s.clock.Real(f.Elapsed(now)) < glance {
		return call.Flight{}
	}
	return f
}
