package engine

import "time"

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
