package ui

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/theme"
)

// TestVerdict holds that the word is not that of a sound node while a call of the
// relist hangs, or while the node is not ready for another reason.
func TestVerdict(t *testing.T) {
	look := theme.Default()
	hung := func(out time.Duration, by engine.Asker) *engine.Snapshot {
		s := hungNode()
		s.InFlight[0].Since, s.InFlight[0].By = ago(out), by
		return s
	}
	notReady := nodeOf(healthyNode())
	notReady.Node.Ready = false
	old := healthyNode()
	old.Health.ListedAt = ago(100 * time.Second)
	for _, tt := range []struct {
		name string
		s    *engine.Snapshot
		want string
	}{
		{"before the first snapshot", starting(), "STARTING"},
		{"all is well", nodeOf(healthyNode()), "HEALTHY"},
		{"hangs for a moment", hung(riskAfter-time.Second, engine.ByRelist), "HEALTHY"},
		{"hangs", hung(riskAfter, engine.ByRelist), "AT RISK"},
		{"a call of a sweep hangs", hung(riskAfter, engine.BySweep), "HEALTHY"},
		{"an old list", old, "AT RISK"},
		{"the node is not ready", notReady, "PLEG HEALTHY"},
		{"unhealthy", unhealthyNode(), "UNHEALTHY"},
	} {
		if got := judge(brush{&look, tt.s.At}, tt.s).word; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
