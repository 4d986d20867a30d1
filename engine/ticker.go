package engine

import "time"

const (
	// heartbeat is the longest real time between two ticks.
	heartbeat = time.Second
	// whileLate is the same while a call is out for longer than glance: people watch its seconds.
	whileLate = 250 * time.Millisecond
	// firstFrame is how long the first snapshot waits for the first relist, so that people see all
	// their pods in it if possible.
	firstFrame = 150 * time.Millisecond
	// glance is how long a call must be out, in real time, to be worth a snapshot.
	glance = 100 * time.Millisecond
	// spin is the least real time between two looks at the clock.
	spin = time.Millisecond
	// atEnd is how long [Engine.Run] waits, in real time, for calls that do not return although
	// they were canceled.
	atEnd = 500 * time.Millisecond
)

// A ticker says when the next snapshot is due: soon after something changed, but not before the
// pace allows it, otherwise with the next heartbeat.
type ticker struct {
	ticks uint64
	at    time.Time // real time of the last tick; before the first tick, that of the start
	late  bool      // at the last tick a call was out for more than a glance
	step  Step      // in the last snapshot
}

// wait returns the real time until the next tick.
func (t *ticker) wait(m *Model, late bool, real time.Time) time.Duration {
	rest := heartbeat
	switch {
	case t.ticks == 0 && !m.relistedOnce():
		rest = firstFrame
	case t.ticks == 0:
		return 0
	case m.news || late != t.late || (t.step == Listing || t.step == Inspecting) && !m.relisting():
		rest = pace
	case late:
		rest = whileLate
	}
	return max(rest-real.Sub(t.at), 0)
}

func (t *ticker) ticked(s *Snapshot, late bool, real time.Time) {
	t.ticks++
	t.at, t.late, t.step = real, late, s.Phase.Step
}

// late reports whether a call has been out for more than a glance.
func (h *hub) late(now time.Time) bool {
	oldest := h.model.calls.Flights()
	return len(oldest) > 0 && h.config.Clock.Real(oldest[0].Elapsed(now)) >= glance
}

// costWindow is the number of whole seconds over which [Cost] is averaged.
const costWindow = 10

// A meter counts calls and bytes by the second, in real time: the cost of plegtop for a node does
// not depend on the speed of the engine's clock.
type meter struct {
	began   time.Time
	seconds [costWindow + 1]meterSecond // by second modulo length
}

type meterSecond struct {
	second int64
	calls  uint64
	bytes  uint64
}

// add counts one call that returned.
func (m *meter) add(now time.Time, bytes uint64) {
	second := m.second(now)
	slot := &m.seconds[second%int64(len(m.seconds))]
	if slot.second != second {
		*slot = meterSecond{second: second}
	}
	slot.calls++
	slot.bytes += bytes
}

// cost returns the average over the whole seconds before the present one; zero in the first second.
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
