package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
)

// BenchmarkWhole is all that a relist costs but for its calls: the observations, the snapshot, and the
// diagnosis; where nothing changed, and where a container ended or began in a hundred pods.
func BenchmarkWhole(b *testing.B) {
	for _, bb := range []struct{ pods, changed int }{{1000, 0}, {1000, 100}, {10_000, 0}, {10_000, 100}} {
		b.Run(fmt.Sprintf("%dx3/%d", bb.pods, bb.changed), func(b *testing.B) {
			live := diagnose.NewLive(relists(engine.NewRelists(b, bb.pods, bb.changed, nil)), "")
			b.ReportAllocs()
			for b.Loop() {
				if u, err := live.Next(b.Context()); err != nil || u.Findings != nil {
					b.Fatal(u.Findings, err)
				}
			}
		})
	}
}

// relists are a feed of what one relist after the other shows.
type relists func() *engine.Snapshot

// Next makes the next relist.
func (r relists) Next(context.Context) (engine.Update, error) {
	return engine.Update{Snapshot: r()}, nil
}

// The recorder allocates next to nothing for a relist of a large node where nothing has changed.
func TestATapeAllocatesLittle(t *testing.T) {
	allocations := func(tape engine.Tape) float64 {
		relist := engine.NewRelists(t, 1000, 0, tape)
		for range 10 { // what is made once
			relist()
		}
		return testing.AllocsPerRun(20, func() { relist() })
	}
	without := allocations(nil)
	if with := allocations(record.NewRecorder(record.Options{})); with > without+15 {
		t.Errorf("%v allocations of a relist that is recorded, %v of one that is not", with, without)
	}
}
