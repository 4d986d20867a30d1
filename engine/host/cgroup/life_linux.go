package cgroup

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A life is of a container. It has several groups where v1 and v2 are mounted, and in Kata, which keeps the
// virtual machine itself below /kata_overhead.
type life struct {
	groups  []*group // that are there
	hasV2   bool     // v2 shows its processes. Then v1 does not count: there a group ends when it is removed, if ever
	isAlive bool
	since   time.Time // of isAlive
}

// changed delivers that a container has begun or ended, after one of its groups was read or has gone. Before all
// groups have been read, a group of v2 without a process is that of a container that has ended; after that it is of
// one that is being made.
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
