package waits

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// What an object waits for is a helper that is about it, or else what its shim has called
// for nobody else; the oldest of them.
func TestHelperFor(t *testing.T) {
	helper := func(pid int, container, sandbox string, age time.Duration) evidence.Process {
		return evidence.Process{PID: pid, Verb: "update", Container: container, Sandbox: sandbox, Own: true, Age: age}
	}
	foreign, endless := helper(12, "c", "s", time.Hour), helper(16, "c", "s", 3*time.Hour)
	foreign.Own, endless.Verb = false, "exec"
	r := &evidence.Report{Processes: evidence.Processes{Helpers: []evidence.Process{
		helper(9, "c", "s", time.Minute), helper(10, "c", "s", time.Hour), helper(11, "c", "s", Grown-1), foreign, endless,
		helper(13, "other", "s", 2*time.Hour), helper(14, "", "s", time.Second), helper(15, "", "", time.Hour),
	}}}
	b := builder{Facts: Facts{Report: r}}
	b.index()
	for _, tt := range []struct {
		object evidence.Object
		want   int
	}{
		{evidence.Object{ObjectRef: pleg.ObjectRef{ID: "c"}, SandboxID: "s"}, 10},
		{evidence.Object{ObjectRef: pleg.ObjectRef{ID: "c"}}, 10},
		{evidence.Object{ObjectRef: pleg.ObjectRef{ID: "idle"}, SandboxID: "s"}, 14},
		{evidence.Object{ObjectRef: pleg.ObjectRef{ID: "s", Sandbox: true}}, 13},
		{evidence.Object{ObjectRef: pleg.ObjectRef{ID: "idle"}}, 0},
		{evidence.Object{}, 0},
	} {
		got := 0
		if p := b.helperFor(tt.object); p != nil {
			got = p.PID
		}
		if got != tt.want {
			t.Errorf("%+v waits for pid %d, want %d", tt.object, got, tt.want)
		}
	}
}
