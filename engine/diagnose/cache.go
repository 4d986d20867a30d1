package diagnose

import (
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A cache keeps what a diagnosis would work out anew each time. It changes nothing of what
// is found. The zero value is empty. It belongs to one goroutine.
type cache struct {
	pods   podTable         // of the last snapshot
	looked *evidence.Report // the last look at the node
	stuck  bool             // that found a process that does nothing
}

// update takes over a snapshot.
func (c *cache) update(s *engine.Snapshot) {
	c.pods.update(s)
	if r := s.Evidence; r != c.looked && r != nil {
		c.looked, c.stuck = r, anyStuck(&r.Processes)
	}
}

// anyStuck reports whether a look found a process that does nothing.
func (c *cache) anyStuck(r *evidence.Report) bool {
	if r != c.looked {
		return anyStuck(&r.Processes)
	}
	return c.stuck
}

// same reports whether two snapshots share their pods, as they do while nothing
// changes.
func same(a, b []*engine.Pod) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
