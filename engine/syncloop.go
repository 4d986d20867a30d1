package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/pleg"
)

// The kubelet's constants for its sync loop and for what that waits for.
const (
	napShortest = 100 * time.Millisecond
	napLongest  = 5 * time.Second
	toHousekeep = time.Second // on average, to the next housekeeping: there is one every 2 s

	healthzLasts = 5 * time.Minute // /healthz/syncloop, with a loop that has stopped
)

// A syncLoop is a model of the kubelet's sync loop as the reader of the event
// channel. While the runtime and PLEG are well it takes every event as it
// comes. Otherwise it reads nothing and looks again after a nap, which grows
// from 100 ms to 5 s; so it may be late in noticing that all is well again.
//
// Its housekeeping lists all pods itself every 2 s. A list that hangs holds the whole
// loop up to its deadline, and only then does it see what else is wrong.
// (kubelet syncLoopIteration, HandlePodCleanups.)
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
	held       time.Time // since when its housekeeping waits for a list; zero while it does not
	pausedAt   time.Time // start of the pause; zero if there is none
}

func (s *syncLoop) status(at time.Time, conditions []pleg.Condition) {
	s.networkErr = unmet(networkNotReady, conditions, "NetworkReady")
	s.runtimeErr = unmet(runtimeNotReady, conditions, "RuntimeReady")
	if s.runtimeErr == "" {
		s.synced, s.syncedAt = at, at
	}
}

// pause stops and restarts the ageing of the last Status. That no Status is
// asked for during a pause is our doing, not the runtime's.
func (s *syncLoop) pause(now time.Time, paused bool) {
	if paused {
		s.pausedAt = now
		return
	}
	s.synced = sooner(s.synced.Add(now.Sub(s.pausedAt)), now)
	if !s.held.IsZero() {
		s.held = s.held.Add(now.Sub(s.pausedAt))
	}
	s.pausedAt = time.Time{}
}

// due returns when the loop's housekeeping begins or ends to wait, or its nap ends;
// zero if nothing of that is to come.
func (s *syncLoop) due(m *machine) time.Time {
	switch list := m.relists.listOut(m); {
	case !s.pausedAt.IsZero() || !s.stopped.IsZero():
	case !s.held.IsZero():
		return s.held.Add(m.config.Timeout)
	case !list.IsZero():
		return list.Add(toHousekeep)
	}
	return s.napUntil
}

// returns ends the loop's wait for its housekeeping's list: that is ours as far as we can
// tell, but for its deadline, which comes as much later as it began later.
func (s *syncLoop) returns(m *machine) {
	ended := m.relists.listReturned.After(s.held) || !m.now.Before(s.held.Add(m.config.Timeout))
	if s.pausedAt.IsZero() && ended {
		s.held = time.Time{}
	}
}

// keepsHouse begins the loop's wait for a list. Before it looked after itself.
func (s *syncLoop) keepsHouse(m *machine) {
	list := m.relists.listOut(m)
	if s.held.IsZero() && s.stopped.IsZero() && s.pausedAt.IsZero() && !list.IsZero() && !m.now.Before(list.Add(toHousekeep)) {
		s.held = m.now
	}
}

// reads reports whether the loop takes what is in the channel now.
func (s *syncLoop) reads(now time.Time, healthy bool) bool {
	if now.Before(s.napUntil) || !s.held.IsZero() {
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
	if !s.pausedAt.IsZero() {
		now = s.pausedAt
	}
	switch {
	case s.synced.IsZero():
		return statusNotChecked
	case now.Sub(s.synced) >= answers.StatusLasts:
		return runtimeDown
	}
	return ""
}

// downAt returns when down says so, or said so first, if no Status succeeds;
// zero while paused, and before there was one.
func (s *syncLoop) downAt() time.Time {
	if s.synced.IsZero() || !s.pausedAt.IsZero() {
		return time.Time{}
	}
	return s.synced.Add(answers.StatusLasts)
}

// healthzAt returns when /healthz/syncloop begins to fail; zero while the loop
// works.
func (s *syncLoop) healthzAt() time.Time {
	if s.stopped.IsZero() {
		return time.Time{}
	}
	return s.stopped.Add(healthzLasts)
}
