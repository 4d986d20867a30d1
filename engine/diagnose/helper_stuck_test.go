package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestHelperStuck(t *testing.T) {
	app := Subject{ObjectRef: pleg.ObjectRef{ID: "container-1-0", Pod: healthyPod(1).PodRef, Container: "app"}}
	sandbox := Subject{ObjectRef: pleg.ObjectRef{ID: "sandbox-1", Pod: healthyPod(1).PodRef, Sandbox: true}}
	helpers := func(all ...evidence.Process) func(*node, *evidence.Report) {
		return func(_ *node, r *evidence.Report) {
			for i := range all {
				p := &all[i]
				p.State, p.Own, p.PID = max(p.State, evidence.Sleeping), true, 9+i
				if p.Command == "" {
					p.Command = "runc"
				}
				if p.Parent == 0 {
					p.Parent = shimOf(r, 1).PID
				}
			}
			r.Processes.Helpers = all
		}
	}
	const minutes = 5 * time.Minute
	one := func(verb string, age time.Duration) evidence.Process {
		return evidence.Process{Verb: verb, Container: "container-1-0", Age: age}
	}
	busy := func(change func(*node, *evidence.Report)) func(*node, *evidence.Report) {
		return func(n *node, r *evidence.Report) {
			change(n, r)
			r.Pressure.CPU.Some10 = answers.BusyShare
		}
	}
	runHostTests(t, by(&helperStuck), checked, []hostTest{
		{"runc for minutes", helpers(one("delete", minutes)), "runc delete of ns-1/pod-00001/app has run for 5m2s (pid 9), child of its shim", Warning, app},
		{"runc at work", helpers(one("create", 9*time.Second)), "", 0, Subject{}},
		{"an update takes no such time", helpers(one("update", 19*time.Second)), "runc update of ns-1/pod-00001/app has run for 21s", Warning, app},
		{"but on a busy node", busy(helpers(one("update", 9*time.Second))), "", 0, Subject{}},
		{"not for minutes", busy(helpers(one("update", minutes))), "runc update of", Warning, app},
		{"an exec", helpers(one("exec", time.Hour)), "", 0, Subject{}},
		{"what nobody knows", helpers(one("sleep", time.Hour)), "", 0, Subject{}},
		{"somebody else's", func(n *node, r *evidence.Report) {
			helpers(one("delete", time.Hour))(n, r)
			r.Processes.Helpers[0].Own = false
		}, "", 0, Subject{}},
		{"in the kernel, which is told elsewhere", func(n *node, r *evidence.Report) {
			helpers(one("delete", time.Hour))(n, r)
			r.Processes.Helpers[0].State, r.Processes.Helpers[0].For = evidence.Uninterrupted, time.Hour
		}, "", 0, Subject{}},
		{
			"a network plugin for a pod that is not listed yet",
			helpers(evidence.Process{Verb: "CNI ADD", Command: "calico", Container: "new", Pod: pleg.PodRef{Namespace: "pay", Name: "api-0"}, Age: 2 * time.Minute, Parent: 1}),
			"CNI ADD by calico of pay/api-0 has run for 2m2s (pid 9)", Warning, Subject{ObjectRef: pleg.ObjectRef{ID: "new", Pod: pleg.PodRef{Namespace: "pay", Name: "api-0"}, Sandbox: true}},
		},
		{"what tells no container is the shim's", helpers(evidence.Process{Verb: "umount", Command: "umount", Sandbox: "sandbox-1", Age: minutes}), "umount of ns-1/pod-00001 has run", Warning, sandbox},
		{
			"one within another",
			helpers(one("update", minutes), evidence.Process{Verb: "sh", Command: "sh", Container: "container-1-0", Age: minutes, Parent: 9}, evidence.Process{Verb: "mount.nfs", Command: "mount.nfs", Container: "container-1-0", Age: minutes - 1, Parent: 10}),
			"runc update of ns-1/pod-00001/app has run for 5m2s (pid 9)", Warning, app,
		},
		{"one within an exec", helpers(one("exec", time.Hour), evidence.Process{Verb: "umount", Command: "umount", Container: "container-1-0", Age: time.Hour, Parent: 9}), "umount of ns-1/pod-00001/app has run for 1h0m (pid 10)", Warning, app},
		{"several of one container are told once", helpers(one("kill", minutes), one("kill", minutes+1), one("update", 2*minutes)), "runc update of ns-1/pod-00001/app has run for 10m2s (pid 11)", Warning, app},
	})
}

// The finding says what the helper waits for, and which others there are of its kind.
func TestHelperStuckEvidence(t *testing.T) {
	n := checked(3)
	r := looked(n)
	id := "container-1-0"
	r.Processes.Helpers = []evidence.Process{
		{PID: 9, Command: "runc", Verb: "update", Container: id, Own: true, Age: time.Hour, State: evidence.Sleeping, Wchan: "do_wait", Parent: shimOf(r, 1).PID},
		{PID: 10, Command: "sh", Verb: "sh", Container: id, Own: true, Age: time.Hour, State: evidence.Sleeping, Parent: 9},
		{PID: 11, Command: "mount.nfs", Verb: "mount.nfs", Container: id, Own: true, Age: time.Hour, State: evidence.Sleeping, Wchan: "rpc_wait_bit_killable", Parent: 10},
		{PID: 12, Command: "runc", Verb: "kill", Container: id, Own: true, Age: time.Minute, State: evidence.Sleeping, Parent: shimOf(r, 1).PID},
	}
	in := n.input()
	in.Evidence = r
	found := find(&helperStuck, factsOf(in))
	if len(found) != 1 {
		t.Fatalf("%d findings, want one: %+v", len(found), found)
	}
	got := strings.Join(found[0].Evidence, "\n")
	for _, want := range []string{
		"the helper: pid 9 (runc) is sleeping, waits in do_wait",
		"it waits for mount.nfs: pid 11 (mount.nfs) is sleeping, waits in rpc_wait_bit_killable",
		"also runc kill of ns-1/pod-00001/app has run for 1m2s (pid 12), child of its shim",
		"a helper is reported from 5s on",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("evidence has no %q:\n%s", want, got)
		}
	}
}

// A kill is the mildest way to end it, and the steps go on for when that is not enough.
func TestAHelperThatAKillDoesNotEnd(t *testing.T) {
	n := healthy(3)
	in := n.input()
	in.Evidence = looked(n)
	in.Evidence.Processes.Helpers = []evidence.Process{{PID: 9, Command: "runc", Verb: "update", Container: "container-1-0", Own: true, State: evidence.Sleeping, Age: time.Minute, Parent: shimOf(in.Evidence, 1).PID}}
	found := Diagnose(in)
	if len(found) == 0 || found[0].ID != HelperStuck {
		t.Fatalf("found %s", gist(found))
	}
	var risky []string
	for _, s := range found[0].Next {
		if s.acts() {
			risky = append(risky, s.Command)
		}
	}
	if want := []string{"kill 9", "kill -9 9", "systemctl restart containerd"}; !slices.Equal(risky, want) || found[0].act().Command != want[0] {
		t.Errorf("steps %q, want %q", risky, want)
	}
}

// A helper is one finding, also after the thing that it makes is listed and so has a name.
func TestAHelperOfWhatIsListedLater(t *testing.T) {
	at := func(after time.Duration, id string) engine.Update {
		n := healthy(3)
		r := looked(n)
		r.Processes.Helpers = []evidence.Process{{PID: 9, Command: "runc", Verb: "create", Container: id, Own: true, Age: time.Minute + after, State: evidence.Sleeping, Parent: shimOf(r, 1).PID}}
		n.Evidence = r
		return n.after(after)
	}
	all := play(t, at(0, "new"), at(3*second, "new"), at(6*second, "container-1-0"), at(9*second, "container-1-0"), at(20*second, "container-1-0"))
	if got, want := turns(all), "3s began warning helper-stuck\n"; got != want && got != "0s began warning helper-stuck\n" {
		t.Errorf("turns %q, want %q", got, want)
	}
	if last := all[len(all)-1].Findings; len(last) != 1 || last[0].Subject.Pod.Name != "pod-00001" {
		t.Errorf("findings %+v", last)
	}
}
