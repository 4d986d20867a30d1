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

// costWindow is how many whole seconds [Cost] is averaged over.
const costWindow = 10

// A meter counts calls and bytes by the second, in real time: what plegtop
// costs a node does not depend on how fast its clock runs. Not safe for
// concurrent use.
type meter struct {
	began   time.Time
	seconds [costWindow + 1]meterSecond // by second modulo length
}

type meterSecond struct {
	second int64
	calls  uint64
	bytes  uint64
}

// add counts one call that returned at the real time now.
func (m *meter) add(now time.Time, bytes uint64) {
	second := m.second(now)
	slot := &m.seconds[second%int64(len(m.seconds))]
	if slot.second != second {
		*slot = meterSecond{second: second}
	}
	slot.calls++
	slot.bytes += bytes
}

// cost averages over the whole seconds before the present one; it is zero in
// the first second.
func (m *meter) cost(now time.Time) Cost {
	present := m.second(now)
	over := min(present, costWindow)
	if over == 0 {
		return Cost{}
	}
	var calls, bytes uint64
	for _, s := range m.seconds {
		if s.second < present && s.second >= present-over {
			calls += s.calls
			bytes += s.bytes
		}
	}
	return Cost{CallsPerSecond: float64(calls) / float64(over), BytesPerSecond: float64(bytes) / float64(over)}
}

func (m *meter) second(now time.Time) int64 { return int64(max(now.Sub(m.began), 0) / time.Second) }
