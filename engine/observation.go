package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/engine/sources"
)

// An Observation is one thing that plegtop saw or was asked for. A [Model] depends only on the
// observations, in order, each with its moment. A recording holds these, and now and then a
// [Checkpoint]. They are plain values. After one was reported, nobody changes it or what it points
// to.
type Observation interface{ observation() }

// CallBegan says that a call is on its way to the runtime. Since of the flight is zero: the call
// began at the moment of the observation.
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

// An Answer is the answer of a [Runtime]. Only the field of the method that was called is set.
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

// RelistBegan begins a relist of all pods or of one pod. Asked is set if somebody asked for it with a key. A
// relist that was asked for goes on while the engine is paused.
type RelistBegan struct {
	Pod   pleg.UID // empty for all
	Asked bool
}

// Listed says that both lists of the relist succeeded.
type Listed struct{ Sandboxes, Containers uint64 }

// RelistFailed ends a relist: one of its two lists failed.
type RelistFailed struct{}

// Inspected says that the inspection of a pod is over. Calls are its calls, in order. The first
// call that failed has failed the inspection. An object that is not found is no failure.
type Inspected struct {
	Pod   pleg.UID
	Calls []uint64
}

// RelistEnded ends a relist: all its inspections are over.
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

// Requested is a request that somebody made with a key or a method of [Engine].
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
	Workers *podworker.Workers // what the kubelet says of its pod workers; nil if it cannot be asked
	Cost    Cost               // what plegtop asks of the runtime
}

// Halted says that the engine stops. From now on we close the streams ourselves.
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
