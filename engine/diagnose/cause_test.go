package diagnose

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A helper that was started after the list hung is not its cause: the process in NFS is.
func TestAHelperBegunAfterTheHangIsNoCause(t *testing.T) {
	s := listHangs().and(func(s sick) { s.sweepHung(1, "app") })
	in := s.r.Processes.Containers["container-1-0"]
	inNFS(&in[0])
	s = s.helper("kill", "container-1-0", func(p *evidence.Process) { p.Age = 1500 * time.Millisecond })
	found, _ := s.diagnose()
	if found[0].ID == HelperStuck {
		t.Error("a helper that was begun 9 s after all hung is the cause")
	}
}

// The cause of a hanging list is also found if its helper is one of several that one finding counts.
func TestTheCauseIsFoundBelowTheFindingsOfTheRest(t *testing.T) {
	s := listHangs().and(func(s sick) { s.sweepHung(1, "app") }).helper("update", "container-1-0", func(p *evidence.Process) { p.Age = 12 * time.Second })
	for i := range 12 {
		s = s.helper("CNI ADD", fmt.Sprint("new-", i), func(p *evidence.Process) {
			p.Command, p.Parent, p.Age, p.Pod.Namespace, p.Pod.Name = "calico", 1, time.Duration(20+i)*time.Second, fmt.Sprint("ns-", i), fmt.Sprint("web", i)
		})
	}
	found, _ := s.diagnose()
	for _, f := range found {
		if f.ID == ListHung && f.Cause != HelperStuck {
			t.Errorf("list-hung has cause %q", f.Cause)
		}
	}
}

// A finding does not name a cause that the filter leaves out.
func TestACauseThatIsLeftOutIsNotNamed(t *testing.T) {
	a, b := Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "a", Name: "x"}}}, Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "b", Name: "y"}}}
	all := []Finding{
		{ID: HelperStuck, Subject: a},
		{ID: HelperStuck, Subject: b},
		{ID: ListHung, Cause: HelperStuck, CauseKey: Key{ID: HelperStuck, Subject: b}},
	}
	kept := onlyIn(all, []string{"a"})
	if f := kept[len(kept)-1]; f.Cause != "" {
		t.Errorf("cause %v by %+v, which is left out", f.Cause, f.CauseKey)
	}
}

// A finding about processes of several containers names who hangs.
func TestProcessesOfContainersAreNamed(t *testing.T) {
	s := listHangs()
	for i := range 2 {
		s.r.Processes.Shims = append(s.r.Processes.Shims, evidence.Process{PID: 5000 + i, Command: "conmon", Container: fmt.Sprintf("container-%d-0", i), State: evidence.Uninterrupted, For: time.Minute, Own: true, Mount: evidence.Mount{Point: "/data", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}})
	}
	found, _ := s.diagnose()
	if found[0].Summary[0] == ' ' {
		t.Errorf("nobody is named: %q", found[0].Summary)
	}
}

// A stopped shim is not the cause of a deadlock in the runtime.
func TestAStoppedShimIsNotTheCauseOfADeadlock(t *testing.T) {
	s := listHangs().locks(
		evidence.Lock{Of: "nri.(*local)", Address: "0xa", Waiters: 3, Calls: []string{"ListContainers"}, Holder: evidence.Goroutine{Number: 1, Doing: "another lock", Waits: "0xb"}},
		evidence.Lock{Of: "adaptation.(*Adaptation)", Address: "0xb", Waiters: 1, Holder: evidence.Goroutine{Number: 2, Doing: "another lock", Waits: "0xa"}},
	)
	shimOf(s.r, 2).State = evidence.Stopped
	found, _ := s.diagnose()
	for _, f := range found {
		if f.ID == ListHung && f.Cause != "" {
			t.Errorf("a deadlock of the runtime is the fault of %v", f.CauseKey)
		}
	}
}
