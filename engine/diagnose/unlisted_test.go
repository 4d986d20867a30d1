package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
)

// forget makes the runtime list no container of some pods, while their processes go on below their shims.
func forget(n *node, r *evidence.Report, pods ...int) {
	for _, i := range pods {
		p := n.pod(i)
		for _, c := range p.Old.Containers {
			all(r, c.ID, func(q *evidence.Process) { q.Parent = shimOf(r, i).PID })
		}
		p.Old.Containers, p.Status.Containers = nil, nil
	}
}

func TestUnlistedContainers(t *testing.T) {
	runHostTests(t, by(&orphanShims), checked, []hostTest{
		{"forgotten at its start", func(n *node, r *evidence.Report) {
			restarted(r, 10*time.Second)
			forget(n, r, 0, 1)
		}, "containerd has forgotten 4 containers whose work goes on: it began 12s ago", Warning, Subject{}},
		{"of one pod", func(n *node, r *evidence.Report) {
			restarted(r, 10*time.Second)
			forget(n, r, 1)
		}, "containerd has forgotten 2 containers whose work goes on: it began 12s ago", Warning, Subject{}},
		{"not by a start", func(n *node, r *evidence.Report) {
			restarted(r, 48*time.Hour)
			forget(n, r, 1)
		}, "shims go on with 2 containers that containerd does not list", Warning, Subject{}},
		{"its start is not known, and they are young", func(n *node, r *evidence.Report) {
			forget(n, r, 1)
			for _, id := range []string{"container-1-0", "container-1-1"} {
				all(r, id, func(p *evidence.Process) { p.Age = 50 * time.Second })
			}
		}, "", 0, Subject{}},
		{"one is removed just now", func(n *node, r *evidence.Report) {
			forget(n, r, 1)
			delete(r.Processes.Containers, "container-1-1")
			n.pod(1).Deaths = []past.Death{{ID: "container-1-0", At: ago(time.Second)}} // after the look
		}, "", 0, Subject{}},
		{"of another runtime", func(n *node, r *evidence.Report) {
			forget(n, r, 1)
			shimOf(r, 1).Own = false
		}, "", 0, Subject{}},
		{"the list is not whole", func(n *node, r *evidence.Report) {
			forget(n, r, 1)
			n.Anomalies.NoMetadata = 1
		}, "", 0, Subject{}},
		{"no list of containers was answered yet", func(n *node, r *evidence.Report) {
			restarted(r, 10*time.Second)
			forget(n, r, 0, 1)
			n.Health.ListedAt = time.Time{}
		}, "", 0, Subject{}},
		{"only what is left of them", func(n *node, r *evidence.Report) {
			forget(n, r, 1)
			for _, id := range []string{"container-1-0", "container-1-1"} {
				all(r, id, func(p *evidence.Process) { p.State = evidence.Zombie })
			}
		}, "", 0, Subject{}},
	})
}

// Containers that were forgotten come back with the next start, and no step kills them. Containers that were not
// forgotten at a start do not come back.
func TestForgottenContainersComeBack(t *testing.T) {
	for age, want := range map[time.Duration]bool{10 * time.Second: true, 48 * time.Hour: false, 0: true} {
		n := healthy(3)
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
		if age > 0 { // else nobody saw when it began
			restarted(in.Evidence, age)
		}
		forget(n, in.Evidence, 1)
		f := find(&orphanShims, factsOf(in))[0]
		said := fmt.Sprint(f.Next)
		if strings.Contains(said, "kill") || strings.Contains(said, "systemctl restart containerd") != want {
			t.Errorf("%v: %s", age, said)
		}
		if check := f.check(); strings.Contains(check.Command, "failed to load") != want {
			t.Errorf("%v: check %q", age, check)
		}
	}
}

// Their images look unused, and are not.
func TestImagesOfTheForgottenStay(t *testing.T) {
	n := checked(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
	fillDisk(in.Evidence)
	restarted(in.Evidence, 10*time.Second)
	for i, want := range []string{"crictl rmi --prune", ""} {
		if i == 1 {
			forget(n, in.Evidence, 1)
		}
		if act := find(&diskFull, factsOf(in))[0].act(); act.Command != want {
			t.Errorf("%d: act %q, want %q", i, act, want)
		}
	}
}

// If not all processes were seen, something may live below a shim that is in no list.
func TestNoImageIsPrunedWhereSomethingMayLive(t *testing.T) {
	for partial, want := range map[string]string{"": "crictl rmi --prune", "cut off after 2s": ""} {
		n := checked(3)
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
		fillDisk(in.Evidence)
		shimOf(in.Evidence, 1).Sandbox = "lost"
		delete(in.Evidence.Processes.Containers, "container-1-0")
		delete(in.Evidence.Processes.Containers, "container-1-1")
		delete(in.Evidence.Processes.Containers, "sandbox-1")
		in.Evidence.Processes.Partial = partial
		if act := find(&diskFull, factsOf(in))[0].act(); act.Command != want {
			t.Errorf("%q: act %q, want %q", partial, act, want)
		}
	}
}

// The processes of one pod are as old as its oldest container, and the first process of that is the oldest: a probe is
// young, and so is a container that was started after a start that forgot the others.
func TestTheOldestIsOfTheContainer(t *testing.T) {
	n := healthy(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
	restarted(in.Evidence, time.Hour)
	forget(n, in.Evidence, 1)
	first := in.Evidence.Processes.Containers["container-1-0"]
	probe := first[0]
	probe.PID, probe.Age = 7, 2*time.Minute
	in.Evidence.Processes.Containers["container-1-0"] = append([]evidence.Process{probe}, first...)
	all(in.Evidence, "container-1-1", func(p *evidence.Process) { p.Age = 2 * time.Minute })
	for range 20 { // whichever comes first
		forgotten, leftOver := factsOf(in).unlisted()
		if len(forgotten) != 1 || len(leftOver) != 1 || forgotten[0].process.PID == 7 {
			t.Fatalf("%+v, %+v", forgotten, leftOver)
		}
	}
}

// Steps that use a runtime that does not answer wait for that, and have nothing to do with room.
