package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// addresses removes the addresses of the first n pods, whose sandboxes are this old.
func (n *node) noAddress(pods int, age time.Duration) *node {
	for i := range pods {
		s := n.pod(i).Status
		s.IPs, s.Sandboxes[0].CreatedAt = nil, ago(age)
	}
	return n.anew()
}

// TestNoAddress checks that several pods without an address are reported in one finding and in the headline. One or two
// pods are not, and neither are young ones, pods on the host's network, and pods whose sandbox has ended.
func TestNoAddress(t *testing.T) {
	other := func(change func(s *pleg.SandboxStatus)) *node {
		n := healthy(5).noAddress(4, time.Minute)
		for i := range 4 {
			change(&n.pod(i).Status.Sandboxes[0])
		}
		return n.anew()
	}
	for name, tt := range map[string]struct {
		n    *node
		want bool
	}{
		"four":               {healthy(5).noAddress(4, 42*time.Second), true},
		"two":                {healthy(5).noAddress(2, time.Minute), false},
		"young":              {healthy(5).noAddress(4, 29*time.Second), false},
		"the host's network": {other(func(s *pleg.SandboxStatus) { s.HostNetwork = true }), false},
		"ended":              {other(func(s *pleg.SandboxStatus) { s.State = pleg.Exited }), false},
		"an address came":    {other(func(s *pleg.SandboxStatus) { s.IPs = []string{"10.0.0.9"} }), false},
	} {
		v := tt.n.facts()
		found := v.diagnose()
		head := v.headline(found)
		got := len(found) == 1 && found[0].ID == NoAddress && found[0].Count == 4 && strings.Contains(found[0].Summary, "4 pods have no IP, the first for 42s")
		if got != tt.want || (head.Word == Degraded) != tt.want || !tt.want && len(found) > 0 {
			t.Errorf("%s: %+v, headline %+v", name, found, head)
		}
	}
}
