package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

func TestListHungNamesWhatWaitsInTheKernel(t *testing.T) {
	for _, tt := range []struct {
		name   string
		node   *node
		change func(r *evidence.Report)
		want   string
		says   string
	}{
		{"live", healthy(5).hang(call.ListContainers, 30*time.Second).probesAnswered(), func(*evidence.Report) {}, "critical process-stuck ns-2/pod-00002/app\ncritical list-hung ListContainers < process-stuck\n", "ns-2/pod-00002/app"},
		{"in check, nothing was listed", checked(5).fail(call.ListContainers, call.ErrDeadline, tooLate, 1).noList(), func(*evidence.Report) {},
			"critical process-stuck\ncritical list-hung ListContainers < process-stuck\ncritical pleg-unhealthy < process-stuck\n", "container container-2-0, which is not listed"},
		{"another runtime's", checked(5).fail(call.ListContainers, call.ErrDeadline, tooLate, 1).noList(), func(r *evidence.Report) { shimOf(r, 2).Own = false },
			"critical list-hung ListContainers\ncritical pleg-unhealthy < list-hung\n", ""},
		{"busy for a moment", healthy(5).hang(call.ListContainers, 30*time.Second).probesAnswered(), func(r *evidence.Report) { r.Processes.Containers["container-2-0"][0].For = 0 },
			"critical list-hung ListContainers\n", ""},
		{"nothing hangs", healthy(5), func(*evidence.Report) {}, "warning process-stuck ns-2/pod-00002/app\n", ""},
		{"the sweep found who holds the lock", healthy(5).hang(call.ListContainers, 30*time.Second).probesAnswered().fly(healthy(5).flight(2, "app", 3*time.Second)), func(*evidence.Report) {},
			"critical inspect-hung ContainerStatus ns-2/pod-00002/app\ncritical list-hung ListContainers < inspect-hung\n", "in uninterruptible sleep (D) for 32s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.node.input()
			in.Evidence, in.Endpoint = looked(healthy(5)), "unix://"+ourSocket
			p := &in.Evidence.Processes.Containers["container-2-0"][0]
			p.State, p.For, p.Wchan, p.Parent = evidence.Uninterrupted, 30*time.Second, "rpc_wait_bit_killable", shimOf(in.Evidence, 2).PID
			tt.change(in.Evidence)
			found := Diagnose(in)
			if diff := cmp.Diff(tt.want, gist(found)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			all := ""
			for _, f := range found {
				if f.ID == ListHung || f.ID == InspectHung {
					all += strings.Join(f.Evidence, "\n")
				}
			}
			if !strings.Contains(all, tt.says) {
				t.Errorf("evidence lacks %q:\n%s", tt.says, all)
			}
		})
	}
}
