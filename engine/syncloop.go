package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// The kubelet's constants for its sync loop and for what that waits for.
const (
	statusLasts = 30 * time.Second // a good Status is good for so long
	napShortest = 100 * time.Millisecond
	napLongest  = 5 * time.Second

	healthzLasts = 5 * time.Minute // /healthz/syncloop, with a loop that has stopped
)

// A syncLoop is a model of the kubelet's sync loop as the reader of the event
// channel. While the runtime and PLEG are well it takes every event as it
// comes. Otherwise it reads nothing and looks again after a nap, which grows
// from 100 ms to 5 s; so it may be late in noticing that all is well again.
//
// Well means: PLEG is healthy, the last Status that was answered says
// RuntimeReady, and the last one that said so is less than 30 s old. The
// network's condition does not count: it keeps pods from starting, not the loop
// from reading. (kubelet syncLoop, updateRuntimeUp and runtimeState.runtimeErrors.)
type syncLoop struct {
	runtimeErr string // of the last Status that was answered; empty if it said RuntimeReady
	networkErr string
	synced     time.Time // of the last Status that said RuntimeReady; zero if a kubelet that starts had none
	syncedAt   time.Time // the same, but zero until there was one, and not moved by pauses
	nap        time.Duration
	napUntil   time.Time
	stopped    time.Time // since when it reads nothing; zero while it reads
	heldAt     time.Time // start of the pause; zero if there is none
}

// status takes in an answer to Status.
func (s *syncLoop) status(at time.Time, conditions []pleg.Condition) {
	s.networkErr = unmet(networkNotReady, conditions, "NetworkReady")
	s.runtimeErr = unmet(runtimeNotReady, conditions, "RuntimeReady")
	if s.runtimeErr == "" {
		s.synced, s.syncedAt = at, at
	}
}

// hold stops and restarts the ageing of the last Status. That no Status is
// asked for during a pause is our doing, not the runtime's.
func (s *syncLoop) hold(now time.Time, paused bool) {
	if paused {
		s.heldAt = now
		return
	}
	s.synced = sooner(s.synced.Add(now.Sub(s.heldAt)), now)
	s.heldAt = time.Time{}
}

// reads reports whether the loop takes what is in the channel now.
func (s *syncLoop) reads(now time.Time, healthy bool) bool {
	if now.Before(s.napUntil) {
		return false
	}
	if healthy && s.well(now) {
		s.nap, s.napUntil, s.stopped = 0, time.Time{}, time.Time{}
		return true
	}
	if s.stopped.IsZero() {
		s.stopped = now
	}
	s.nap = min(max(2*s.nap, napShortest), napLongest)
	s.napUntil = now.Add(s.nap)
	return false
}

func (s *syncLoop) well(now time.Time) bool { return s.runtimeErr == "" && s.down(now) == "" }

// down returns what the kubelet says of a runtime whose Status it has not had
// for too long; empty if it has.
func (s *syncLoop) down(now time.Time) string {
	if !s.heldAt.IsZero() {
		now = s.heldAt
	}
	switch {
	case s.synced.IsZero():
		return statusNotChecked
	case now.Sub(s.synced) >= statusLasts:
		return runtimeDown
	}
	return ""
}

// downAt returns when down says so, or said so first, if no Status succeeds;
// zero while paused, and before there was one.
func (s *syncLoop) downAt() time.Time {
	if s.synced.IsZero() || !s.heldAt.IsZero() {
		return time.Time{}
	}
	return s.synced.Add(statusLasts)
}

// healthzAt returns when /healthz/syncloop begins to fail; zero while the loop
// works.
func (s *syncLoop) healthzAt() time.Time {
	if s.stopped.IsZero() {
		return time.Time{}
	}
	return s.stopped.Add(healthzLasts)
}
