package widget

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestAxisMovesAtMostOnceASecond(t *testing.T) {
	a := &Axis{Width: 10 * time.Second}
	moved := 0
	var last time.Time
	for at := noon; at.Before(noon.Add(10 * time.Second)); at = at.Add(100 * time.Millisecond) {
		a.Follow(at)
		if _, to := a.Cell(100, 99); !to.Equal(last) {
			moved, last = moved+1, to
		}
	}
	if moved != 10 {
		t.Errorf("moved %d times in 10s, want 10", moved)
	}
}
