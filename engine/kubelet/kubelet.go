// Package kubelet is a model of a kubelet that sees the same calls: what it says of its PLEG,
// its runtime and its node, and when it posts that.
//
// Three clocks run side by side, and may contradict each other for minutes: the sync loop, which
// starts and stops pods; PLEG; and the posting of the Ready condition, which is all that the
// cluster sees. (kubelet 1.25 to 1.37: runtimeState, syncLoop, syncNodeStatus and the Ready
// condition of package nodestatus; measured beside a kubelet 1.36.)
//
// Time comes as an argument and never goes back.
package kubelet

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Seen is what the calls have shown. It changes only with calls: the Kubelet itself finds out when
// a call is late. A moment is zero if there is none.
type Seen struct {
	ListOut      time.Time // since when the relist's list of all pods is out
	ListReturned time.Time // when such a list last returned, except by its deadline
	Relists      bool      // at least one relist is over

	RelistOut     time.Time // since when the oldest call of the relist is out, a list or an inspection
	RelistFailing time.Time // start of the first list in the present row of failed lists
	EndsBy        time.Time // when a relist in its inspections ends if hanging calls run until their deadline

	StatusOut    time.Time // since when the Status of the status lane is out
	StatusAt     time.Time // when Status last returned, with or without an error
	StatusFailed bool      // the last Status failed
	VersionOK    time.Time // when Version last succeeded, for any asker
	Mute         bool      // a call about the whole runtime last failed because the socket accepts connections and is silent
}

// Config describes the kubelet.
type Config struct {
	Threshold time.Duration // of PLEG
	Timeout   time.Duration // of each call
	Period    time.Duration // from the end of one relist to the start of the next; may be changed at any time
	Starting  bool          // it assumes nothing, has no sync loop yet, and posts at once what it finds, as for a check
}

// A Kubelet is the model of a kubelet that has long been up, unless its [Config] says otherwise.
// Until the runtime says something else, the node is ready, and the last good list of PLEG was
// at Started. Its fields are its whole state, exported only to be written down. It belongs to
// one goroutine.
type Kubelet struct {
	Config  Config
	Started time.Time // when it was made
	At      time.Time // the moment that all clocks have reached
	Seen    Seen

	PausedAt  time.Time // start of the present pause; zero if there is none
	PLEG      Health    // up to date after each Advance, like Says
	Listed    time.Time // start of the last relist whose lists succeeded, moved by pauses; Started at first
	Relisting time.Time // start of the relist under way, moved by pauses
	Judged    bool      // PLEG was healthy once

	Says   Node
	Loop   syncLoop
	Poster poster
	Shown  Node // Says without figures
	IsNew  bool // the last Advance has changed Shown
}

// New returns a Kubelet for somebody who begins to look at that moment.
func New(c Config, at time.Time) *Kubelet {
	k := &Kubelet{Config: c, Started: at, At: at, PLEG: Health{Since: at}, Says: Node{Ready: true, Since: at}}
	k.Listed, k.Poster = at, poster{NextAt: at, Fixed: true, Spread: postAnytime}
	if c.Starting {
		k.Says.NetworkErr = networkUnknown
	} else {
		k.Loop.Synced = at
	}
	k.Advance(at, Seen{})
	return k
}

// Advance lets time pass up to a moment, and takes in what was seen by then. An event that falls
// due on the way happens at its own moment, so it does not matter how often Advance is called.
// Call it after each observation. The other methods let time pass by themselves.
func (k *Kubelet) Advance(at time.Time, s Seen) {
	k.passTo(at)
	k.Seen = s
	k.settle(at)
	k.refresh()
	now := k.Says.withoutFigures()
	k.IsNew, k.Shown = now != k.Shown, now
}

// passTo lets everything happen that is due before at. Then the error texts have their ages as
// of at.
func (k *Kubelet) passTo(at time.Time) {
	for due := k.Due(); !due.IsZero() && due.Before(at); due = k.Due() {
		k.settle(due)
	}
	if at.After(k.At) {
		if k.At = at; k.Poster.Errs != "" {
			k.Poster.Errs = k.errs()
		}
	}
}

// settle brings all clocks to a moment.
func (k *Kubelet) settle(at time.Time) {
	k.At = at
	if healthy := k.verdict() == ""; healthy != k.PLEG.Healthy {
		if k.Judged {
			k.PLEG.Flips++
		}
		k.PLEG.Healthy, k.PLEG.Since, k.Judged = healthy, at, true
	}
	k.runLoop()
	k.follow()
}

// Due returns the next moment after the last Advance when something changes by itself; zero if
// nothing does. It leaves out when Version is due: see [Kubelet.VersionDue].
func (k *Kubelet) Due() (due time.Time) {
	next := func(since time.Time, d time.Duration) {
		if at := since.Add(d); at.After(k.At) { // never true for a zero time
			due = sooner(due, at)
		}
	}
	for _, out := range []time.Time{k.Seen.ListOut, k.Seen.StatusOut, k.Poster.Asked} {
		next(out, call.LateAfter)
	}
	next(k.Loop.NapUntil, 0)
	if !k.Paused() {
		next(k.Loop.Synced, call.StatusLasts)
		next(k.Listed, k.Config.Threshold+1)
		next(k.Says.LoopHeld, k.Config.Timeout)
		next(k.Seen.ListOut, toHousekeep)
	}
	return due
}

// StatusAnswered takes in a good answer to Status. (kubelet updateRuntimeUp.)
func (k *Kubelet) StatusAnswered(at time.Time, c []pleg.Condition) {
	k.passTo(at)
	k.Says.NetworkErr = unmet(networkNotReady, c, "NetworkReady")
	k.Says.RuntimeErr = unmet(runtimeNotReady, c, "RuntimeReady")
	if k.Says.RuntimeErr == "" {
		k.Loop.Synced, k.Says.SyncedAt = at, at
	}
	k.Poster.Fixed = k.Poster.Fixed || !at.Before(k.Poster.NextAt)
}

// RelistBegan says that a relist of all pods begins.
func (k *Kubelet) RelistBegan(at time.Time) { k.Relisting = at }

// ListsSucceeded says that the lists of the relist that began then have succeeded.
func (k *Kubelet) ListsSucceeded(at, began time.Time) {
	k.passTo(at)
	k.PLEG.ListedAt, k.Listed = began, k.Relisting
}

// Reads reports whether the sync loop takes events from PLEG's channel (see [pleg.Core.Attend]).
func (k *Kubelet) Reads() bool { return k.Loop.Reads }

// Changed reports whether the last Advance changed more than figures. People should see that at once.
func (k *Kubelet) Changed() bool { return k.IsNew }

// Health returns the verdict on PLEG as of at. It moves nothing.
func (k *Kubelet) Health(at time.Time) Health { return k.asOf(at).PLEG }

// Node returns what the kubelet says of its node as of at. It moves nothing.
func (k *Kubelet) Node(at time.Time) Node { return k.asOf(at).Says }

// asOf returns a copy of k as of a later moment, if nothing new is seen until then.
func (k *Kubelet) asOf(at time.Time) *Kubelet {
	then := *k
	then.Advance(at, k.Seen)
	return &then
}

// sooner returns the earlier of two moments; zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
