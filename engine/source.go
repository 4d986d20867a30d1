package engine

import (
	"context"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Stream is an event source that can be switched on.
type Stream struct {
	Source ledger.Source
	On     bool   // from the start, and whatever becomes of the mode: one that goes by a stream opens that by itself, until it falls back
	Forced bool   // is opened although the runtime is one whose stream does harm
	Refuse string // why it can never be opened, in plain words; empty if it can

	// Run hands each event to deliver, which returns at once whatever comes, until ctx
	// ends or the stream does, and returns why. What it returns wraps
	// [call.ErrUnimplemented] if there is no such stream, io.EOF if the other side closed
	// it, and the context's cause if ctx ended. It is called again for the next try,
	// never while it runs.
	Run func(ctx context.Context, deliver func(pleg.Upstream)) error
}

// A SourceEvent is a [pleg.Upstream] with the moment at which it was received, by the
// engine's clock.
type SourceEvent struct {
	pleg.Upstream
	Received time.Time
}

// A StreamState is how an event source stands.
type StreamState uint8

const (
	StreamOff        StreamState = iota // nobody wants it
	StreamWaiting                       // for the runtime's version, which says whether it may be opened; for the next try
	StreamOpening                       // open for less than a second, or not open yet
	StreamConnected                     // open, and nothing has ended it for a second
	StreamLost                          // broke, and is opened again
	StreamRefused                       // would do harm, or cannot be
	StreamNotEnabled                    // the runtime has none, or has it switched off
	StreamEnding                        // we have ended it
	StreamFellBack                      // given up for good, as the kubelet does
)

var streamStateNames = [...]string{"off", "waiting", "opening", "connected", "lost", "refused", "not-enabled", "ended", "fell-back"}

// String returns the word that the JSON has for s.
func (s StreamState) String() string { return pleg.Word(s, streamStateNames[:]) }

// Told reports whether a change to s is one that people are told of; the others are on
// the way to one.
func (s StreamState) Told() bool {
	return s >= StreamConnected
}

// Over reports whether a stream that is wanted ended or did not begin, and is not opened again.
func (s StreamState) Over() bool {
	return s == StreamRefused || s == StreamNotEnabled || s == StreamFellBack
}

// A SourceState is how one event source stands, and what it has said.
type SourceState struct {
	Source   ledger.Source
	State    StreamState
	Since    time.Time // of State
	Reason   string    // for State, in plain words; empty where it needs none. Not cleaned
	NextAt   time.Time // when it is opened again; zero while it is open, or never
	Tries    int       // in a row that did not last
	Received uint64    // events that were looked at, over this run
	Lost     uint64    // events that came too fast, and were not: beside those received
	Backlog  uint64    // of those received were of a time before the stream was opened
	Unknown  uint64    // of them were of ids that no relist ever had
	LastAt   time.Time // of the last event; zero if there was none
	LastErr  string    // of the last stream that broke; empty if none did. Not cleaned
	BadClock string    // why its times are not gone by, in plain words; empty if they are
}

// A SourceChange is one change of an event source's state of which people are told.
type SourceChange struct {
	Seq    uint64        `line:"-"` // 1 for the first of this run, without gaps
	At     time.Time     `line:"-"`
	Source ledger.Source `line:"source"`
	State  StreamState   `line:"state"`
	Reason string        `line:"reason,raw"` // not cleaned
}

// A ModeState is what the machine makes of the runtime's event stream.
type ModeState struct {
	Mode     pleg.Mode // that holds now
	Asked    pleg.Mode // that was asked for
	Reason   string    // why they differ: it fell back for good; else empty. Not cleaned
	Attempts int       // of the five to have a stream that have ended
	Ignored  uint64    // events of the stream that led to nothing
	Asks     uint64    // that asked for a relist of one pod
	AsksLost uint64    // of them came when 200 were waiting, and are not made
}

// Stream returns how an event source stands; nil if there is none of it.
func (s *Snapshot) Stream(of ledger.Source) *SourceState {
	i := slices.IndexFunc(s.Sources, func(k SourceState) bool { return k.Source == of })
	if i < 0 {
		return nil
	}
	return &s.Sources[i]
}
