// Package past is what is remembered of the time before the present moment: small logs,
// each bounded, with the reason why so much is enough. The model writes down what
// it sees. The rules read it as it was at their moment.
package past

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A Memory is what is remembered at one moment. It is a plain value, and nothing that it
// refers to is ever written to. The zero value has seen nothing.
type Memory struct {
	Spells     []Spell              // in which PLEG was unhealthy, oldest first
	Losses     *Losses              // of events; nil if there were none
	LookBefore *evidence.Report     // the last look at the node but one
	Kubelet    Kubelet              // as the looks found it
	Missed     map[string]time.Time // running containers of which the last look found no process, by id, since the first look in a row that missed it
	Repeats    map[string]Repeat    // helpers that are begun again and again, by container
	Outages    Outages              // of the runtime
	Starts     []Start              // of its processes of late, in the order in which looks found them
	Back       Comeback             // the last one
	Hung       map[string]time.Time // objects, by id: when their status came late or not at all, or well after that
	Status     []time.Duration      // how long the last good answers to Status took, oldest first
	Recovered  []time.Time          // when inspections succeeded that had failed, oldest first
	IdleSince  time.Time            // since when our own relists have been good and short; zero while they are not
}

// A Keeper takes down what happens. Its methods are called in the order of time. The zero
// value has seen nothing.
type Keeper struct {
	now     Memory
	looked  *evidence.Report
	own     *Losses // those of now, if nobody has read them yet: they may be written to
	ownHung bool    // so may be what hung
}

// Read returns what is remembered now.
func (k *Keeper) Read() Memory {
	k.own, k.ownHung = nil, false
	return k.now
}

// A KeeperState is the whole state of a [Keeper], for a checkpoint.
type KeeperState struct {
	Memory Memory
	Looked *evidence.Report // the last look at the node
}

// State returns the state. It is not to be changed.
func (k *Keeper) State() KeeperState { return KeeperState{k.Read(), k.looked} }

// Restore sets k to a state.
func (k *Keeper) Restore(s KeeperState) { *k = Keeper{now: s.Memory, looked: s.Looked} }

// keep appends to what is remembered and drops the oldest beyond most. What was read
// before stays as it is.
func keep[T any](all []T, one T, most int) []T {
	all = append(all, one)
	return all[max(0, len(all)-most):]
}

// statusKept is how many answers to Status are remembered. Status is asked every 5 s. Two slow
// answers in a row are a change, one is not.
const statusKept = 2

// StatusTook takes down how long a good answer to Status took.
func (k *Keeper) StatusTook(took time.Duration) {
	k.now.Status = keep(k.now.Status, took, statusKept)
}

// Recovered takes down that an inspection succeeded which had failed. As many as outages make
// failures a matter of chance: no more has to be known.
func (k *Keeper) Recovered(at time.Time) {
	k.now.Recovered = keep(k.now.Recovered, at, answers.Outages)
}

// Idle takes down whether our own relists are good and short.
func (k *Keeper) Idle(idle bool, at time.Time) {
	switch {
	case !idle:
		k.now.IdleSince = time.Time{}
	case k.now.IdleSince.IsZero():
		k.now.IdleSince = at
	}
}
