package engine

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// lasting is how long a stream must have been open to be called connected: gRPC
	// confirms nothing on a silent one.
	lasting = time.Second
	// A stream that breaks is opened again at once nearly, then after twice as long each
	// time, up to mostBackOff; so rarely, too, one that the runtime has not enabled.
	leastBackOff = 100 * time.Millisecond
	mostBackOff  = time.Minute

	changesKept = 64 // of all sources
)

// sources decides of each event source when its stream is opened and ended. No source
// ever has two streams.
type sources struct {
	passive
	all     []source // in the order of [Config.Streams]
	held    bool     // all are closed for a while
	changes []SourceChange
	chance  *rand.Rand // of the back-off; begins the same with the same start
}

// A source is one event source.
type source struct {
	stream   Stream
	state    SourceState
	told     SourceChange // the last change of it
	wanted   bool
	asked    bool // by people, not by the mode alone: it observes also when that fell back
	running  bool // its stream is open, or was not heard to have ended
	ending   bool // and is to end
	gaveUp   bool // for good, or until somebody wants it anew
	opened   bool // at least once
	worked   bool // a stream of it has lasted, or said something
	openedAt time.Time
	lastSaid time.Time // when its last event happened, by its clock
	watching time.Time // since when all that happens should be told; zero if it need not
}

func newSources(c Config, p answers.Policy, now time.Time) sources {
	s := sources{chance: rand.New(rand.NewPCG(uint64(now.UnixNano()), 1))}
	for _, stream := range c.Streams {
		modes := c.Mode != pleg.Generic && stream.Source == ledger.FromCRI
		s.all = append(s.all, source{
			stream: stream, asked: stream.On, wanted: (stream.On || modes) && !p.Once,
			state: SourceState{Source: stream.Source, Since: now},
		})
	}
	return s
}

// of returns a source; nil if there is none such.
func (l *sources) of(source ledger.Source) *source {
	for i := range l.all {
		if l.all[i].stream.Source == source {
			return &l.all[i]
		}
	}
	return nil
}

// want opens the sources that are named and closes all others.
func (l *sources) want(on []ledger.Source) {
	for i := range l.all {
		s := &l.all[i]
		s.wanted = slices.Contains(on, s.stream.Source)
		s.asked, s.gaveUp = s.wanted, false
	}
}

// due returns when a source is to be opened again, or has lasted; zero for never.
func (l *sources) due(*machine) time.Time {
	var due time.Time
	for i := range l.all {
		s := &l.all[i]
		if s.running && s.state.State == StreamOpening && !s.ending {
			due = sooner(due, s.openedAt.Add(lasting))
		}
		if s.wanted && !l.held && !s.running && !s.gaveUp {
			due = sooner(due, s.state.NextAt)
		}
	}
	return due
}

// advance opens and ends what is to be opened and ended.
func (l *sources) advance(m *machine) {
	for i := range l.all {
		l.all[i].advance(m)
	}
}

func (s *source) advance(m *machine) {
	wanted := s.wanted && !m.sources.held
	refused, waits := s.judge(m)
	switch {
	case s.ending:
	case s.running && (!wanted || s.gaveUp || refused != ""):
		s.ending = true
		m.work.Close = append(m.work.Close, s.stream.Source)
		if !s.gaveUp {
			s.turn(m, StreamEnding, refused)
		}
	case s.running && s.state.State == StreamOpening && !m.now.Before(s.openedAt.Add(lasting)):
		s.state.Tries, s.worked = 0, true
		if s.watching.IsZero() {
			s.watching = m.now
		}
		s.turn(m, StreamConnected, "")
	case s.running:
	case !wanted:
		s.rest(m, StreamOff, "")
	case s.gaveUp:
	case refused != "":
		s.rest(m, StreamRefused, refused)
	case waits:
		s.rest(m, StreamWaiting, "the runtime has not told its version yet")
	case m.now.Before(s.state.NextAt):
	default:
		s.open(m)
	}
}

// rest leaves a source without a stream until somebody wants it, or something is known.
func (s *source) rest(m *machine, state StreamState, reason string) {
	s.state.NextAt, s.state.Tries, s.watching = time.Time{}, 0, time.Time{}
	s.turn(m, state, reason)
}

func (s *source) open(m *machine) {
	s.running, s.opened, s.openedAt, s.state.NextAt = true, true, m.now, time.Time{}
	s.lastSaid = time.Time{}
	m.work.Open = append(m.work.Open, s.stream.Source)
	s.turn(m, StreamOpening, "")
}

// ended takes in that a stream is over.
func (l *sources) ended(m *machine, in StreamEnded) {
	s := l.of(in.Source)
	if s == nil || !s.running {
		return
	}
	ours := s.ending
	s.running, s.ending = false, false
	if ours {
		return // advance says what comes of it
	}
	notEnabled := in.Kind == call.ErrUnimplemented || in.Kind == call.ErrClosed && !s.worked
	s.state.Tries++
	s.state.NextAt = m.now.Add(l.backOff(s.state.Tries, notEnabled))
	if notEnabled {
		s.watching = time.Time{}
		s.turn(m, StreamNotEnabled, notEnabledReason(in))
	} else {
		s.state.LastErr = in.Text
		s.turn(m, StreamLost, s.state.LastErr)
	}
	if in.Source == ledger.FromCRI && m.streamBroke(in, notEnabled) {
		s.state.NextAt = m.now
	}
}

// backOff returns how long to wait for the next try, after so many in a row that did not
// last: by chance up to half as long, so that not all nodes come at once.
func (l *sources) backOff(tries int, notEnabled bool) time.Duration {
	d := mostBackOff
	if !notEnabled && tries < 10 {
		d = min(d, leastBackOff<<max(tries-1, 0))
	}
	return d - time.Duration(l.chance.Int64N(int64(d/2)))
}

// turn notes the state of a source, and tells of it where that is a change to people.
func (s *source) turn(m *machine, state StreamState, reason string) {
	if s.state.State == state && s.state.Reason == reason {
		return
	}
	s.state.State, s.state.Reason, s.state.Since = state, reason, m.now
	m.changed = true
	if !state.Told() || s.told.State == state && s.told.Reason == reason {
		return
	}
	l := &m.sources
	seq := uint64(1)
	if n := len(l.changes); n > 0 {
		seq += l.changes[n-1].Seq
	}
	s.told = SourceChange{Seq: seq, At: m.now, Source: s.stream.Source, State: state, Reason: reason}
	l.changes = append(l.changes, s.told) // never written to where a snapshot can see it
	l.changes = l.changes[max(0, len(l.changes)-changesKept):]
}

func (l *sources) fill(m *machine, s *Snapshot) {
	s.SourceChanges = l.changes
	for i := range l.all {
		state := l.all[i].state
		state.Unknown = m.transitions.Unknown(state.Source)
		s.Sources = append(s.Sources, state)
	}
}
