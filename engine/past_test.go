package engine

import (
	"testing"
	"time"
)

// What the channel has no room for is remembered, but not what the first relist makes of
// a node that has long been up.
func TestLossesAreRemembered(t *testing.T) {
	bubble(t, Config{Capacity: 4}, func(r *fakeRuntime) {
		r.ready(false)
		crowd(8)(r)
	}, func(b *bench) {
		first := b.fresh()
		if first.Channel.Discarded == 0 && first.Channel.Len == 4 || first.Memory.Losses != nil {
			t.Fatalf("channel %+v, losses %+v after the first relist", first.Channel, first.Memory.Losses)
		}
		before := b.after(6 * time.Second).Channel.Discarded
		for _, id := range []string{"p0/app", "p1/app", "p2/app", "p3/app", "p4/app", "p5/app"} {
			b.fake.exit(id, 1, "Error")
		}
		s := b.after(time.Second)
		lost := s.Channel.Discarded - before
		if l := s.Memory.Losses; lost == 0 || l == nil || l.Total != lost || l.Unnamed() != 0 {
			t.Errorf("losses %+v, want %d", l, lost)
		}
	})
}
