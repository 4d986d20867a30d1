// Package podworker has the consumers of PLEG's events: one worker for each pod. Events wake
// it. Then it waits for a status of its pod that is newer than the last sync, and syncs the pod
// (kubelet pod_workers.go). A worker that acts says which events it expects from its own
// actions; those wake nobody (the proposal's expected events, which no kubelet has).
//
// It is pure: time is an argument, and nothing here waits, reads a clock or starts a
// goroutine. It is not safe for concurrent use.
package podworker

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A State is what a worker does.
type State uint8

const (
	Idle             State = iota
	WaitsForStatus         // it waits for a status newer than its last sync
	Syncing                // it acts
	WaitsForExpected       // its events wait for the events that it expects
)

var stateNames = [...]string{"idle", "waits for a newer status", "syncing", "waits for expected events"}

// String returns plain words for s.
func (s State) String() string { return pleg.Word(s, stateNames[:]) }

// An Expectation is an event that a worker's own action will cause.
type Expectation struct {
	Kind      pleg.Kind
	ID        string // of the container or sandbox; empty for any with that name
	Container string // its name; empty for a sandbox
	Until     time.Time
}

// A Worker is the state of one pod's worker. It is a plain value; nobody changes what its slices
// hold.
type Worker struct {
	Pod      pleg.PodRef
	State    State
	Since    time.Time // of State
	After    time.Time // what a status must be newer than; zero unless State is WaitsForStatus
	WakeUps  uint64    // by events
	Saved    uint64    // events that would have woken it, but were expected
	Expired  uint64    // expectations that were not met in time
	Syncs    uint64
	Expected []Expectation // the first to run out first
	Queued   int           // events that wait
	Last     pleg.Event    // zero if there was none
	LastAt   time.Time     // when it came
	Spared   bool          // Last was expected, and so woke nobody
}

// Workers are all workers at one moment. It is immutable.
type Workers struct {
	Acting    bool      // they sync pods; else they only show which pods would be woken
	Expecting bool      // with expected events
	All       []*Worker // by namespace, name, UID; an unchanged worker is the same pointer
	WakeUps   uint64    // of these workers and of those that have gone, like the next counts
	Saved     uint64
	Expired   uint64
	Syncs     uint64
}

// Of returns the worker of a pod; nil if it has none.
func (all *Workers) Of(pod pleg.UID) *Worker {
	i := slices.IndexFunc(all.All, func(w *Worker) bool { return w.Pod.UID == pod })
	if i < 0 {
		return nil
	}
	return all.All[i]
}
