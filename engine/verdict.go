package engine

import "time"

// A verdict is the kubelet's word on its PLEG, followed over time.
type verdict struct {
	healthy bool
	good    bool // there was a good relist
	since   time.Time
	flips   int
}

// take notes the verdict as of now and reports whether it changed.
func (v *verdict) take(now time.Time, healthy bool) bool {
	if v.healthy == healthy {
		return false
	}
	if v.good {
		v.flips++
	}
	v.healthy, v.good, v.since = healthy, true, now
	return true
}

// judge asks the core for its verdict, and with it whether the sync loop reads
// the events: those in the channel, and those that come before the next turn.
// Before the first good list there is nothing to read.
func (d *driver) judge(now time.Time) {
	healthy := d.core.Healthy(now) == nil
	if d.verdict.take(now, healthy) {
		d.press.dirty = true
	}
	reads := d.reader.reads(now, d.plegErr(now) == "")
	d.core.Attend(d.verdict.good && reads)
	if d.standing.take(now, d.node(now)) {
		d.press.dirty = true
	}
}

// verdictDue returns when PLEG becomes unhealthy if no list succeeds until
// then: just after the list's age has reached the threshold.
func (d *driver) verdictDue() time.Time {
	if !d.verdict.healthy {
		return time.Time{}
	}
	return d.core.ListedAt().Add(d.config.Threshold + 1)
}

func (d *driver) health(now time.Time) Health {
	h := Health{
		Healthy:   d.verdict.healthy,
		ListedAt:  d.core.ListedAt(),
		SettledAt: d.log.settledAt,
		Since:     d.verdict.since,
		Flips:     d.verdict.flips,
	}
	if h.Healthy && !d.paused && !h.ListedAt.IsZero() {
		h.UnhealthyAt = d.verdictDue()
	}
	if err := d.core.Healthy(now); err != nil {
		h.Verdict = err.Error()
	}
	return h
}
