package engine

import (
	"slices"
	"time"
)

// historyLength is how many relists the sparkline reaches back.
const historyLength = 120

// A relistLog sums up the relists of all pods and knows when the next is due.
type relistLog struct {
	count, failed uint64
	last          time.Duration
	took          durations
	history       []Relist // never written to where a snapshot can see it
	interval      time.Duration

	ended     time.Time // of the last one; zero before
	nextAt    time.Time
	settledAt time.Time // end of the last one without a failed inspection
	phase     Phase     // how the last one went
}

// begin notes the start of a relist; good is the start of the last one whose
// lists succeeded, zero if there was none.
func (l *relistLog) begin(now, good time.Time) {
	if !good.IsZero() {
		l.interval = now.Sub(good)
	}
}

// end counts a relist that is over and took so long.
func (l *relistLog) end(r *relist, now time.Time, took time.Duration, failed bool) {
	l.ended = now
	l.count++
	if failed {
		l.failed++
	} else if r.failures == 0 {
		l.settledAt = now
	}
	l.last = took
	l.took.add(l.last)
	l.history = append(l.history, Relist{
		At: r.began, Took: l.last, List: r.listTook, Inspected: r.done, Failures: r.failures, Failed: failed,
	})
	l.history = l.history[max(0, len(l.history)-historyLength):]
	l.phase = Phase{Began: r.began, ListTook: r.listTook, Done: r.done, Total: r.done}
}

// schedule sets the next relist one period after the end of the last one.
func (l *relistLog) schedule(period time.Duration) {
	if !l.ended.IsZero() {
		l.nextAt = l.ended.Add(period)
	}
}

func (l *relistLog) relists() Relists {
	p50, _, p99 := l.took.quantiles()
	return Relists{
		Count: l.count, Failed: l.failed, Last: l.last,
		P50: p50, P99: p99, Max: l.took.max,
		History: slices.Clip(l.history), Interval: l.interval,
	}
}
