package engine

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/call"
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

	// backlogFor is within which time of its opening a stream tells what happened before.
	backlogFor = 2 * time.Second
	// mostBehind is how late the news of a source may be without its clock being wrong: a
	// runtime that was stopped tells the rest when it goes on.
	mostBehind = 30 * time.Minute
)

// sources decides of each event source when its stream is opened and ended. No source
// ever has two streams.
type sources struct {
	all     []source // in the order of [Config.Streams]
	held    bool     // all are closed for a while
	changes []SourceChange
	chance  *rand.Rand // of the back-off; begins the same with the same start

	open, end []Source // since the last step: for the shell
}

// A source is one event source.
type source struct {
	stream   Stream
	state    SourceState
	told     SourceChange // the last change of it
	wanted   bool
	running  bool // its stream is open, or was not heard to have ended
	ending   bool // and is to end
	gaveUp   bool // for good, or until somebody wants it anew
	opened   bool // at least once
	openedAt time.Time
	lastSaid time.Time // when its last event happened, by its clock
	watching time.Time // since when all that happens should be told; zero if it need not
}

func newSources(c Config, p Policy, now time.Time) sources {
	s := sources{chance: rand.New(rand.NewPCG(uint64(now.UnixNano()), 1))}
	for _, stream := range c.Streams {
		s.all = append(s.all, source{
			stream: stream, wanted: stream.On && !p.Once,
			state: SourceState{Source: stream.Source, Since: now},
		})
	}
	return s
}

// of returns a source; nil if there is none such.
func (l *sources) of(source Source) *source {
	for i := range l.all {
		if l.all[i].stream.Source == source {
			return &l.all[i]
		}
	}
	return nil
}

// want opens the sources that are named and closes all others.
func (l *sources) want(on []Source) {
	for i := range l.all {
		s := &l.all[i]
		s.wanted = slices.Contains(on, s.stream.Source)
		s.gaveUp = s.gaveUp && s.wanted
	}
}

// due returns when a source is to be opened again, or has lasted; zero for never.
func (l *sources) due() time.Time {
	var due time.Time
	for i := range l.all {
		s := &l.all[i]
		if s.running && s.state.State == StreamOpening && !s.ending {
			due = sooner(due, s.openedAt.Add(lasting))
		}
		if s.wanted && !l.held && !s.running {
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
	case s.running && (!wanted || refused != ""):
		s.ending = true
		m.sources.end = append(m.sources.end, s.stream.Source)
		s.turn(m, StreamEnding, refused)
	case s.running && s.state.State == StreamOpening && !m.now.Before(s.openedAt.Add(lasting)):
		s.state.Tries = 0
		if s.watching.IsZero() {
			s.watching = m.now
		}
		s.turn(m, StreamConnected, "")
		if s.stream.Source == FromCRI {
			m.streamUp()
		}
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
	m.sources.open = append(m.sources.open, s.stream.Source)
	s.turn(m, StreamOpening, "")
}

// heard takes in what a source has said.
func (l *sources) heard(m *machine, in Streamed) {
	s := l.of(in.Source)
	if s == nil {
		return
	}
	s.state.Lost += in.Lost
	if in.Source == FromCRI && in.Lost > 0 {
		m.streamLost()
	}
	for _, e := range in.Events {
		s.state.Received++
		s.state.LastAt = e.Received
		m.sightings.saw(m, s, e, s.isBacklog(e))
		if in.Source == FromCRI {
			m.applyStream(e)
		}
	}
}

// isBacklog reports whether an event happened before the stream was opened, by what its
// source says, and keeps an eye on the clock by which it says so.
func (s *source) isBacklog(e SourceEvent) bool {
	last := s.lastSaid
	off := e.Received.Sub(e.At)
	switch s.lastSaid = e.At; {
	case e.At.IsZero() || s.state.BadClock != "":
		return false
	case e.At.Before(s.openedAt) && e.Received.Sub(s.openedAt) < backlogFor:
		s.state.Backlog++
		return true
	case off < -skew:
		s.state.BadClock = fmt.Sprintf("its clock is %v ahead of this one", (-off).Round(time.Second))
	case off > mostBehind:
		s.state.BadClock = fmt.Sprintf("its clock is %v behind this one", off.Round(time.Second))
	case e.At.Before(last.Add(-skew)):
		s.state.BadClock = fmt.Sprintf("its clock has gone back by %v", last.Sub(e.At).Round(time.Second))
	}
	return false
}

// trusted returns a time that a source gives; zero if its clock makes no sense.
func (s *source) trusted(at time.Time) time.Time {
	if s.state.BadClock != "" {
		return time.Time{}
	}
	return at
}

// any reports whether any source looks, so that it matters who saw what.
func (l *sources) any() bool {
	return slices.ContainsFunc(l.all, func(s source) bool { return s.running || !s.watching.IsZero() })
}

// wouldTell reports whether a source that works should tell of a transition: the kernel
// knows of no removal, and of no end of what is not known to have run.
func (s *source) wouldTell(t *transition, ran bool) bool {
	switch {
	case s.watching.IsZero():
		return false
	case t.kind == pleg.Started:
		return s.stream.Source != FromPidfd
	case t.kind == pleg.Removed:
		return s.stream.Source == FromCRI
	}
	return ran
}

// watched reports whether a source has been watching without a break since before a
// moment. That its stream was lost for a while is no break: it missed what happened then.
func (s *source) watched(since time.Time) bool {
	return !s.watching.IsZero() && !s.watching.After(since)
}

// ended takes in that a stream is over.
func (l *sources) ended(m *machine, in StreamEnded) {
	s := l.of(in.Source)
	if s == nil || !s.running {
		return
	}
	ours, lasted := s.ending, s.state.State == StreamConnected
	s.running, s.ending = false, false
	if ours {
		return // advance says what comes of it
	}
	notEnabled := errors.Is(in.Err, call.ErrUnimplemented) || errors.Is(in.Err, io.EOF) && !lasted && !s.state.LastAt.After(s.openedAt)
	s.state.Tries++
	s.state.NextAt = m.now.Add(l.backOff(s.state.Tries, notEnabled))
	if notEnabled {
		s.watching = time.Time{}
		s.turn(m, StreamNotEnabled, notEnabledReason(in))
	} else {
		s.state.LastErr = in.Err.Error()
		s.turn(m, StreamLost, s.state.LastErr)
	}
	if in.Source == FromCRI {
		s.broke(m, in.Err, notEnabled)
	}
}

// broke lets the mode say what the end of the runtime's stream means to it.
func (s *source) broke(m *machine, err error, notEnabled bool) {
	giveUp, reason := m.streamBroke(err, notEnabled)
	switch {
	case giveUp:
		s.gaveUp = true
		s.rest(m, StreamFellBack, reason)
	case m.reopensAtOnce():
		s.state.NextAt = m.now
	}
}

// notEnabledReason says in plain words why there is no such stream.
func notEnabledReason(in StreamEnded) string {
	switch {
	case in.Source != FromCRI:
		return in.Err.Error()
	case errors.Is(in.Err, call.ErrUnimplemented):
		return "the runtime has no event stream"
	}
	return "the runtime ends its event stream at once: it is switched off there"
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

// judge says why a source is not to be opened, in plain words, or that it has to wait
// until that is known.
func (s *source) judge(m *machine) (refused string, waits bool) {
	v := m.status.version
	switch {
	case s.stream.Refuse != "":
		return s.stream.Refuse, false
	case s.stream.Source != FromCRI || s.stream.Forced:
		return "", false
	case v.RuntimeName == "":
		return "", true
	case !strings.EqualFold(v.RuntimeName, "containerd"):
		return "", false
	}
	return harmful(v.RuntimeVersion), false
}

// harmful says why the event stream of a containerd must not be read beside the kubelet;
// empty if it may. In 1.7 all readers share one channel, and each event comes to one of
// them; from 2.0 on each has its own.
func harmful(version string) string {
	const anyway = "; --force-events opens it all the same"
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, err := strconv.Atoi(major)
	minor, _, _ := strings.Cut(rest, ".")
	switch {
	case err != nil:
		return fmt.Sprintf("containerd of unknown version %q: before 2.0 a second reader takes the kubelet's events%s", version, anyway)
	case n >= 2:
		return ""
	case minor == "7":
		return "containerd 1.7: a second reader takes the kubelet's events" + anyway
	}
	return "containerd before 1.7 has no event stream" + anyway
}

// states returns how all sources stand.
func (l *sources) states() []SourceState {
	var states []SourceState
	for i := range l.all {
		states = append(states, l.all[i].state)
	}
	return states
}
