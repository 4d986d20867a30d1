package look

import (
	"testing"
	"time"
)

// Figures at which nobody looks for a second do not change each second.
func TestFiguresStandStill(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "now", 4 * time.Second: "now", 5 * time.Second: "5s", 9 * time.Second: "5s", 19 * time.Second: "10s", 3 * time.Minute: "3m"} {
		if got := lately(d); got != want {
			t.Errorf("%v ago: %q, want %q", d, got, want)
		}
	}
}
