package engine

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
)

const (
	// backlogFor is within which time of its opening a stream tells what happened before.
	backlogFor = 2 * time.Second
	// mostBehind is how late the news of a source may be without its clock being wrong: a
	// runtime that was stopped tells the rest when it goes on.
	mostBehind = 30 * time.Minute
)

// heard takes in what a source has said.
func (l *sources) heard(m *machine, in Streamed) {
	s := l.of(in.Source)
	if s == nil {
		return
	}
	s.state.Lost += in.Lost
	m.transitions.Lost(in.Source, in.Lost)
	f := m.facts()
	for _, e := range in.Events {
		s.state.Received++
		s.state.LastAt, s.worked = e.Received, true
		h := ledger.Heard{Upstream: e.Upstream, By: in.Source, Received: e.Received, Backlog: s.isBacklog(e)}
		h.At = s.trusted(e.At)
		m.transitions.Hear(&f, h)
		if in.Source == ledger.FromCRI {
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
