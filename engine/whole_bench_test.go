package engine_test

import (
	"context"
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
			live := diagnose.NewLive(relists(relist), "")
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
