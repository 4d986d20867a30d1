package engine_test

import (
	"fmt"
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
)

// BenchmarkWhole is all that a relist costs but for its calls: the machine's steps,
// the snapshot, and the diagnosis; where nothing changed, and where a container ended
// or began in a hundred pods.
func BenchmarkWhole(b *testing.B) {
	for _, bb := range []struct{ pods, changed int }{{1000, 0}, {1000, 100}, {10_000, 0}, {10_000, 100}} {
		b.Run(fmt.Sprintf("%dx3/%d", bb.pods, bb.changed), func(b *testing.B) {
			relist := engine.NewRelists(b, bb.pods, bb.changed)
			history := diagnose.NewHistory()
			b.ReportAllocs()
			for b.Loop() {
				s := relist()
				history.Add(engine.Update{Snapshot: s})
				if found := diagnose.Diagnose(diagnose.Input{Snapshot: s, History: history}); found != nil {
					b.Fatal(found)
				}
			}
		})
	}
}
