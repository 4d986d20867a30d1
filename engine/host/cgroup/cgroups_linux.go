package cgroup

import (
	"context"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/pleg"
)

// outerTimeout is how long it may take to find out what the node is in.
const outerTimeout = 250 * time.Millisecond

// A Source is the event source of one node that hears from the kernel. Safe for
// concurrent use.
type Source struct {
	root  string
	outer reads.Set[struct{}] // of the containers that the node is in
}

// New prepares for hearing what happens on the node with that root; "" is /.
func New(root string) *Source { return &Source{root: root} }

// A containerLife is what the control groups of one container say, which may be in two
// hierarchies.
type containerLife struct {
	groups  []*groupDir // that are there
	hasV2   bool        // v2 tells of its processes. Then v1 does not count: that tells when the group is removed, if ever
	isAlive bool
	since   time.Time // of isAlive
}

// withGroup returns which of a container's groups are there, after g was looked at.
func withGroup(all []*groupDir, g *groupDir) []*groupDir {
	switch at := slices.Index(all, g); {
	case g.isGone && at >= 0:
		return slices.Delete(all, at, at+1)
	case !g.isGone && at < 0:
		return append(all, g)
	}
	return all
}

// take takes in a group of the container, and reports whether that has begun or ended.
// Before all groups have been seen, one of v2 without a process is that of a container
// that has ended; after it, of one that is being made.
func (l *containerLife) take(g *groupDir, seenAll bool) (changed bool) {
	l.groups = withGroup(l.groups, g)
	l.hasV2 = l.hasV2 || g.isV2 && (g.isAlive || !seenAll)
	was := l.isAlive
	l.isAlive = slices.ContainsFunc(l.groups, func(g *groupDir) bool { return g.isAlive && g.isV2 == l.hasV2 })
	if l.isAlive && !was {
		l.since = time.Now()
	}
	return l.isAlive != was
}

// Cgroups hands the start and the end of each container and sandbox to deliver as the
// kernel's control groups show them, without asking the runtime: with v2 when the first
// process is in its group, which is a little before its own program runs, and when none
// is any more; with v1 when its group is made and removed. The kernel says no time. What
// is there when it begins is no event.
//
// It ends when ctx does, with its cause. It fails with an error that wraps
// [call.ErrUnimplemented] and says what to do where there is no tree of control groups,
// or a too large one, or the kernel gives no watches: it takes one for each group. At
// most one call may be under way. Deliver is called from one goroutine, and must return
// at once.
func (s *Source) Cgroups(ctx context.Context, deliver func(pleg.Upstream)) error {
	trees, err := hierarchies(s.root)
	if err != nil {
		return err
	}
	w, lives := &groupWatch{trees: trees, outer: s.outerContainers(ctx)}, map[string]*containerLife{}
	w.changed = func(g *groupDir) {
		l := lives[g.id]
		if l == nil {
			l = new(containerLife)
			lives[g.id] = l
		}
		if l.take(g, w.began) && w.began {
			u := pleg.Upstream{Signal: pleg.SignalStarted, ID: g.id}
			if !l.isAlive {
				u.Signal, u.Ran = pleg.SignalStopped, time.Since(l.since)
			}
			deliver(u)
		}
		if len(l.groups) == 0 {
			delete(lives, g.id)
		}
	}
	watch := reads.Go(func() error { return w.run(ctx) })
	<-watch.Done()
	return watch.Err()
}

// outerContainers returns the containers that the whole node is in, as far as that may be
// known.
func (s *Source) outerContainers(ctx context.Context) []string {
	ids, _ := reads.Start(&s.outer, struct{}{}, func() ([]string, error) { return proc.Outer(s.root) }).Wait(ctx, outerTimeout)
	return ids
}
