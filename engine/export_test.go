package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/answers"
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

// NewTaped returns what makes one relist of a node of n pods with three containers each, in which
// nothing has changed, before a tape; nil for none. Its lists are new slices each time.
func NewTaped(t testing.TB, n int, tape Tape) (relist func()) {
	s := node(t, n)
	if s.tape = tape; tape != nil {
		tape.Begin(s.machine)
	}
	return func() {
		s.sandboxes, s.containers = slices.Clone(s.sandboxes), slices.Clone(s.containers)
		s.relist()
		if s.snapshot(s.now); tape != nil {
			tape.Shown(s.now, Cost{CallsPerSecond: 2})
		}
	}
}

// A World is a machine in a world of chance, with a tape, for tests of recordings.
type World struct{ *world }

// NewWorld returns a world that begins at a time of the clock.
func NewWorld(t testing.TB, seed uint64) *World {
	return &World{newWorldAt(t, time.Now(), seed, Config{Streams: worldStreams()}, answers.Policy{})}
}

// Machine returns the machine, for [Tape.Begin].
func (w *World) Machine() Recorded { return w.m }

// Step lets the next thing happen, and tells the tape. With a snapshot it returns that, too.
func (w *World) Step(tape Tape, snapshot bool) Update {
	in := w.next(w.m.due())
	tape.Step(w.now, in)
	u := Update{Events: w.step(in).Events}
	if snapshot {
		u.Snapshot = w.m.snapshot(w.now)
		tape.Shown(w.now, Cost{CallsPerSecond: 1})
	}
	return u
}

// Difference compares two updates that should be equal but for their numbers and costs.
func Difference(want, got Update) string {
	s, o := *want.Snapshot, *got.Snapshot
	s.Seq, s.Cost = o.Seq, o.Cost
	want.Snapshot, got.Snapshot = &s, &o
	return difference(want, got, cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }))
}
