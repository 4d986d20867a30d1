// Package past has what is remembered of the time before the present moment: small logs, each with a limit and
// the reason why that is enough. The model writes down what it sees. The rules read the logs as they were at
// the moment that they judge.
package past

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A Memory is what is remembered at one moment. It is a plain value, and nothing that it refers to is ever
// written to. The zero value remembers nothing.
type Memory struct {
	Spells     []Spell              // times in which PLEG was unhealthy, oldest first
	Losses     *Losses              // lost events; nil if there were none
	LookBefore *evidence.Report     // the last look at the node but one
	Kubelet    Kubelet              // what the looks found of the kubelet
	Missed     map[string]time.Time // running containers of which the last look found no process, by id; the value is the first look in a row that found none
	Repeats    map[string]Repeat    // helpers that are started again and again, by container
	Outages    Outages              // of the runtime
	Starts     []Start              // the latest starts of the runtime's processes, in the order in which looks found them
	Back       Comeback             // the last comeback
	Hung       map[string]time.Time // when the status of an object came late or not at all, or well after that; by the object's id
	Status     []time.Duration      // how long the last good answers to Status took, oldest first
	Recovered  []time.Time          // times at which an inspection succeeded after one that had failed, oldest first
	IdleSince  time.Time            // the time since which our own relists have been good and short; zero while they are not
}

// A Keeper writes the memory. Its methods must be called in the order of time. The zero value remembers
// nothing.
type Keeper struct {
	now     Memory
	looked  *evidence.Report
	own     *Losses // now.Losses if nobody has read it yet: then it may be written to
	ownHung bool    // nobody has read now.Hung yet: it may be written to
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

// State returns the state. The caller must not change it.
func (k *Keeper) State() KeeperState { return KeeperState{k.Read(), k.looked} }

// Restore sets k to a state.
func (k *Keeper) Restore(s KeeperState) { *k = Keeper{now: s.Memory, looked: s.Looked} }

// keep returns the log with one more entry, without its oldest entries if there are more than most. What was
// read before does not change.
func keep[T any](all []T, one T, most int) []T {
	all = append(all, one)
	return all[max(0, len(all)-most):]
}

// statusKept is how many answers to Status are remembered. Status is asked every 5 s. Two slow
// answers in a row are a change, one is not.
const statusKept = 2

// StatusTook notes how long a good answer to Status took.
func (k *Keeper) StatusTook(took time.Duration) {
	k.now.Status = keep(k.now.Status, took, statusKept)
}

// Recovered notes that an inspection succeeded after one that had failed. It keeps answers.Outages of them:
// with so many, failures count as chance, and more need not be known.
func (k *Keeper) Recovered(at time.Time) {
	k.now.Recovered = keep(k.now.Recovered, at, answers.Outages)
}

// Idle notes whether our own relists are good and short.
func (k *Keeper) Idle(idle bool, at time.Time) {
	switch {
	case !idle:
		k.now.IdleSince = time.Time{}
	case k.now.IdleSince.IsZero():
		k.now.IdleSince = at
	}
}
