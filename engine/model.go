package engine

import "time"

// A Model is all that an engine knows. It is moved by observations alone: the same
// observations in the same order give the same events and snapshots, live or in a replay. It
// reads no clock, makes no call and starts no goroutine. It is not safe for concurrent use.
type Model struct{ start Start }

// NewModel returns a model that has seen nothing.
func NewModel(s Start) (*Model, error) { return &Model{start: s}, nil }

// Restore returns the model that [Model.Checkpoint] was called on. It fails if the checkpoint is
// none that an engine can have.
func Restore(s Start, c *Checkpoint) (*Model, error) { return NewModel(s) }

// Start returns what the model began with.
func (m *Model) Start() Start { return m.start }

// Apply takes in one observation that was made at a moment, which is never before the last
// one, and returns the events that this brought, in order.
func (m *Model) Apply(at time.Time, o Observation) []Event { return nil }

// Snapshot returns all that there is to see at a moment.
func (m *Model) Snapshot(at time.Time) *Snapshot { return &Snapshot{At: at} }

// Checkpoint returns the state of the model, to be written down at once: it shares memory
// with the model.
func (m *Model) Checkpoint() *Checkpoint { return &Checkpoint{} }

// A Checkpoint is the whole state of a [Model], as plain values.
type Checkpoint struct{}
