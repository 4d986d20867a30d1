package kubelet

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

const (
	// The nap of a loop that skips its work: it doubles from the shortest to the longest.
	napShortest, napLongest = 100 * time.Millisecond, 5 * time.Second
	// toHousekeep is the average time from a list's start to the loop's next housekeeping, which
	// comes every 2 s.
	toHousekeep = time.Second
	// healthzLasts is how long /healthz/syncloop trusts a loop that has stopped.
	healthzLasts = 5 * time.Minute
)

// A syncLoop is the kubelet's sync loop, as the reader of PLEG's channel. While the runtime and
// PLEG are well it takes every event as it comes. Otherwise it reads nothing and looks again after
// a nap; so it may be late in noticing that all is well.
//
// Its housekeeping lists all pods. A list that hangs holds the whole loop until the deadline. The
// loop sees what else is wrong only after that. (kubelet syncLoopIteration, HandlePodCleanups;
// measured: "Housekeeping took longer than expected ... actual=2m0.001s".)
//
// Well means: PLEG is healthy, the last Status that was answered has RuntimeReady, and the last
// Status with RuntimeReady is less than 30 s old. The network's condition does not count: it
// keeps pods from starting, not the loop from reading. (kubelet syncLoop, runtimeErrors.)
type syncLoop struct {
	Synced   time.Time // of the last Status with RuntimeReady, moved by pauses; zero if a starting kubelet had none
	NapUntil time.Time
	Reads    bool
}

// runLoop lets the loop go on as far as it can now.
func (k *Kubelet) runLoop() {
	if k.Config.Starting { // it has no loop yet
		k.Loop.Reads = true
		return
	}
	held, list := &k.Says.LoopHeld, k.Seen.ListOut
	// As far as we can know, the loop's own list returns with ours. But it began later, so its
	// deadline is later by the same time.
	if !k.Paused() && (k.Seen.ListReturned.After(*held) || !k.At.Before(held.Add(k.Config.Timeout))) {
		*held = time.Time{}
	}
	// Before the first good list there is nothing to read.
	k.Loop.Reads = k.loopReads() && k.Judged
	if held.IsZero() && k.Says.LoopStopped.IsZero() && !k.Paused() && !list.IsZero() && !k.At.Before(list.Add(toHousekeep)) {
		*held = k.At
	}
}

// loopReads reports whether the loop takes what is in the channel. Otherwise it naps or is held.
func (k *Kubelet) loopReads() bool {
	l, s := &k.Loop, &k.Says
	if k.At.Before(l.NapUntil) || !s.LoopHeld.IsZero() {
		return false
	}
	if k.plegErr() == "" && s.RuntimeErr == "" && k.down() == "" {
		s.LoopNap, l.NapUntil, s.LoopStopped = 0, time.Time{}, time.Time{}
		return true
	}
	if s.LoopStopped.IsZero() {
		s.LoopStopped = k.At
	}
	s.LoopNap = min(max(2*s.LoopNap, napShortest), napLongest)
	l.NapUntil = k.At.Add(s.LoopNap)
	return false
}

// down returns what the kubelet says of a runtime that has not answered Status for too long.
func (k *Kubelet) down() string {
	switch {
	case k.Loop.Synced.IsZero():
		return statusNotChecked
	case k.now().Sub(k.Loop.Synced) >= call.StatusLasts:
		return runtimeDown
	}
	return ""
}
