package engine_test

import (
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
)

// BenchmarkWhole is all that a relist costs in which nothing changed, but for its
// calls: the machine's steps, the snapshot, and the diagnosis.
func BenchmarkWhole(b *testing.B) {
	b.Run("1000x3", func(b *testing.B) {
		relist := engine.NewRelists(b, 1000)
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
