package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// skew is how far the runtime's stamps may lie in the future: it rounds, and
// its clock is read before ours.
const skew = 2 * time.Second

// release gives the events that the core has decided their numbers and times
// and hands them to the readers. It reports whether there were any.
func (d *driver) release(now time.Time) bool {
	events := d.core.Released()
	if events == nil {
		return false
	}
	d.press.dirty = true
	for _, decided := range events {
		e := Event{Event: decided, SeenAt: now}
		if st, err := d.core.Cache().Get(decided.Pod.UID); err == nil && st != nil {
			e.Reason = reason(decided, st)
			e.Lag, e.HasLag = d.lag(decided, st, now)
		}
		d.channel.count(decided.Delivery)
		e = d.board.add(e)
		d.pods.event(e)
	}
	return true
}

// count counts an event by what became of it.
func (c *Channel) count(delivery pleg.Delivery) {
	switch delivery {
	case pleg.Delivered:
		c.Delivered++
	case pleg.Filtered:
		c.Filtered++
	case pleg.Discarded:
		c.Discarded++
	}
}

// reason returns why a container ended, where the runtime says so.
func reason(e pleg.Event, st *pleg.PodStatus) string {
	if c := containerOf(e, st); c != nil && e.Kind == pleg.Died {
		return c.Reason
	}
	return ""
}

func containerOf(e pleg.Event, st *pleg.PodStatus) *pleg.ContainerStatus {
	for i := range st.Containers {
		if !e.Sandbox && st.Containers[i].ID == e.ID {
			return &st.Containers[i]
		}
	}
	return nil
}

// happened returns when, by the runtime's clock, what e reports took place;
// zero where nothing says so, as for the end of a sandbox.
func happened(e pleg.Event, st *pleg.PodStatus) time.Time {
	if e.Sandbox {
		return sandboxReady(e, st)
	}
	c := containerOf(e, st)
	switch {
	case c == nil:
		return time.Time{}
	case e.Kind == pleg.Started:
		return c.StartedAt
	case e.Kind == pleg.Died && e.To == pleg.Exited:
		return c.FinishedAt
	case e.Kind == pleg.Changed && e.From == pleg.Absent && c.State == pleg.Created:
		return c.CreatedAt
	}
	return time.Time{}
}

func sandboxReady(e pleg.Event, st *pleg.PodStatus) time.Time {
	for i := range st.Sandboxes {
		if st.Sandboxes[i].ID == e.ID && e.Kind == pleg.Started && e.From == pleg.Absent {
			return st.Sandboxes[i].CreatedAt
		}
	}
	return time.Time{}
}

// lag returns how late an event was seen. Those of the first relist have no
// lag: what they report was so before we looked.
func (d *driver) lag(e pleg.Event, st *pleg.PodStatus, seen time.Time) (time.Duration, bool) {
	if e.At.Equal(d.first) {
		return 0, false
	}
	return lag(happened(e, st), seen, d.first)
}

// lag returns the time from at, by the runtime's clock, to seen. It is none for
// what was so before the first list: that was not late, we were. Since how long
// we have looked is monotonic, the same test catches a clock that stepped.
func lag(at, seen, first time.Time) (time.Duration, bool) {
	took := seen.Sub(at)
	if at.IsZero() || took < -skew || took > seen.Sub(first) {
		return 0, false
	}
	return max(took, 0), true
}
