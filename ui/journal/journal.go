// Package journal keeps what has happened since plegtop started: events, relists,
// pauses, how long calls took, and the last picture of pods that have gone. It belongs
// to one goroutine.
package journal

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Row is an event, a gap of events that came too fast to be shown, or a relist.
type Row struct {
	engine.Event
	Gap     uint64 // how many were lost; 0 for an event
	AtStart bool   // it was there when plegtop started: nothing happened
	Marked  bool   // by a person
}

// A Journal has the rows with numbers that only grow, so that a list of some of them
// survives when old ones are dropped.
type Journal struct{}

// New returns a Journal that keeps so many rows at least.
func New(keep int) *Journal { return &Journal{} }

// Observe takes over an update.
func (j *Journal) Observe(u engine.Update) {}

// Filter chooses the events that panes show; nil for all.
func (j *Journal) Filter(show func(e engine.Event, at time.Time) bool) {}

// Gone returns the last picture of a pod that is listed no more, or nil.
func (j *Journal) Gone(uid pleg.UID) *engine.Pod { return nil }
