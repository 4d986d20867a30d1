package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// One look cannot tell a process that is stuck from one that is at work. A
// second one is made only where that is the question.
func TestLookClosely(t *testing.T) {
	for _, tt := range []struct {
		state evidence.State
		takes time.Duration
	}{
		{evidence.Sleeping, 0},
		{evidence.Stopped, 0}, // no doubt about that
		{evidence.Uninterrupted, secondLook},
	} {
		t.Run(tt.state.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, root := picture(t, nil)
				writeProc(t, root, proc{pid: 9, comm: "app", cgroup: fixtureCgroup(fixtureID("1")), state: tt.state})
				began := time.Now()
				r := n.LookClosely(t.Context())
				if took := time.Since(began); took != tt.takes {
					t.Errorf("it took %v, want %v", took, tt.takes)
				}
				if p := r.Processes.Containers[fixtureID("1")]; len(p) != 1 || p[0].State != tt.state || p[0].For != tt.takes {
					t.Errorf("processes = %+v, want one %v for %v", p, tt.state, tt.takes)
				}
			})
		})
	}
}
