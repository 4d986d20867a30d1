package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// onCRIO makes a node one of CRI-O: a conmon for each container, no pause process.
func onCRIO(n *node, r *evidence.Report) {
	n.Version = pleg.Version{RuntimeName: "cri-o", RuntimeVersion: "1.37.0", APIVersion: "v1"}
	r.Processes.Shims = nil
	for _, p := range n.Pods {
		delete(r.Processes.Containers, p.Seen().Sandboxes[0].ID)
		for _, c := range p.Seen().Containers {
			r.Processes.Shims = append(r.Processes.Shims, evidence.Process{PID: 5000 + len(r.Processes.Shims), Command: "conmon", State: evidence.Sleeping, Age: time.Hour, Container: c.ID})
		}
	}
}

func dropConmon(r *evidence.Report, id string) {
	r.Processes.Shims = slices.DeleteFunc(r.Processes.Shims, func(p evidence.Process) bool { return p.Container == id })
}

func TestLeftRunning(t *testing.T) {
	app := Subject{ObjectRef: pleg.ObjectRef{ID: "container-1-0", Pod: healthyPod(1).PodRef, Container: "app"}}
	sidecar := Subject{ObjectRef: pleg.ObjectRef{ID: "container-1-1", Pod: healthyPod(1).PodRef, Container: "sidecar"}}
	ends := func(n *node, since time.Duration) {
		p := n.pod(1)
		p.Old.Containers[0].State, p.Status.Containers[0].State, p.Status.Containers[0].FinishedAt = pleg.Exited, pleg.Exited, ago(since)
	}
	noSandbox := func(n *node) { n.pod(1).Old.Sandboxes[0].State = pleg.Exited }
	runHostTests(t, by(&orphanShims), checked, []hostTest{
		{"nothing", func(*node, *evidence.Report) {}, "", 0, Subject{}},
		{"its end was told, and it lives", func(n *node, _ *evidence.Report) { ends(n, time.Minute) }, "ns-1/pod-00001/app is listed as exited, and runs on", Warning, app},
		{"it ends just now", func(n *node, _ *evidence.Report) { ends(n, 5*time.Second) }, "", 0, Subject{}},
		{"the clock was set forward since", func(n *node, r *evidence.Report) {
			ends(n, time.Hour)
			r.Clock.Steps, r.Clock.Step, r.Clock.StepAge = 1, time.Hour, 3*time.Second
		}, "", 0, Subject{}},
		{"the clock was set back since the look", func(n *node, r *evidence.Report) {
			ends(n, 3*time.Second)
			r.At = now.Add(time.Hour)
		}, "", 0, Subject{}},
		{"only zombies are left", func(n *node, r *evidence.Report) {
			ends(n, time.Minute)
			all(r, "container-1-0", func(p *evidence.Process) { p.State = evidence.Zombie })
		}, "", 0, Subject{}},
		{"the pause process was killed", func(n *node, _ *evidence.Report) { noSandbox(n) }, "ns-1/pod-00001/app is running in a sandbox that is not ready, as well as 1 more container of its pod", Warning, app},
		{"listed the other way round", func(n *node, _ *evidence.Report) {
			noSandbox(n)
			slices.Reverse(n.pod(1).Old.Containers)
		}, "ns-1/pod-00001/app is running in a sandbox that is not ready, as well as 1 more container of its pod", Warning, app},
		{"a pod that goes", func(n *node, _ *evidence.Report) {
			noSandbox(n)
			n.pod(1).Status.Containers[0].State = pleg.Exited
		}, "", 0, Subject{}},
		{"its sandbox and one of two are gone", func(n *node, r *evidence.Report) {
			noSandbox(n)
			delete(r.Processes.Containers, "container-1-0")
		}, "ns-1/pod-00001/sidecar is running in a sandbox that is not ready", Warning, sidecar},
		{"its sandbox and one of two are zombies", func(n *node, r *evidence.Report) {
			noSandbox(n)
			r.Processes.Containers["container-1-0"] = []evidence.Process{{PID: 7, State: evidence.Zombie}}
		}, "ns-1/pod-00001/sidecar is running in a sandbox that is not ready", Warning, sidecar},
		{"its sandbox and it are gone", func(n *node, r *evidence.Report) {
			noSandbox(n)
			delete(r.Processes.Containers, "container-1-0")
			delete(r.Processes.Containers, "container-1-1")
		}, "", 0, Subject{}},
		{"its sandbox was lost", func(n *node, _ *evidence.Report) { n.pod(1).Old.Sandboxes = nil }, "ns-1/pod-00001/app is running in a sandbox that is not listed, as well as 1 more container of its pod", Warning, app},
		{"its sandbox was listed too early", func(n *node, _ *evidence.Report) {
			n.pod(1).Old.Sandboxes = nil
			for i := range n.pod(1).Old.Containers {
				n.pod(1).Old.Containers[i].CreatedAt = n.Health.ListedAt.Add(-time.Second)
			}
		}, "", 0, Subject{}},
		{"its sandbox was left out of the list", func(n *node, _ *evidence.Report) {
			n.pod(1).Old.Sandboxes, n.Anomalies.NoMetadata = nil, 1
		}, "", 0, Subject{}},
		{"its sandbox is listed with another pod", func(n *node, _ *evidence.Report) {
			for i := range n.pod(1).Old.Containers {
				n.pod(1).Old.Containers[i].SandboxID = "sandbox-2"
			}
		}, "", 0, Subject{}},
		{"CRI-O", onCRIO, "", 0, Subject{}},
		{"its conmon was killed", func(n *node, r *evidence.Report) {
			onCRIO(n, r)
			dropConmon(r, "container-1-0")
		}, "ns-1/pod-00001/app is running without its conmon: its end would not be seen", Warning, app},
		{"a look that did not see all conmons, at a pod with a container that has ended", func(n *node, r *evidence.Report) {
			onCRIO(n, r)
			dropConmon(r, "container-1-0")
			r.Processes.Partial = "cut off after 2s"
			n.pod(1).Old.Containers[1].State = pleg.Exited
			delete(r.Processes.Containers, "container-1-1")
		}, "", 0, Subject{}},
		{"CRI-O without conmons", func(n *node, r *evidence.Report) {
			onCRIO(n, r)
			r.Processes.Shims = nil
		}, "", 0, Subject{}},
	})
}

// A single look blames nothing for what may have come between its two lists.
func TestLostSandboxIsOld(t *testing.T) {
	for made, want := range map[time.Time]int{{}: 0, now.Add(-5 * time.Second): 0, now.Add(-time.Hour): 1} {
		n := checked(3)
		r := looked(n)
		p := n.pod(1)
		p.Old.Sandboxes = nil
		for i := range p.Old.Containers {
			p.Old.Containers[i].CreatedAt = made
		}
		in := n.input()
		in.Evidence = r
		if got := find(&orphanShims, factsOf(in)); len(got) != want {
			t.Errorf("made at %v: found %+v, want %d", made, got, want)
		}
	}
}

// A sandbox that the runtime has lost is reported once, by what runs in it and not also by its shim, ten seconds after
// the first list without it.
func TestLostSandboxIsToldOnce(t *testing.T) {
	for since, want := range map[time.Duration]string{5 * time.Second: "", 15 * time.Second: "warning orphan-shims ns-1/pod-00001/app\n"} {
		n := healthy(3)
		r := looked(n)
		p := n.pod(1)
		p.Old.Sandboxes, p.Orphaned = nil, ago(since)
		in := n.input()
		in.Evidence, in.Endpoint = r, "unix://"+ourSocket
		if got := gist(find(&orphanShims, factsOf(in))); got != want {
			t.Errorf("after %v: %q, want %q", since, got, want)
		}
	}
}

// The step kills what lives, and not what is left of the first process.
func TestLeftRunningKillsWhatLives(t *testing.T) {
	n := checked(3)
	r := looked(n)
	p := n.pod(1)
	p.Old.Containers[0].State, p.Status.Containers[0].State, p.Status.Containers[0].FinishedAt = pleg.Exited, pleg.Exited, ago(time.Minute)
	r.Processes.Containers["container-1-0"] = []evidence.Process{{PID: 1, State: evidence.Zombie}, {PID: 2, Start: 7, State: evidence.Sleeping}}
	in := n.input()
	in.Evidence = r
	got := find(&orphanShims, factsOf(in))
	if len(got) != 1 || !strings.HasSuffix(got[0].act().Command, "= 7 ] && kill 2") {
		t.Errorf("found %+v, want kill 2", got)
	}
}

// All containers of a pod that run on are ended together.
func TestLeftRunningKillsAllOfIt(t *testing.T) {
	n := checked(3)
	in := n.input()
	in.Evidence = looked(n)
	p := n.pod(1)
	var pids string
	for i := range p.Old.Containers {
		p.Old.Containers[i].State, p.Status.Containers[i].State, p.Status.Containers[i].FinishedAt = pleg.Exited, pleg.Exited, ago(time.Minute)
		pids += fmt.Sprintf(" %d", in.Evidence.Processes.Containers[p.Old.Containers[i].ID][0].PID)
	}
	if f := find(&orphanShims, factsOf(in))[0]; f.act().Command != "kill"+pids {
		t.Errorf("%s: %q, want kill%s", f.Summary, f.act(), pids)
	}
}

// A container whose conmon and process are both gone is a ghost, also if nothing else of its pod is left to show that
// it ran here; but not a container in a virtual machine.
func TestGhostWithoutConmon(t *testing.T) {
	for handler, want := range map[string]int{"": 1, "kata": 0} {
		n := checked(3)
		r := looked(n)
		onCRIO(n, r)
		p := n.pod(1)
		p.Old.Containers, p.Status.Containers = p.Old.Containers[:1], p.Status.Containers[:1]
		p.Status.Sandboxes[0].Handler = handler
		for _, id := range []string{"container-1-0", "container-1-1"} {
			dropConmon(r, id)
			delete(r.Processes.Containers, id)
		}
		in := n.input()
		in.Evidence = r
		if got := find(&ghostRunning, factsOf(in)); len(got) != want {
			t.Errorf("handler %q: found %+v, want %d", handler, got, want)
		}
	}
}

// A restart of CRI-O does not free a process that waits for a program that serves a file system.
func TestNoRestartOfCRIOForAServedFileSystem(t *testing.T) {
	for mount, want := range map[evidence.Mount]string{
		{Point: "/srv/x", Type: "fuse.sshfs", Source: "nas:/x", Device: "0:51", Abort: "/sys/fs/fuse/connections/51/abort"}: "echo 1 > /sys/fs/fuse/connections/51/abort",
		{}: "grep -e \" - fuse\" /proc/1009/mountinfo",
	} {
		n := healthy(3).hangOn(1, "app", 2*time.Minute).probesAnswered()
		r := looked(n)
		onCRIO(n, r)
		p := &r.Processes.Containers["container-1-0"][0]
		p.State, p.For, p.Wchan, p.Mount = evidence.Uninterrupted, time.Minute, "request_wait_answer", mount
		n.saw(r)
		in := n.input()
		in.Evidence, in.Endpoint = r, "unix:///var/run/crio/crio.sock"
		for _, f := range Diagnose(in) {
			steps := fmt.Sprint(f.Next)
			if strings.Contains(steps, "restart crio") || f.ID == InspectHung && !strings.Contains(steps, want) {
				t.Errorf("%s: %s", f.ID, steps)
			}
		}
	}
}

// A stopped conmon that a call hangs on is named as a conmon, and the step lets it continue.
func TestStoppedConmonIsLinked(t *testing.T) {
	n := healthy(3).hangOn(1, "app", 30*time.Second).probesAnswered()
	r := looked(healthy(3))
	onCRIO(n, r)
	i := slices.IndexFunc(r.Processes.Shims, func(p evidence.Process) bool { return p.Container == "container-1-0" })
	r.Processes.Shims[i].State = evidence.Stopped
	in := n.input()
	in.Evidence = r
	found := Diagnose(in)
	all := ""
	for _, f := range found {
		all += f.Summary + "\n" + strings.Join(f.Evidence, "\n") + "\n"
		for _, s := range f.Next {
			all += s.Command + "\n"
		}
	}
	if !has(found, InspectHung) || !strings.Contains(all, "its conmon: pid ") || !strings.Contains(all, "kill -CONT ") || strings.Contains(all, "pkill") || strings.Contains(all, "shim") {
		t.Errorf("%s says:\n%s", gist(found), all)
	}
}

// A conmon that does nothing wrong is not ended: that would not end the hang.
func TestAConmonIsNotEnded(t *testing.T) {
	n := healthy(3).hangOn(1, "app", 30*time.Second).probesAnswered()
	in := n.input()
	in.Evidence = looked(healthy(3))
	onCRIO(n, in.Evidence)
	i := slices.IndexFunc(in.Evidence.Processes.Shims, func(p evidence.Process) bool { return p.Container == "container-1-0" })
	conmon := fmt.Sprint(in.Evidence.Processes.Shims[i].PID)
	for _, s := range findingOf(t, Diagnose(in), InspectHung).Next {
		if strings.Contains(s.Command, "kill") && strings.Contains(s.Command, conmon) {
			t.Errorf("advises %s", s)
		}
	}
}

// Equal inputs give equal steps, although a look keeps containers in a map.
func TestStepsNameTheSameProcessEachTime(t *testing.T) {
	n := healthy(3).hangOn(1, "app", 30*time.Second).probesAnswered()
	in := n.input()
	in.Evidence = looked(healthy(3))
	for id := range in.Evidence.Processes.Containers {
		all(in.Evidence, id, func(p *evidence.Process) {
			p.State, p.For, p.Wchan = evidence.Uninterrupted, time.Minute, "rpc_wait_bit_killable"
		})
	}
	want := fmt.Sprint(findingOf(t, Diagnose(in), InspectHung).Next)
	for range 30 {
		if got := fmt.Sprint(findingOf(t, Diagnose(in), InspectHung).Next); got != want {
			t.Fatalf("steps\n%s\nand\n%s", want, got)
		}
	}
}

// Only the runtime's own words show that it gives up.
func TestARuntimeThatGivesUpEarlier(t *testing.T) {
	const text = "failed to get state of container: context deadline exceeded"
	for why, want := range map[call.Reason]bool{call.Theirs: true, call.Expired: false, call.GivenUp: false, call.OutOfTurn: false} {
		n := checked(5).sweepHung(2, "app")
		n.Sweep.Hung[0].Err = call.NoAnswer(call.ContainerStatus, why, text)
		said := strings.Join(n.diagnose()[0].Evidence, "\n")
		if strings.Contains(said, "the runtime itself gives up") != want {
			t.Errorf("%v: %s", why, said)
		}
	}
}
