package diagnose

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A node may have two runtimes of one name. Only the one that we speak to counts.
func TestAnotherRuntimeIsNotOurs(t *testing.T) {
	stopped := evidence.Process{PID: 20, Command: "containerd", State: evidence.Stopped, For: time.Minute}
	for _, tt := range []struct {
		name   string
		holder evidence.Process
		want   int
	}{
		{"nobody knows who listens", evidence.Process{}, 1},
		{"systemd listens until somebody connects", evidence.Process{PID: 1, Command: "systemd"}, 1},
		{"it listens itself", stopped, 1},
		{"another one listens", evidence.Process{PID: 30, Command: "containerd"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := &view{endpoint: "unix:///run/containerd/containerd.sock", evidence: &evidence.Report{
				Processes: evidence.Processes{Daemons: []evidence.Process{stopped}}, Socket: evidence.Socket{Kind: "socket", Holder: tt.holder},
			}}
			v.Snapshot = &engine.Snapshot{}
			if got := v.daemons(); len(got) != tt.want {
				t.Errorf("%d processes of the runtime, want %d: %v", len(got), tt.want, got)
			}
		})
	}
}
