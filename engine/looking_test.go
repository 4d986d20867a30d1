package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/answers"
)

// How often somebody looks changes nothing of what there is to see.
func TestLookingChangesNothing(t *testing.T) {
	for seed := range uint64(3) {
		w := newWorld(t, seed, Config{Streams: worldStreams()}, answers.Policy{})
		w.recorded(t, 3000)
		start := time.Unix(1_000_000, 0).UTC()
		run := func(every int) *Snapshot {
			m := newMachine(w.m.config, w.m.policy.Policy, start)
			for i, l := range w.log {
				m.step(l.at, l.in)
				if i%every == 0 {
					m.snapshot(l.at)
				}
			}
			return m.snapshot(w.log[len(w.log)-1].at)
		}
		a, b := run(1), run(len(w.log)+1)
		sameError := cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
		for _, d := range []string{difference(a.Memory.Hung, b.Memory.Hung), difference(a.Memory.Back, b.Memory.Back), difference(a.Gone, b.Gone), difference(a.Memory.Losses, b.Memory.Losses), difference(a.Memory.Outages, b.Memory.Outages), difference(a.Calls, b.Calls, sameError), difference(a.Sweep, b.Sweep, sameError)} {
			if d != "" {
				if len(d) > 700 {
					d = d[:700]
				}
				t.Errorf("seed %d: %s", seed, d)
			}
		}
	}
}
