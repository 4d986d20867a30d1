package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// A Tape records the observations of an engine. Its methods are called one after the other, in the
// order of the observations. The engine waits for them: they must return soon. They must not change
// what they are given.
type Tape interface {
	// Begin is called once, before the first observation. The tape may ask m for its
	// state during a call of Observe, before m has applied that observation.
	Begin(m *Model)
	Observe(at time.Time, o Observation)
	State() Recording // returns the state of the recording, for the next snapshot
}

// Recording is the state of an engine's recording. The zero value means that nothing is recorded, as in a
// replay.
type Recording struct {
	File    string        // the file that is written to; empty for none
	Written int64         // bytes, of this run
	Span    time.Duration // how much time is kept in memory; 0 for nothing
	Kept    int64         // bytes in memory, after compression
	Ended   string        // why nothing more is written or kept; empty while it goes on
	EndedAt time.Time
}

// Writes reports whether the recording is being written to a file.
func (r Recording) Writes() bool { return r.File != "" && r.Ended == "" }

// A Start is all that a [Model] begins with. It is a plain value.
type Start struct {
	At        time.Time
	Once      bool          // an examination: looks once, see [Examine]
	CallTime  time.Duration // deadline of our own calls; see [Examination]
	Deadline  time.Duration // of an examination
	Release   pleg.Release
	Follow    bool
	Period    time.Duration
	Threshold time.Duration
	Timeout   time.Duration
	Capacity  int
	Events    int
	Mode      pleg.Mode
	Streams   []sources.Stream
	Other     string
	Looks     bool // somebody looks at the node
	Workers   bool // a kubelet says what its pod workers do
}
