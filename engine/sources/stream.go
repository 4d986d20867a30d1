package sources

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/quantile"
)

const (
	// lasting is how long a stream must be open to be called connected: gRPC confirms nothing
	// on a silent stream.
	lasting = time.Second
	// A stream that breaks is opened after leastBackOff, then after twice as long each time, up
	// to mostBackOff. A stream that is not enabled is tried every mostBackOff.
	leastBackOff = 100 * time.Millisecond
	mostBackOff  = time.Minute

	changesKept = 64 // of all sources
)

// A StreamState is the state of an event source.
type StreamState uint8

const (
	StreamOff        StreamState = iota // nobody wants it
	StreamWaiting                       // for the runtime's version, which decides whether it may be opened
	StreamOpening                       // open for less than a second
	StreamConnected                     // open for a second or more
	StreamLost                          // it broke, and is opened again at NextAt
	StreamRefused                       // would do harm, or cannot be opened
	StreamNotEnabled                    // the runtime has no such stream, or has it switched off
	StreamEnding                        // we close it
	StreamFellBack                      // given up for good, as the kubelet does
)

var streamStateNames = [...]string{"off", "waiting", "opening", "connected", "lost", "refused", "not-enabled", "ended", "fell-back"}

// String returns the word that the JSON has for s.
func (s StreamState) String() string { return pleg.Word(s, streamStateNames[:]) }

// Shown reports whether people see a change to s. The other states only lead to a state that
// people see.
func (s StreamState) Shown() bool { return s >= StreamConnected }

// Over reports whether a wanted stream has no try at hand: it is refused, not enabled or given up.
func (s StreamState) Over() bool {
	return s == StreamRefused || s == StreamNotEnabled || s == StreamFellBack
}

// A SourceState is the state of one event source, with counts of its events.
type SourceState struct {
	Source   Source
	State    StreamState
	Since    time.Time // of State
	Reason   string    // for State; empty where it needs none. Not cleaned
	NextAt   time.Time // when it is opened again; zero while it is open, or never
	Tries    int       // openings in a row that did not last
	Received uint64    // events over this run
	Lost     uint64    // events that came too fast; Received does not count them
	Backlog  uint64    // received events from before the stream was opened
	Unknown  uint64    // events of ids that no relist ever had
	LastAt   time.Time // of the last event; zero if there was none
	LastErr  string    // of the last stream that broke; empty if none did. Not cleaned
	BadClock string    // why its times are not used; empty if they are
}

// A SourceChange is one change of an event source's state that people see.
type SourceChange struct {
	Seq    uint64      `line:"-"` // 1 for the first of this run, without gaps
	At     time.Time   `line:"-"`
	Source Source      `line:"source"`
	State  StreamState `line:"state"`
	Reason string      `line:"reason,raw"` // not cleaned
}

// A Watch is one event source, from the start of the run on.
type Watch struct {
	Config   Stream
	State    SourceState
	Shown    SourceChange       // the last change that people saw
	Worked   bool               // one of its streams has lasted, or sent something
	OpenedAt time.Time          // zero if it was never open
	LastTime time.Time          // of the last event, by the clock of the source
	Watching time.Time          // since when it should see all that happens; zero if it need not
	Sum      Drift              // without the fields that follow from the rest
	Ahead    quantile.Durations // how far it was ahead of the relist, where it was first
	Behind   quantile.Durations // how far it was behind
}

// open reports whether the lane has opened the stream and has not reported its end.
func (w *Watch) open() bool {
	s := w.State.State
	return s == StreamOpening || s == StreamConnected || s == StreamEnding
}

// permits returns StreamOpening if people, the mode and the runtime want the stream of a source
// to be open. Otherwise it returns the state of the source without a stream, and why.
func (o *Observer) permits(c Stream) (StreamState, string) {
	wanted := !o.Config.Once && (c.On || c.Source == FromCRI && o.evented())
	name := o.Version.RuntimeName
	switch {
	case o.Suspended:
		return StreamOff, ""
	case !wanted && c.Source == FromCRI && o.Mode.Reason != "":
		return StreamFellBack, o.Mode.Reason
	case !wanted:
		return StreamOff, ""
	case c.Refuse != "":
		return StreamRefused, c.Refuse
	case c.Source != FromCRI || c.Forced:
		return StreamOpening, ""
	case name == "":
		return StreamWaiting, "the version of the runtime is not known yet"
	case strings.EqualFold(name, "containerd"):
		if reason := harmful(o.Version.RuntimeVersion); reason != "" {
			return StreamRefused, reason
		}
	}
	return StreamOpening, ""
}

// Open reports whether the stream of a source is to be open. The lane of the stream asks
// after each change: true opens the stream or leaves it open, false closes it.
func (o *Observer) Open(source Source, at time.Time) bool {
	w := o.watch(source)
	if w == nil || w.State.State == StreamEnding {
		return false
	}
	state, _ := o.permits(w.Config)
	return state == StreamOpening && (w.open() || !at.Before(w.State.NextAt))
}

// advance brings the state of one source up to a moment.
func (o *Observer) advance(at time.Time, w *Watch) {
	switch state, reason := o.permits(w.Config); {
	case w.State.State == StreamEnding:
	case state != StreamOpening && w.open():
		w.Watching = time.Time{}
		o.turn(at, w, StreamEnding, reason)
	case state != StreamOpening: // it waits until somebody wants it, or something is known
		w.State.NextAt, w.State.Tries, w.Watching = time.Time{}, 0, time.Time{}
		o.turn(at, w, state, reason)
	case w.State.State == StreamOpening && !at.Before(w.OpenedAt.Add(lasting)):
		w.State.Tries, w.Worked = 0, true
		if w.Watching.IsZero() {
			w.Watching = at
		}
		o.turn(at, w, StreamConnected, "")
	}
}

// Opened notes that the lane has opened the stream of a source.
func (o *Observer) Opened(at time.Time, source Source) {
	if w := o.watch(source); w != nil && !w.open() {
		w.OpenedAt, w.State.NextAt, w.LastTime = at, time.Time{}, time.Time{}
		o.turn(at, w, StreamOpening, "")
	}
}

// Ended notes that the stream of a source is over. kind is what that means, text is why.
func (o *Observer) Ended(at time.Time, source Source, kind call.Kind, text string) {
	w := o.watch(source)
	if w == nil || !w.open() {
		return
	}
	if !o.Open(source, at) { // we have closed it
		o.turn(at, w, StreamOff, "")
		return
	}
	state, wait := StreamLost, min(mostBackOff, leastBackOff<<min(w.State.Tries, 10))
	switch {
	case kind == call.ErrUnimplemented || kind == call.ErrClosed && !w.Worked:
		state, wait, w.Watching = StreamNotEnabled, mostBackOff, time.Time{}
		if source == FromCRI && kind == call.ErrUnimplemented {
			text = "the runtime has no event stream"
		} else if source == FromCRI {
			text = "the runtime ends its event stream at once: it is switched off there"
		}
	default:
		w.State.LastErr = text
	}
	w.State.Tries++
	w.State.NextAt = at.Add(wait)
	o.turn(at, w, state, text)
	if source == FromCRI {
		o.countEnd(at, w)
	}
}

// turn notes the state of a source, and adds a change if people are to see it.
func (o *Observer) turn(at time.Time, w *Watch, state StreamState, reason string) {
	if w.State.State == state && w.State.Reason == reason {
		return
	}
	w.State.State, w.State.Reason, w.State.Since = state, reason, at
	if !state.Shown() || w.Shown.State == state && w.Shown.Reason == reason {
		return
	}
	w.Shown = SourceChange{Seq: 1, At: at, Source: w.Config.Source, State: state, Reason: reason}
	if n := len(o.Changes); n > 0 {
		w.Shown.Seq += o.Changes[n-1].Seq
	}
	o.Changes = append(o.Changes, w.Shown) // a snapshot shares the array: no element is ever written twice
	o.Changes = o.Changes[max(0, len(o.Changes)-changesKept):]
}

// harmful returns why the kubelet must be the only reader of the event stream of a containerd;
// empty if a second reader does no harm. In 1.7 all readers share one channel, so each event
// reaches only one reader. From 2.0 on each reader has its own.
func harmful(version string) string {
	const anyway = "; --force-events opens it all the same"
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, err := strconv.Atoi(major)
	minor, _, _ := strings.Cut(rest, ".")
	switch {
	case err != nil:
		return fmt.Sprintf("containerd of unknown version %q: before 2.0 a second reader would take events from the kubelet%s", version, anyway)
	case n >= 2:
		return ""
	case minor == "7":
		return "containerd 1.7: a second reader would take events from the kubelet" + anyway
	}
	return "containerd before 1.7 has no event stream" + anyway
}
