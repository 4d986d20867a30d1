package say

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/sources"
)

// TestStreamTrouble holds what is said of an event source beside its state.
func TestStreamTrouble(t *testing.T) {
	soon := noon.Add(40 * time.Second)
	for _, tt := range []struct {
		name string
		of   sources.SourceState
		want string
	}{
		{"well", sources.SourceState{State: sources.StreamConnected, Received: 7, Tries: 1}, ""},
		{"lost", sources.SourceState{State: sources.StreamLost, Reason: "broken pipe", LastErr: "broken pipe", NextAt: soon, Tries: 3}, "broken pipe; opened again in 40s; 3 tries in a row did not last"},
		{"back again", sources.SourceState{State: sources.StreamConnected, LastErr: "broken pipe"}, "broke last with: broken pipe"},
		{"not enabled: that it is tried now and then is of no use to know", sources.SourceState{State: sources.StreamNotEnabled, Reason: "off", NextAt: soon}, "off"},
		{"odd", sources.SourceState{State: sources.StreamConnected, BadClock: "an hour off", Backlog: 12, Unknown: 1234}, "its times are not used: an hour off; 12 events from before it was opened; 1234 events of ids that no relist had"},
	} {
		if got := streamTrouble(&engine.Snapshot{At: noon}, &tt.of); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
