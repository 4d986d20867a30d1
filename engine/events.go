package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// An Event is a [pleg.Event] as a person reads it. It has a number, and says when it was seen. If
// the runtime's own timestamps allow that, it also says how late that was. Events are plain values
// and never change.
type Event struct {
	pleg.Event
	Seq  uint64    // 1 for the first event of this run, without gaps
	Mode pleg.Mode // the mode in which it was decided
	// SeenAt is when anybody first saw it. If that was the relist, it is when the inspection that
	// released it had succeeded.
	SeenAt time.Time

	// Lag is the time from the runtime's timestamp of what happened (startedAt, finishedAt,
	// createdAt) to SeenAt. It is valid only if HasLag: a removal leaves no timestamp, and a clock
	// step makes one useless.
	Lag    time.Duration
	HasLag bool

	// AtStart says that the event is no news: the state that it reports is older than the first
	// relist.
	AtStart bool

	// Seen says which sources had seen it when it was released; SeenAt is the first of their times.
	// It is nil if no event source was on.
	Seen *sources.Sightings

	Reason string // the runtime's reason for a container's end, such as OOMKilled; not cleaned
}

// deathBetween is how much longer than the period the interval between two lists may be, so that a
// death between them still counts as recent.
const deathBetween = 20 * time.Second

// release gives numbers and times to the events that the core has decided. It reports whether there
// were any.
func (m *Model) release() bool {
	decided := m.core.Released()
	var known *pleg.PodStatus
	var find pleg.Lookup // in known
	for _, d := range decided {
		m.channel.count(d.Delivery)
		if d.Delivery == pleg.Discarded && m.relistedOnce() { // what the first relist finds was there before
			m.memory.Lost(d, m.now)
		}
		if !m.start.Workers && !m.start.Once {
			m.workers.Send(d)
		}
		e := Event{Event: d, SeenAt: m.now, AtStart: d.At.Equal(m.relists.First)}
		var at time.Time
		ran := d.From == pleg.Running
		if st, err := m.core.Cache().Get(d.Pod.UID); err == nil && st != nil {
			if st != known {
				known, find = st, st.Lookup()
			}
			c := containerOf(d, find)
			at = happened(d, st, c)
			ran = ran || c != nil && !c.StartedAt.IsZero()
			if c != nil && d.Kind == pleg.Died {
				e.Reason = c.Reason
			}
		}
		m.date(&e, at)
		var unseen []sources.Unseen
		e.Seen, unseen = m.sources.Released(m.now, e.Event, e.AtStart, ran, m.facts())
		m.reportUnseen(unseen)
		if _, first := e.Seen.First(); !first.IsZero() {
			e.SeenAt = first
			m.date(&e, at)
		}
		m.emit(e)
	}
	return decided != nil
}

// reportUnseen makes events of the transitions that only event sources have seen.
func (m *Model) reportUnseen(unseen []sources.Unseen) {
	for _, u := range unseen {
		_, at := u.Seen.First()
		e := Event{Event: u.Event, SeenAt: at, Seen: &u.Seen, Reason: u.Reason}
		e.Lag, e.HasLag = lag(u.Happened, at, m.relists.First)
		m.emit(e)
	}
}

// judgeNetworks makes events that say whether the networks of new sandboxes were set up.
func (m *Model) judgeNetworks() {
	for _, d := range m.networks.Advance(m.now, m.facts()) {
		m.emit(Event{Event: d, SeenAt: m.now})
	}
}

// emit adds an event to the events that people see.
func (m *Model) emit(e Event) {
	m.lastEvent++
	e.Seq, e.Mode = m.lastEvent, m.sources.Mode.Mode
	m.released = append(m.released, e)
	m.news = true
	if e.Delivery == pleg.Derived {
		return
	}
	m.pods.event(e, m.death(&e))
	m.networks.Released(m.now, e.Event, e.AtStart, m.sources.Saw(e.ID, pleg.Started), m.facts())
}

// death returns the death of a container that an event reports; nil if there is none, or if its
// time is unknown. An unseen event does not count: a relist that sees it after all reports it once
// more. Without a timestamp, a container that was dead when first seen may have died days ago.
// After a long interval between two lists, a death may be old, too.
func (m *Model) death(e *Event) *past.Death {
	if e.Kind != pleg.Died || e.Sandbox || e.Delivery == pleg.Unseen || !e.HasLag && (e.From == pleg.Absent || m.relists.Interval > deathBetween+m.start.Period) {
		return nil
	}
	d := past.Death{Container: e.Container, ID: e.ID, At: e.SeenAt, Known: e.Exited, ExitCode: e.ExitCode, Reason: e.Reason}
	if e.HasLag {
		d.At = e.SeenAt.Add(-e.Lag)
	}
	return &d
}

// count counts an event by its delivery.
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

// containerOf returns the container that an event is about; nil if the runtime does not have it.
func containerOf(e pleg.Event, find pleg.Lookup) *pleg.ContainerStatus {
	if e.Sandbox {
		return nil
	}
	return find.Container(e.ID)
}

// happened returns when the change that e reports took place, by the runtime's clock. It is zero if no
// timestamp shows that, as for the end of a sandbox. c is the container of e.
func happened(e pleg.Event, st *pleg.PodStatus, c *pleg.ContainerStatus) time.Time {
	switch {
	case e.Sandbox:
		return sandboxReady(e, st)
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

// date sets how late an event was seen. at is when it happened, by the runtime's clock. An event of
// the first relist has no lag: its state is older than our first look. The same holds if a later
// relist finds such a state, in a pod that could not be inspected before.
func (m *Model) date(e *Event, at time.Time) {
	if e.AtStart {
		return
	}
	first := m.relists.First
	e.Lag, e.HasLag = lag(at, e.SeenAt, first)
	e.AtStart = e.From == pleg.Absent && !at.IsZero() && e.SeenAt.Sub(at) > e.SeenAt.Sub(first)
}

// lag returns the time from at, by the runtime's clock, to seen. It returns false if at is before
// the first list: the event was not seen late, we came late. The time since the first list is
// monotonic, so the same test catches a clock that stepped.
func lag(at, seen, first time.Time) (time.Duration, bool) {
	took := seen.Sub(at)
	if at.IsZero() || took < -sources.Skew || took > seen.Sub(first) {
		return 0, false
	}
	return max(took, 0), true
}
