package engine_test

import (
	"testing"

	"github.com/plegtop/plegtop/engine"
)

// A recording keeps the time since the start, and a replay shows the very times that were shown live.
func TestWallTimeIsTheStartAndTheTimeSince(t *testing.T) {
	clock := engine.RealTime()
	start := clock.Now()
	for range 10_000 {
		now := clock.Now()
		if wall, since := now.Round(0).Sub(start.Round(0)), now.Sub(start); wall != since {
			t.Fatalf("%v on the wall, %v measured", wall, since)
		}
	}
}
