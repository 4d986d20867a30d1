package lines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

const (
	// openBy is how long a period and a source have for their first relist and to open
	// the stream, beyond which they are not measured.
	openBy = 15 * time.Second
	// mostTold is how many transitions are looked at: more make no better figure.
	mostTold = 100_000
)

// A transition is what an event source and the relist may both see.
type transition struct {
	id   string
	kind pleg.Kind
}

// A mark is where all that grows stood at one moment.
type mark struct {
	at      time.Time // by the engine's clock
	real    time.Time
	cpu     time.Duration // of this process
	calls   uint64
	relists engine.Relists
	drift   sources.Drift // of the source
}

// A measurement is how one period does with one source. It begins when the first relist
// is over and the stream is open. With no source the others are opened after half of the
// time, as referees: what costs are said is then over, and what they alone see was missed.
type measurement struct {
	o          *BenchOptions
	period     time.Duration
	source     sources.Source
	setStreams func(...sources.Source)
	why        string      // it could not be measured; empty if it could
	stopped    atomic.Bool // for a while, by ^z

	last     *engine.Snapshot
	start    mark
	paid     mark // where the costs end
	end      mark
	runtime  float64                  // cores that the runtime took from start to paid; below 0 where nobody can tell
	told     map[transition]time.Time // by a source or the relist, and when
	alone    map[transition]time.Time // by the referees alone, so far; nil before they are open
	seen     uint64                   // transitions
	judged   uint64                   // of them were seen while there were referees
	lags     []time.Duration          // of those that say when they were
	tooMany  uint64                   // events that came too fast for us
	referees []sources.Source         // that are open
	when     string                   // of a recording that has other times as well; else empty
}

// follow reads what the engine sees until the time is over, or ctx ends.
func (m *measurement) follow(ctx context.Context, eng *engine.Engine, progress func()) error {
	m.setStreams = eng.SetStreams
	defer m.finish(ctx)
	for feed := eng.Feed(); ; progress() {
		u, err := feed.Next(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, engine.ErrStopped):
			return nil
		case err != nil:
			return err
		case m.take(ctx, u):
			return nil
		}
	}
}

// take takes in an update, and reports whether it was the last one that is needed.
func (m *measurement) take(ctx context.Context, u engine.Update) (over bool) {
	m.last = u.Snapshot
	if m.start.at.IsZero() {
		m.begin(ctx)
		return m.why != ""
	}
	m.tooMany += u.Lost
	for _, e := range u.Events {
		m.event(e)
	}
	m.referee(ctx)
	return m.elapsed() >= m.o.For
}

// begin waits for the first relist and the stream, and then begins.
func (m *measurement) begin(ctx context.Context) {
	s := m.last
	open, why := m.open()
	switch late := s.At.Sub(s.Started) > openBy; {
	case why != "":
		m.why = why
	case s.Health.ListedAt.IsZero() && late:
		m.why = fmt.Sprintf("no relist of all pods within %v", openBy)
	case !open && late:
		m.why = fmt.Sprintf("the stream was not open within %v", openBy)
		if err := m.state(m.source).LastErr; err != "" {
			m.why += ": " + err
		}
	case open && !s.Health.ListedAt.IsZero() && s.Phase.Step != engine.Inspecting:
		m.runtime = -1
		m.look(ctx)
		m.start = m.mark()
	}
}

// open reports whether the source is, or why it never will be.
func (m *measurement) open() (open bool, why string) {
	if m.source == sources.FromRelist {
		return true, ""
	}
	s := m.state(m.source)
	switch {
	case s.State == sources.StreamConnected:
		return true, ""
	case s.State.Over():
		return false, fmt.Sprintf("%v %v: %s", s.Source, s.State, s.Reason)
	}
	return false, ""
}

func (m *measurement) state(of sources.Source) sources.SourceState {
	if s := m.last.Stream(of); s != nil {
		return *s
	}
	return sources.SourceState{Source: of, State: sources.StreamRefused, Reason: "there is none"}
}

// look returns what the runtime has taken since the look before, in cores; below 0 where
// nobody can tell.
func (m *measurement) look(ctx context.Context) float64 {
	if m.o.Look == nil {
		return -1
	}
	r, err := m.o.Look(ctx, engine.Looking{})
	if err != nil {
		return -1
	}
	return coresOfRuntime(r)
}

// coresOfRuntime returns what a look says that the runtime takes; below 0 where it does not.
func coresOfRuntime(r *evidence.Report) float64 {
	cores := -1.0
	for _, u := range r.Usage {
		if u.Name != "kubelet" && u.Name != "plegtop" && u.CPU >= 0 {
			cores = max(cores, 0) + float64(u.CPU)
		}
	}
	return cores
}

func (m *measurement) mark() mark {
	k := mark{at: m.last.At, real: time.Now(), cpu: ownCPU(), relists: m.last.Relists}
	for _, c := range m.last.Calls {
		k.calls += c.Count
	}
	for _, d := range m.last.Drift {
		if d.Source == m.source {
			k.drift = d
		}
	}
	return k
}

func (m *measurement) elapsed() time.Duration { return m.last.At.Sub(m.start.at) }

func (m *measurement) progress() string {
	if m.start.at.IsZero() {
		return "waits for its first relist"
	}
	return fmt.Sprintf("%v of %v, %d transitions", m.elapsed().Round(time.Second), m.o.For, m.seen)
}

// others are the sources that referee where there is none.
func (m *measurement) others() []sources.Source {
	if m.source != sources.FromRelist {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.o.Sources), func(s sources.Source) bool { return s == sources.FromRelist })
}

// referee opens the other sources after half of the time.
func (m *measurement) referee(ctx context.Context) {
	others := m.others()
	if len(others) == 0 || m.elapsed() < m.o.For/2 {
		return
	}
	if m.paid.at.IsZero() {
		m.pay(ctx)
		m.setStreams(others...)
		return
	}
	m.hear(others)
}

// hear has those of the other sources that are open be referees from now on.
func (m *measurement) hear(others []sources.Source) {
	for _, s := range others {
		if m.state(s).State == sources.StreamConnected && !slices.Contains(m.referees, s) {
			m.referees = append(m.referees, s)
		}
	}
	if m.alone == nil && len(m.referees) > 0 {
		m.alone = map[transition]time.Time{}
	}
}

// pay ends what counts as costs.
func (m *measurement) pay(ctx context.Context) {
	m.paid = m.mark()
	m.runtime = m.look(ctx)
}

// lastLook is how long the last look may take, also where all is to end.
const lastLook = 300 * time.Millisecond

// finish ends the measurement.
func (m *measurement) finish(ctx context.Context) {
	if m.start.at.IsZero() {
		return
	}
	if m.paid.at.IsZero() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
		defer cancel()
		m.pay(ctx)
	}
	m.end = m.mark()
}

// event takes in a transition.
func (m *measurement) event(e engine.Event) {
	if e.Kind > pleg.Removed || e.Delivery == pleg.Derived || e.AtStart || e.SeenAt.Before(m.start.at) || len(m.told) >= mostTold {
		return
	}
	t := transition{e.ID, e.Kind}
	if e.Delivery == pleg.Unseen && (m.source == sources.FromRelist || e.Seen.At[m.source].IsZero()) {
		if m.alone != nil && len(m.alone) < mostTold {
			m.alone[t] = e.SeenAt
		}
		return
	}
	delete(m.alone, t)
	if at, told := m.told[t]; told && at.Equal(e.SeenAt) {
		return // a source alone had seen it, and now the relist has too
	}
	m.told[t] = e.SeenAt
	m.seen++
	if m.alone != nil {
		m.judged++
	}
	if e.HasLag {
		m.lags = append(m.lags, e.Lag+m.behind(e))
	}
}

// behind returns how much later than it was first seen e was seen by the source, or by the relist.
func (m *measurement) behind(e engine.Event) time.Duration {
	if e.Seen == nil {
		return 0
	}
	by := sources.Sightings{}
	by.At[m.source], by.At[sources.FromRelist] = e.Seen.At[m.source], e.Seen.At[sources.FromRelist]
	if _, at := by.First(); !at.IsZero() {
		return at.Sub(e.SeenAt)
	}
	return 0
}

// missed returns how many transitions were not seen by whom this measures, of how many,
// and false where nobody else looked. Of what happened after the last good list began
// nobody can say yet that the relist has missed it.
func (m *measurement) missed() (missed, of uint64, known bool) {
	if m.source != sources.FromRelist {
		d, before := m.end.drift, m.start.drift
		return d.MissedBySource - before.MissedBySource, d.Transitions - before.Transitions, !m.end.at.IsZero()
	}
	for _, at := range m.alone {
		if at.Before(m.last.Health.ListedAt) {
			missed++
		}
	}
	return missed, missed + m.judged, m.alone != nil
}
