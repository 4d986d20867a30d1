package engine

import (
	"testing"

	"github.com/plegtop/plegtop/engine/pleg"
)

// NewRelists returns what makes one relist of a node of n pods with three
// containers each, in which a container ends or begins in so many of them, and
// returns the snapshot after it. It lets tests of other packages step a machine
// without its shell.
func NewRelists(t testing.TB, n, changed int) func() *Snapshot {
	s := node(t, n)
	return func() *Snapshot {
		for i := range changed {
			c := &s.containers[3*(i*n/changed)]
			c.State = pleg.Running + pleg.Exited - c.State
		}
		s.relist()
		return s.snapshot(s.now)
	}
}
