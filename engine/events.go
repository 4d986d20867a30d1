package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// An Event is a [pleg.Event] as a person reads it: numbered, with the moment at
// which the relist saw it and, where the runtime's own timestamps allow, how
// long after the fact that was. Events are plain values and never change.
type Event struct {
	pleg.Event
	Seq    uint64    // 1 for the first event of this run, without gaps
	Mode   pleg.Mode // in which it was decided
	SeenAt time.Time // when anybody saw it first; if that was the relist, when the inspection that released it had succeeded

	// Lag is the time from what the runtime says happened (startedAt,
	// finishedAt, createdAt) to SeenAt. It means something only if HasLag: a
	// removal leaves no timestamp, and a clock step makes nonsense of one.
	Lag    time.Duration
	HasLag bool

	// AtStart says that the event is no news: what it reports was there before the
	// first relist, which could not but find it.
	AtStart bool

	// Seen says who saw it, as far as they had when it was released; nil where no event
	// source was on. SeenAt is then when it was seen first.
	Seen *sources.Sightings

	Reason string // the runtime's reason for a container's end, such as OOMKilled; not cleaned
}

// deathBetween is how far apart two lists may be, beside the period, for a death between them to
// be one of the present.
const deathBetween = 20 * time.Second

// release gives the events that the core has decided their numbers and times. It reports whether
// the core has decided any.
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

// reportUnseen makes events of what sources alone have seen.
func (m *Model) reportUnseen(unseen []sources.Unseen) {
	for _, u := range unseen {
		_, at := u.Seen.First()
		e := Event{Event: u.Event, SeenAt: at, Seen: &u.Seen, Reason: u.Reason}
		e.Lag, e.HasLag = lag(u.Happened, at, m.relists.First)
		m.emit(e)
	}
}

// judgeNetworks makes events of what became of the networks of new sandboxes.
func (m *Model) judgeNetworks() {
	for _, d := range m.networks.Advance(m.now, m.facts()) {
		m.emit(Event{Event: d, SeenAt: m.now})
	}
}

// emit adds an event to those that people see.
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

// death returns the end of a container that an event reports; nil if it is none whose time is
// known: a relist reports once more what it sees after all, what was dead when it was first seen
// may have been so for days, and what died since the last list long ago at any time since.
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

// containerOf returns the container that an event is about; nil if the runtime has none such.
func containerOf(e pleg.Event, find pleg.Lookup) *pleg.ContainerStatus {
	if e.Sandbox {
		return nil
	}
	return find.Container(e.ID)
}

// happened returns when, by the runtime's clock, what e reports took place;
// zero where nothing says so, as for the end of a sandbox. c is the container of e.
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

// date works out how late an event was seen that happened at a time, by the runtime's clock.
// Those of the first relist have no lag: what they report was so before we looked. So it is with
// what later relists find of a pod that could not be inspected.
func (m *Model) date(e *Event, at time.Time) {
	if e.AtStart {
		return
	}
	first := m.relists.First
	e.Lag, e.HasLag = lag(at, e.SeenAt, first)
	e.AtStart = e.From == pleg.Absent && !at.IsZero() && e.SeenAt.Sub(at) > e.SeenAt.Sub(first)
}

// lag returns the time from at, by the runtime's clock, to seen. It is none for
// what was so before the first list: that was not late, we were. Since how long
// we have looked is monotonic, the same test catches a clock that stepped.
func lag(at, seen, first time.Time) (time.Duration, bool) {
	took := seen.Sub(at)
	if at.IsZero() || took < -sources.Skew || took > seen.Sub(first) {
		return 0, false
	}
	return max(took, 0), true
}
