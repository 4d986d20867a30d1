package engine

import "testing"

// NewRelists returns what makes one relist of a node of n pods with three
// containers each, in which nothing changes, and returns the snapshot after it. It
// lets tests of other packages step a machine without its shell.
func NewRelists(t testing.TB, n int) func() *Snapshot {
	s := node(t, n)
	return func() *Snapshot {
		s.relist()
		return s.snapshot(s.now)
	}
}
