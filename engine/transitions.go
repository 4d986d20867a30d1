package engine

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// deathBetween is how far apart two lists may be, beside the period, for a death between
// them to be one of the present.
const deathBetween = 20 * time.Second

// transitions keeps the ledger of who saw which step of which container or sandbox, and
// reports from it what event sources alone have seen.
type transitions struct {
	passive
	ledger.Ledger
}

// facts returns what the ledger goes by in this step.
func (m *machine) facts() ledger.Facts {
	f := ledger.Facts{
		Now: m.now, Records: &m.pods,
		Listed: m.core.ListedAt(), ListedBefore: m.listedBefore(),
		Period: m.period, Lists: m.known.UsualList,
		Paused: m.pause.on, Resumed: m.pause.ended,
	}
	for i := range m.sources.all {
		s := &m.sources.all[i]
		w := ledger.Watch{Open: s.running || !s.watching.IsZero(), Since: s.watching}
		if s.state.State == StreamConnected {
			w.Connected = s.state.Since
		}
		f.Watches[s.stream.Source] = w
	}
	return f
}

func (t *transitions) advance(m *machine) {
	f := m.facts()
	t.Advance(&f)
	t.left(m)
	if len(m.sources.all) > 0 {
		t.Sample(m.now)
	}
	t.report(m)
}

func (t *transitions) due(m *machine) time.Time {
	f := m.facts()
	return t.Due(&f)
}

// released takes in an event of the core, and returns who saw it.
func (t *transitions) released(m *machine, e Event, happened time.Time, ran bool) *ledger.Sightings {
	f := m.facts()
	seen := t.Release(&f, &ledger.Release{Event: e.Event, AtStart: e.AtStart, Happened: happened, Ran: ran})
	t.report(m)
	return seen
}

// listed takes in that a relist of all pods is over whose lists succeeded.
func (t *transitions) listed(m *machine, began time.Time) {
	f := m.facts()
	t.Listed(&f, began)
	t.report(m)
}

// report makes events of what sources alone have seen.
func (t *transitions) report(m *machine) {
	for _, u := range t.Take() {
		_, at := u.Seen.First()
		e := Event{Event: u.Event, SeenAt: at, Seen: &u.Seen, Reason: u.Reason}
		e.Lag, e.HasLag = lag(u.Said, at, m.relists.first)
		m.tell(e)
	}
}

// death returns the end of a container that an event reports; nil if it is none whose time
// is known: a relist reports once more what it sees after all, what was dead when it was
// first seen may have been so for days, and what died since the last list long ago at any
// time since.
func (m *machine) death(e *Event) *ledger.Death {
	if e.Kind != pleg.Died || e.Sandbox || e.Delivery == pleg.Unseen || !e.HasLag && (e.From == pleg.Absent || m.relists.interval > deathBetween+m.period) {
		return nil
	}
	d := ledger.Death{Container: e.Container, ID: e.ID, At: e.SeenAt, Known: e.Exited, ExitCode: e.ExitCode, Reason: e.Reason}
	if e.HasLag {
		d.At = e.SeenAt.Add(-e.Lag)
	}
	return &d
}

// left takes in which sandboxes are listed no more, by any pod.
func (t *transitions) left(m *machine) {
	slices.Sort(m.pods.left) // a map has had them
	for _, id := range m.pods.left {
		if !m.pods.lists(id) {
			t.Leaves(id, m.now)
		}
	}
	m.pods.left = nil
}

func (t *transitions) fill(m *machine, s *Snapshot) {
	s.Gone, s.UnseenMore = t.Gone(s.At), t.Uncounted()
	for i := range m.sources.all {
		if by := m.sources.all[i].stream.Source; m.sources.all[i].opened {
			s.Drift = append(s.Drift, t.Drift(by))
			s.DriftLately = append(s.DriftLately, t.Window(by, s.At))
		}
	}
}
