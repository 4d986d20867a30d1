package diagnose

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
)

// A text on the screen changes at most once a second, not with each snapshot.
func TestTextsChangeWithTheSecond(t *testing.T) {
	at := func(more time.Duration) []Finding {
		n := healthy(5).instances(4, "app", instance{6, false, 40 * time.Second, 2 * time.Second, 1, "Error"})
		n.hangOn(3, "app", 4100*time.Millisecond).hang(call.Status, 3100*time.Millisecond).probesAnswered().condition("NetworkReady")
		n.At = n.At.Add(more)
		return n.diagnose()
	}
	text := func(all []Finding) (s []string) {
		for _, f := range all {
			s = append(append(s, f.Summary), f.Evidence...)
		}
		return s
	}
	if diff := cmp.Diff(text(at(100*time.Millisecond)), text(at(300*time.Millisecond))); diff != "" || len(at(0)) < 3 {
		t.Errorf("within a second (-before +after):\n%s", diff)
	}
}
