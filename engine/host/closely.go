package host

import (
	"context"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// secondLook is how long after the first look a second one tells whether a process
// has moved.
const secondLook = time.Second

// LookClosely is [Node.Look] for who looks only once. Every process is in
// uninterruptible sleep for a moment now and then, and runc freezes a container
// to change its limits; where one is so at the first look there is a second one
// after a second, so that the report says how long it has been so. It returns
// sooner if ctx ends.
func (n *Node) LookClosely(ctx context.Context) evidence.Report {
	r := n.Look(ctx)
	if !maybeStuck(r.Processes) {
		return r
	}
	timer := time.NewTimer(secondLook)
	defer timer.Stop()
	select {
	case <-timer.C:
		if again := n.Look(ctx); again.Processes.Missing == "" {
			return again
		}
	case <-ctx.Done():
	}
	return r
}

// maybeStuck reports whether a process may be stuck, or may just be at work.
func maybeStuck(p evidence.Processes) bool {
	busy := func(p evidence.Process) bool {
		return (p.State == evidence.Uninterrupted || p.State == evidence.Frozen) && p.For == 0
	}
	for _, of := range p.Containers {
		if slices.ContainsFunc(of, busy) {
			return true
		}
	}
	return slices.ContainsFunc(p.Shims, busy) || slices.ContainsFunc(p.Runcs, busy) || slices.ContainsFunc(p.Daemons, busy)
}
