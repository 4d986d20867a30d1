package diagnose

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestErrandStuck(t *testing.T) {
	app := Subject{Pod: healthyPod(1).PodRef, Container: "app", ContainerID: "container-1-0"}
	errand := func(p evidence.Process) func(*node, *evidence.Report) {
		return func(_ *node, r *evidence.Report) {
			if p.PID, p.State = 9, evidence.Sleeping; p.Command == "" {
				p.Command = "runc"
			}
			if p.Parent == 0 {
				p.Parent = shimOf(r, 1).PID
			}
			r.Processes.Errands = []evidence.Process{p}
		}
	}
	runHostTests(t, errandStuck, checked, []hostTest{
		{"runc for minutes", errand(evidence.Process{Verb: "delete", Container: "container-1-0", Age: 5 * time.Minute}), "runc delete for ns-1/pod-00001 app has run for 5m0s (pid 9)", Warning, app},
		{"runc at work", errand(evidence.Process{Verb: "create", Container: "container-1-0", Age: 30 * time.Second}), "", 0, Subject{}},
		{"an exec", errand(evidence.Process{Verb: "exec", Container: "container-1-0", Age: time.Hour}), "", 0, Subject{}},
		{"somebody else's", errand(evidence.Process{Verb: "delete", Container: "build", Age: time.Hour, Parent: 77}), "", 0, Subject{}},
		{"in the kernel, which is told elsewhere", func(n *node, r *evidence.Report) {
			errand(evidence.Process{Verb: "delete", Container: "container-1-0", Age: time.Hour})(n, r)
			r.Processes.Errands[0].State, r.Processes.Errands[0].For = evidence.Uninterrupted, time.Hour
		}, "", 0, Subject{}},
		{"a network plugin for a pod that is not listed yet", func(n *node, r *evidence.Report) {
			errand(evidence.Process{Verb: "CNI ADD", Command: "calico", Container: "new", Namespace: "pay", Pod: "api-0", Age: 2 * time.Minute, Parent: r.Processes.Daemons[0].PID})(n, r)
		}, "CNI ADD by calico for pay/api-0 has run for 2m0s (pid 9)", Warning, Subject{Pod: pleg.PodRef{Namespace: "pay", Name: "api-0"}, ContainerID: "new"}},
	})
}
