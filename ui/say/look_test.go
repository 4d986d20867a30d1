package say

import (
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/theme"
)

// TestEventThatNoRelistSaw holds that a death which is not known to have been a good one looks
// bad, and all else that the kubelet cannot see like a warning.
func TestEventThatNoRelistSaw(t *testing.T) {
	th := theme.For(true)
	for _, tt := range []struct {
		name string
		e    pleg.Event
		want theme.Style
	}{
		{"of which control groups tell no exit code", pleg.Event{Kind: pleg.Died}, th.Bad},
		{"failed", pleg.Event{Kind: pleg.Died, Exited: true, ExitCode: 3}, th.Bad},
		{"done", pleg.Event{Kind: pleg.Died, Exited: true}, th.Warn},
		{"started", pleg.Event{Kind: pleg.Started}, th.Warn},
	} {
		tt.e.Delivery = pleg.Unseen
		if symbol, got := Event(&th, &engine.Event{Event: tt.e}); symbol != th.Symbols.Unseen || got != tt.want {
			t.Errorf("%s: %q %+v", tt.name, symbol, got)
		}
	}
}
