package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestProcessStuck(t *testing.T) {
	sandbox := Subject{ObjectRef: pleg.ObjectRef{ID: "sandbox-1", Pod: healthyPod(1).PodRef, Sandbox: true}}
	app := Subject{ObjectRef: pleg.ObjectRef{ID: "container-1-0", Pod: healthyPod(1).PodRef, Container: "app"}}
	is := func(p *evidence.Process, s evidence.State, d time.Duration, wchan string) {
		p.State, p.For, p.Wchan = s, d, wchan
	}
	runHostTests(t, by(&processStuck), checked, []hostTest{
		{"nothing", func(*node, *evidence.Report) {}, "", 0, Subject{}},
		{"stopped shim, first look", func(_ *node, r *evidence.Report) { is(shimOf(r, 1), evidence.Stopped, 0, "do_signal_stop") }, "the shim of ns-1/pod-00001, pid 1007, is stopped (T)", Critical, sandbox},
		{"shim in D for longer than a disk takes", func(_ *node, r *evidence.Report) {
			is(shimOf(r, 1), evidence.Uninterrupted, 11*time.Second, "umount")
		}, "the shim of ns-1/pod-00001, pid 1007, is in uninterruptible sleep (D)", Critical, sandbox},
		{"shim that unmounts on a busy disk", func(_ *node, r *evidence.Report) {
			is(shimOf(r, 1), evidence.Uninterrupted, 5*time.Second, "sync_inodes_sb")
		}, "", 0, Subject{}},
		{"young shim in D", func(_ *node, r *evidence.Report) {
			is(shimOf(r, 1), evidence.Uninterrupted, time.Second, "")
			shimOf(r, 1).Age = 3 * time.Second
		}, "", 0, Subject{}},
		{"zombie shim", func(_ *node, r *evidence.Report) { is(shimOf(r, 1), evidence.Zombie, time.Second, "") }, "the shim of ns-1/pod-00001, pid 1007, is a zombie (Z)", Critical, sandbox},
		{"stopped shim of a sandbox that no list shows", func(_ *node, r *evidence.Report) {
			is(shimOf(r, 1), evidence.Stopped, 0, "")
			shimOf(r, 1).Sandbox = "lost"
		}, "the shim of sandbox lost, which is not listed, pid 1007, is stopped", Critical, Subject{ObjectRef: pleg.ObjectRef{ID: "lost", Sandbox: true}}},
		{"stopped shim of another runtime", func(_ *node, r *evidence.Report) {
			is(shimOf(r, 1), evidence.Stopped, 0, "")
			shimOf(r, 1).Sandbox, shimOf(r, 1).Own = "theirs", false
		}, "", 0, Subject{}},
		{"runc in D", func(_ *node, r *evidence.Report) {
			r.Processes.Helpers = []evidence.Process{{PID: 9, Command: "runc", State: evidence.Uninterrupted, For: 11 * time.Second, Container: "container-1-0", Verb: "update"}}
		}, "the runc update of ns-1/pod-00001/app, pid 9, is in uninterruptible sleep (D) for 13s", Warning, app},
		{"network plugin in D, for a pod that is not listed yet", func(_ *node, r *evidence.Report) {
			r.Processes.Helpers = []evidence.Process{{PID: 9, Command: "calico", State: evidence.Uninterrupted, For: 11 * time.Second, Container: "new", Verb: "CNI ADD", Pod: pleg.PodRef{Namespace: "pay", Name: "api-0"}, Own: true}}
		}, "the CNI ADD by calico of pay/api-0, pid 9, is in uninterruptible sleep (D) for 13s", Warning, Subject{ObjectRef: pleg.ObjectRef{ID: "new", Pod: pleg.PodRef{Namespace: "pay", Name: "api-0"}, Sandbox: true}}},
		{"runc of somebody else", func(_ *node, r *evidence.Report) {
			r.Processes.Helpers = []evidence.Process{{PID: 9, Command: "runc", State: evidence.Uninterrupted, For: time.Hour, Container: "build"}}
		}, "", 0, Subject{}},
		{"dead file server", func(_ *node, r *evidence.Report) {
			p := &r.Processes.Containers["container-1-0"][1]
			is(p, evidence.Uninterrupted, time.Second, "")
			p.Stack = []string{"folio_wait_bit_common", "nfs_wait_bit_killable"}
		}, "pid 1010 (worker) of ns-1/pod-00001/app is in uninterruptible sleep (D)", Warning, app},
		{"dead volume, since when nobody has seen", func(_ *node, r *evidence.Report) {
			all(r, "container-1-0", func(p *evidence.Process) {
				is(p, evidence.Uninterrupted, time.Minute, "__folio_lock")
				p.AtLeast = true
			})
		}, "pid 1009 (app) of ns-1/pod-00001/app is in uninterruptible sleep (D) for at least 1m2s", Warning, app},
		{"dead volume, of which one process tells", func(_ *node, r *evidence.Report) {
			all(r, "container-1-0", func(p *evidence.Process) { is(p, evidence.Uninterrupted, time.Minute, "__folio_lock") })
			r.Processes.Containers["container-1-0"][1].Mount = evidence.Mount{Point: "/data", Type: "fuse.s3", Source: "bucket", Device: "0:52"}
		}, "pid 1010 (worker) of ns-1/pod-00001/app is in uninterruptible sleep (D) for 1m2s", Warning, app},
		{"busy disk", func(_ *node, r *evidence.Report) {
			all(r, "container-1-0", func(p *evidence.Process) { is(p, evidence.Uninterrupted, 6*time.Second, "jbd2_log_wait_commit") })
		}, "", 0, Subject{}},
		{"disk that never comes back", func(_ *node, r *evidence.Report) {
			is(&r.Processes.Containers["container-1-0"][0], evidence.Uninterrupted, 12*time.Second, "io_schedule")
		}, "pid 1009 (app) of ns-1/pod-00001/app is in", Warning, app},
		{"kernfs is no file server", func(_ *node, r *evidence.Report) {
			is(&r.Processes.Containers["container-1-0"][0], evidence.Uninterrupted, time.Second, "kernfs_iop_permission")
		}, "", 0, Subject{}},
		{"frozen", func(_ *node, r *evidence.Report) {
			all(r, "container-1-0", func(p *evidence.Process) { is(p, evidence.Frozen, time.Second, "hrtimer_nanosleep") })
		}, "pid 1009 (app) of ns-1/pod-00001/app is frozen by its control group", Warning, app},
		{"frozen for a moment", func(_ *node, r *evidence.Report) {
			all(r, "container-1-0", func(p *evidence.Process) { is(p, evidence.Frozen, 0, "get_signal") })
		}, "", 0, Subject{}},
		{"frozen pod", func(_ *node, r *evidence.Report) {
			for _, id := range []string{"sandbox-1", "container-1-0"} {
				all(r, id, func(p *evidence.Process) { is(p, evidence.Frozen, time.Second, "get_signal") })
			}
		}, "pid 1009 (app) of ns-1/pod-00001/app is frozen by its control group", Warning, app},
		{"stopped workload", func(_ *node, r *evidence.Report) {
			all(r, "container-1-0", func(p *evidence.Process) { is(p, evidence.Stopped, time.Second, "do_signal_stop") })
		}, "pid 1009 (app) of ns-1/pod-00001/app is stopped (T)", Warning, app},
		{"a job that somebody stopped in a shell", func(_ *node, r *evidence.Report) {
			is(&r.Processes.Containers["container-1-0"][1], evidence.Stopped, time.Hour, "do_signal_stop")
		}, "", 0, Subject{}},
		{"under strace", func(_ *node, r *evidence.Report) {
			all(r, "container-1-0", func(p *evidence.Process) { is(p, evidence.Traced, time.Second, "ptrace_stop") })
		}, "", 0, Subject{}},
		{"no look", func(_ *node, r *evidence.Report) {
			is(shimOf(r, 1), evidence.Stopped, 0, "")
			r.Processes.Missing = "not Linux"
		}, "", 0, Subject{}},
	})
}

func TestStuckShimTellsItsContainers(t *testing.T) {
	n := healthy(3)
	r := looked(n)
	shimOf(r, 1).State = evidence.Stopped
	in := n.input()
	in.Evidence = r
	got := find(&processStuck, factsOf(in))
	want := "until it goes on, nobody sees the end of app, sidecar, which stay listed as running; a stop of the pod hangs, and so does an exec probe"
	if len(got) != 1 || got[0].Evidence[0] != want {
		t.Errorf("found %+v, want evidence %q", got, want)
	}
	// No list and no status call asks a shim: the node stays Ready however long it does nothing.
	if h := factsOf(in).headline(got); h.Word != Degraded || h.Severity != Critical || !h.StaysReady() || !strings.HasPrefix(h.Text, "node stays Ready, the shim of ") {
		t.Errorf("headline %+v", h)
	}
}

func TestManyStuckProcesses(t *testing.T) {
	n := checked(40)
	r := looked(n)
	for i := range r.Processes.Shims {
		r.Processes.Shims[i].State = evidence.Stopped
	}
	in := n.input()
	in.Evidence = r
	got := find(&processStuck, factsOf(in))
	if len(got) != stuckMost+1 || got[stuckMost].Summary != "30 more processes are stuck" {
		t.Errorf("%d findings, the last %q", len(got), got[len(got)-1].Summary)
	}
}

// Stuck processes of one owner are one finding: each has one line, and a step shows how to find them all.
func TestStuckProcessesOfOneOwner(t *testing.T) {
	n := checked(3)
	for i := range n.Pods {
		p := *n.Pods[i]
		p.Namespace, p.Name = "shop", "api-7d9f8b6c5d-"+hash(i)
		p.Old.PodRef = p.PodRef
		n.Pods[i] = &p
	}
	in := n.input()
	in.Evidence = looked(n)
	for i := range 3 {
		shimOf(in.Evidence, i).State = evidence.Stopped
	}
	got := find(&processStuck, factsOf(in))
	if len(got) != 1 || got[0].Count != 3 || !strings.HasPrefix(got[0].Summary, "the shim of 3 pods of shop/api (") {
		t.Fatalf("%s %+v", gist(got), got)
	}
	for i := range 3 {
		if said := strings.Count(strings.Join(got[0].Evidence, "\n"), fmt.Sprintf("pid %d ", shimOf(in.Evidence, i).PID)); said != 1 {
			t.Errorf("pid %d is named %d times in %q", shimOf(in.Evidence, i).PID, said, got[0].Evidence)
		}
	}
	if all := got[0].Next[0].Command; !strings.Contains(all, "/[DTt]/") || got[0].act().Command != fmt.Sprintf("kill -CONT %d", shimOf(in.Evidence, 0).PID) {
		t.Errorf("steps %v", got[0].Next)
	}
}

// The cause that a rule names itself must be among the findings.
func TestStoppedShimExplains(t *testing.T) {
	n := checked(3)
	r := looked(n)
	shimOf(r, 1).State = evidence.Stopped
	delete(r.Processes.Containers, "container-1-0")
	r.Kubelet.Ping = evidence.Answer{Asked: true, Took: 2 * time.Second, TimedOut: true}
	in := n.input()
	in.Evidence = r
	got := Diagnose(in)
	wantIDs(t, got, ProcessStuck, KubeletStuck, GhostRunning)
	for _, f := range got[1:] {
		if f.Cause != ProcessStuck {
			t.Errorf("%s has the cause %q, want %q", f.ID, f.Cause, ProcessStuck)
		}
	}
}

// The process behind a call that hangs is that finding's evidence, not another
// finding.
func TestStuckProcessOfHungCall(t *testing.T) {
	n := healthy(3).hangOn(1, "app", time.Minute)
	r := looked(n)
	p := &r.Processes.Containers["container-1-0"][0]
	p.State, p.For, p.Wchan = evidence.Uninterrupted, time.Minute, "rpc_wait_bit_killable"
	in := n.input()
	in.Evidence = r
	got := Diagnose(in)
	wantIDs(t, got, InspectHung)
	if want := fmt.Sprintf("pid %d", p.PID); !strings.Contains(strings.Join(got[0].Evidence, "; "), want) {
		t.Errorf("evidence %q lacks %q", got[0].Evidence, want)
	}
}
