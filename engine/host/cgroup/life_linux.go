package cgroup

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A life says whether a container is alive. A container has several groups where v1 and v2 are both mounted,
// and in Kata, which keeps the virtual machine itself below /kata_overhead.
type life struct {
	groups  []*group // the groups that exist
	hasV2   bool     // v2 shows its processes. Then v1 does not count, because a group of v1 ends only when it is removed, if ever
	isAlive bool
	since   time.Time // when isAlive became true
}

// changed is called after a group of a container was read or has gone. It delivers an event if the container
// has begun or ended. A group of v2 without a process is one of a container that has ended if it was there at
// the first reading, and later one of a container that is being made.
func (w *watch) changed(l *life, g *group) {
	l.hasV2 = l.hasV2 || g.isV2 && (g.isAlive || !w.isComplete)
	was := l.isAlive
	l.isAlive = slices.ContainsFunc(l.groups, func(g *group) bool { return g.isAlive && g.isV2 == l.hasV2 })
	if len(l.groups) == 0 {
		delete(w.lives, g.id)
	}
	u := pleg.Upstream{Signal: pleg.SignalStarted, ID: g.id}
	switch {
	case l.isAlive == was:
		return
	case l.isAlive:
		l.since = time.Now()
	default:
		u.Signal, u.Ran = pleg.SignalStopped, time.Since(l.since)
	}
	if w.isComplete {
		w.deliver(u)
	}
}
