package say

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
)

func TestRecording(t *testing.T) {
	for want, r := range map[string]engine.Recording{
		"":                             {},
		"the last 15m in memory, 1.0M": {Span: 15 * time.Minute, Kept: 1 << 20},
		"to f, 2.0K so far":            {File: "f", Written: 2048},
		"to f ended: no room":          {File: "f", Ended: "no room"},
		"ended: no room":               {Ended: "no room"},
		"to f ended: no room; the last 10s in memory, 512B": {File: "f", Ended: "no room", Span: 10 * time.Second, Kept: 512},
	} {
		if got := Recording(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
