package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/engine/sources"
)

// An Observation is one thing that plegtop saw or was asked. Observations in order, each with
// its moment, are all that a [Model] goes by, and all that a recording holds. They are plain
// values. Nobody changes one, or what it points to, after it was reported.
type Observation interface{ observation() }

// CallBegan says that a call is on its way to the runtime. Since of the flight is zero: the
// moment of the observation says when.
type CallBegan struct {
	ID      uint64
	Flight  call.Flight
	Timeout time.Duration // after which we end the call
}

// CallEnded says that a call has returned, or that nobody waits for it any more.
type CallEnded struct {
	ID     uint64
	Answer Answer      // zero with an error
	Trace  call.Trace  // what the transport knows of the call
	Err    *call.Error // nil if it was answered
}

// An Answer is what a [Runtime] answered, in the field of the method that was called.
type Answer struct {
	Version    *pleg.Version
	Conditions []pleg.Condition // of Status
	Sandboxes  []*pleg.ListedSandbox
	Containers []*pleg.ListedContainer
	Sandbox    *pleg.SandboxStatus
	Container  *pleg.ContainerStatus
}

// Marked says how far a lane has come.
type Marked struct{ Mark Mark }

// A Mark is a step of a lane. It names calls by their ids, and carries no data.
type Mark interface{ mark() }

// RelistBegan begins a relist: of all pods, or of one. Asked is set if somebody asked for it
// with a key; such a relist goes on while the engine is paused.
type RelistBegan struct {
	Pod   pleg.UID // empty for all
	Asked bool
}

// Listed says that both lists of the relist succeeded.
type Listed struct{ Sandboxes, Containers uint64 }

// RelistFailed ends a relist one of whose lists failed.
type RelistFailed struct{}

// Inspected says that the inspection of a pod is over. Its calls were made in this order; the
// first that failed, other than by not finding its object, failed the inspection.
type Inspected struct {
	Pod   pleg.UID
	Calls []uint64
}

// RelistEnded ends a relist all of whose inspections are over.
type RelistEnded struct{}

// LookBegan says that somebody looks at the node.
type LookBegan struct{ Looking Looking }

// StreamOpened says that the stream of an event source was opened.
type StreamOpened struct{ Source sources.Source }

// Closed ends an examination: what is known now is the result.
type Closed struct{}

// Looked is what a look at the node found.
type Looked struct {
	Report *evidence.Report // nil if there was nothing to see
	Ended  bool             // nobody will look again
}

// Streamed is what one event source reported since the last such observation. Lost counts the
// events that came too fast to be kept.
type Streamed struct {
	Source sources.Source
	Events []sources.SourceEvent
	Lost   uint64
}

// StreamEnded says that the stream of an event source is over.
type StreamEnded struct {
	Source sources.Source
	Kind   call.Kind // what the reason means
	Text   string    // the reason in words, not cleaned
}

// Requested is what somebody asked for with a key or a method of [Engine].
type Requested struct {
	What    Request
	Pod     pleg.UID         // of Reinspect
	Period  time.Duration    // of SetPeriod
	Release pleg.Release     // of Follow
	Sources []sources.Source // of SetStreams: those that are wanted from now on
}

// Ticked says that time has passed, and that a snapshot was made right after. Ticks come each
// second, four times a second while a call is late, and soon after something changed.
type Ticked struct {
	Workers *podworker.Workers // what a kubelet that can be asked says of its pod workers; nil for none
	Cost    Cost               // what plegtop asks of the runtime
}

// Halted is the last observation of an engine.
type Halted struct{}

func (CallBegan) observation()   {}
func (CallEnded) observation()   {}
func (Marked) observation()      {}
func (Looked) observation()      {}
func (Streamed) observation()    {}
func (StreamEnded) observation() {}
func (Requested) observation()   {}
func (Ticked) observation()      {}
func (Halted) observation()      {}

func (RelistBegan) mark()  {}
func (Listed) mark()       {}
func (RelistFailed) mark() {}
func (Inspected) mark()    {}
func (RelistEnded) mark()  {}
func (LookBegan) mark()    {}
func (StreamOpened) mark() {}
func (Closed) mark()       {}
