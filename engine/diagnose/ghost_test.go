package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestGhostRunning(t *testing.T) {
	gone := func(r *evidence.Report, id string) { delete(r.Processes.Containers, id) }
	app := Subject{ObjectRef: pleg.ObjectRef{ID: "container-1-0", Pod: healthyPod(1).PodRef, Container: "app"}}
	ghostly := func(_ *node, r *evidence.Report) { gone(r, "container-1-0") }
	tests := []hostTest{
		{"nothing", func(*node, *evidence.Report) {}, "", 0, Subject{}},
		{"gone", ghostly, "ns-1/pod-00001/app is listed as running, and has no process", Warning, app},
		{"gone, and listed twice", func(n *node, r *evidence.Report) {
			ghostly(n, r)
			p := n.pod(1)
			p.Old.Containers = append(p.Old.Containers, p.Old.Containers[0])
		}, "ns-1/pod-00001/app is listed as running, and has no process", Warning, app},
		{"only zombies left", func(_ *node, r *evidence.Report) {
			all(r, "container-1-0", func(p *evidence.Process) { p.State = evidence.Zombie })
		}, "ns-1/pod-00001/app is listed as running, and has no process", Warning, app},
		{"just started", func(n *node, r *evidence.Report) {
			ghostly(n, r)
			n.pod(1).Status.Containers[0].StartedAt = ago(5 * time.Second)
		}, "", 0, Subject{}},
		{"has ended", func(n *node, r *evidence.Report) {
			ghostly(n, r)
			n.pod(1).Old.Containers[0].State = pleg.Exited
		}, "", 0, Subject{}},
		{"has ended since", func(n *node, r *evidence.Report) {
			ghostly(n, r)
			n.pod(1).Status.Containers[0].State = pleg.Exited
		}, "", 0, Subject{}},
		{"a runtime elsewhere", func(_ *node, r *evidence.Report) { clear(r.Processes.Containers) }, "", 0, Subject{}},
		{"most are somewhere else", func(_ *node, r *evidence.Report) {
			for _, id := range []string{"container-0-0", "container-0-1", "container-1-0", "container-1-1"} {
				gone(r, id)
			}
		}, "", 0, Subject{}},
		{"in a machine of its own", func(_ *node, r *evidence.Report) {
			for _, id := range []string{"sandbox-1", "container-1-0", "container-1-1"} {
				gone(r, id)
			}
		}, "", 0, Subject{}},
		{"gVisor", func(_ *node, r *evidence.Report) {
			gone(r, "container-1-0")
			gone(r, "container-1-1")
			r.Processes.Containers["sandbox-1"][0].Command = "runsc-sandbox"
		}, "", 0, Subject{}},
		{"another one begins", func(n *node, r *evidence.Report) {
			ghostly(n, r)
			n.pod(2).Status.Containers[0].StartedAt = ago(5 * time.Second)
		}, "ns-1/pod-00001/app is listed as running, and has no process", Warning, app},
		{"look cut off", func(n *node, r *evidence.Report) { ghostly(n, r); r.Processes.Partial = "cut off after 2s" }, "", 0, Subject{}},
	}
	t.Run("one pass", func(t *testing.T) {
		runHostTests(t, by(&ghostRunning), checked, append(slices.Clone(tests), hostTest{"looked twice", func(n *node, r *evidence.Report) {
			ghostly(n, r)
			r.At = n.Health.ListedAt.Add(1100 * time.Millisecond)
		}, "", 0, Subject{}}))
	})
	t.Run("live", func(t *testing.T) {
		runHostTests(t, by(&ghostRunning), func(i int) *node {
			n := healthy(i)
			n.past = newWitness()
			return n
		}, seenTwice(append(tests, hostTest{"list from before both looks", func(n *node, r *evidence.Report) {
			ghostly(n, r)
			n.Health.ListedAt = r.At.Add(-11 * time.Second)
		}, "", 0, Subject{}}, hostTest{"a look by another clock", func(n *node, r *evidence.Report) {
			ghostly(n, r)
			r.At = now.Add(-3 * time.Minute)
		}, "", 0, Subject{}})))
	})
}

func TestGhostTellsItsZombies(t *testing.T) {
	n := checked(3)
	r := looked(n)
	all(r, "container-1-0", func(p *evidence.Process) { p.State = evidence.Zombie })
	in := n.input()
	in.Evidence = r
	got := find(&ghostRunning, factsOf(in))
	want := fmt.Sprintf("what is left of it: pid %d (app) is a zombie (Z)", r.Processes.Containers["container-1-0"][0].PID)
	if len(got) != 1 || !slices.Contains(got[0].Evidence, want) {
		t.Errorf("found %+v, want evidence %q", got, want)
	}
}

// The step looks for each runtime's monitor by the name of the folder that the monitor works in.
func TestGhostAsksForItsMonitor(t *testing.T) {
	for endpoint, want := range map[string]string{knowledge.Containerd.Socket: "grep -F -e sandbox-1", knowledge.CRIO.Socket: "grep -F -e container-1-0"} {
		n := checked(3)
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix://"+endpoint
		delete(in.Evidence.Processes.Containers, "container-1-0")
		got := find(&ghostRunning, factsOf(in))
		if len(got) != 1 || !strings.HasSuffix(got[0].Next[2].Command, want) {
			t.Errorf("%s: %+v, want %q", endpoint, got, want)
		}
	}
}

// The missing container is named, with its id and since when. The kernel is asked before the runtime, because the
// runtime is wrong.
func TestGhostIsNamed(t *testing.T) {
	n := checked(3)
	in := n.input()
	in.Evidence = looked(n)
	delete(in.Evidence.Processes.Containers, "container-1-0")
	v := factsOf(in)
	v.Memory.Missed = map[string]time.Time{"container-1-0": now.Add(-time.Minute)}
	got := find(&ghostRunning, v)
	if len(got) != 1 {
		t.Fatalf("%+v, want one ghost", got)
	}
	if want := "no process on the node has the id of ns-1/pod-00001/app in its cgroup: container-1-0, since " + v.clock(now.Add(-time.Minute)); got[0].Evidence[0] != want {
		t.Errorf("%q, want %q", got[0].Evidence[0], want)
	}
	if want := "timeout 5 grep -ls -e container-1-0 /proc/[0-9]*/cgroup"; got[0].Next[0].Command != want {
		t.Errorf("the first check is %q, want %q", got[0].Next[0].Command, want)
	}
}

// A ghost does not come and go with each look.
func TestGhostBetweenLookAndList(t *testing.T) {
	n := healthy(3)
	n.past = newWitness()
	earlier, r := looked(n), looked(n)
	earlier.At, r.At = ago(5*time.Second), ago(100*time.Millisecond)
	n.Health.ListedAt = ago(time.Second)
	delete(r.Processes.Containers, "container-1-0")
	delete(earlier.Processes.Containers, "container-1-0")
	delete(r.Processes.Containers, "container-2-0") // has ended just now
	in := n.input()
	in.Evidence = r
	n.past.Add(update(n))
	n.past.AddReport(earlier)
	n.past.AddReport(r)
	n.past.AddReport(r)
	got := find(&ghostRunning, factsOf(in))
	if len(got) != 1 || got[0].Subject.ID != "container-1-0" {
		t.Errorf("found %+v, want just container-1-0", got)
	}
	n.Health.ListedAt = ago(6 * time.Second)
	if got := find(&ghostRunning, factsOf(in)); got != nil {
		t.Errorf("with a list older than both looks: %+v", got)
	}
}

func TestRunsWithoutSandbox(t *testing.T) {
	n := healthy(2)
	n.pod(1).Old.Sandboxes[0].State, n.pod(1).Orphaned = pleg.Exited, ago(90*time.Second)
	for _, at := range []time.Duration{90 * time.Second, 82 * time.Second, 40 * time.Second, 0} { // it may have a grace period
		n.At = ago(at)
		got := leftRunning(n.facts())
		if at > 0 && got != nil {
			t.Errorf("%v after the sandbox's end: %+v", 90*time.Second-at, got)
		}
		if at == 0 && (len(got) != 1 || got[0].Summary != "ns-1/pod-00001/app is running in a sandbox that is not ready, as well as 1 more container of its pod") {
			t.Errorf("found %+v", got)
		}
	}
	n.Resumed = ago(5 * time.Second)
	if got := leftRunning(n.facts()); got != nil {
		t.Errorf("counted a pause: %+v", got)
	}
}

// While many containers begin or end, a runtime reports an end late. Then one look blames no container, and several
// looks do so only after half a minute.
func TestGhostOnABusyNode(t *testing.T) {
	for _, tt := range []struct {
		name   string
		node   *node
		missed time.Duration
		cut    string
		want   int
	}{
		{"one look", checked(10), 0, "", 0},
		{"one look, and its shim tells of no end", checked(10), 0, "", 1},
		{"for ten seconds", healthy(10), 10 * time.Second, "", 0},
		{"for forty seconds", healthy(10), 40 * time.Second, "", 1},
		{"by a look that was cut off, and just now", healthy(10), 40 * time.Second, "cut off after 2s", 0},
	} {
		n := tt.node
		for i := 2; i < 6; i++ {
			n.pod(i).Status.Containers[0].StartedAt = ago(5 * time.Second)
		}
		r := looked(n)
		delete(r.Processes.Containers, "container-1-0")
		if tt.missed == 0 && tt.want > 0 {
			shimOf(r, 1).State = evidence.Stopped
		}
		before := *r
		before.At, before.Processes.Partial = r.At.Add(-tt.missed), tt.cut
		if tt.missed > 0 {
			n.past = newWitness()
			n.past.Add(update(n))
			n.past.AddReport(&before)
			n.past.AddReport(r)
		}
		in := n.input()
		in.Evidence = r
		if got := find(&ghostRunning, factsOf(in)); len(got) != tt.want {
			t.Errorf("%s: found %+v, want %d", tt.name, got, tt.want)
		}
	}
}

// However many entries of one pod have no process, each is looked at once: comparing each of 100,000 entries with all
// others would take minutes.
func TestGhostsInALongList(t *testing.T) {
	n := checked(5)
	r := looked(n)
	p := n.pod(1)
	delete(r.Processes.Containers, p.Old.Containers[0].ID)
	one := p.Old.Containers[0]
	for i := range 100_000 {
		if i%2 == 1 {
			one.ID = fmt.Sprint("gone-", i)
		}
		p.Old.Containers = append(p.Old.Containers, one)
	}
	in := n.input()
	in.Evidence, in.Endpoint = r, "unix://"+ourSocket
	ghosts, found := factsOf(in).ghosts()
	if len(ghosts) != 1+50_000 || found != 9 {
		t.Errorf("%d ghosts, %d found", len(ghosts), found)
	}
}

// A process that keeps the root file system of a ghost busy is named, with the step that ends that. Until then a stop
// fails.
func TestWhoHoldsTheRootOfAGhost(t *testing.T) {
	n := checked(3)
	in := n.input()
	in.Evidence = looked(n)
	delete(in.Evidence.Processes.Containers, "container-1-0")
	in.Evidence.Processes.Roots = map[string][]evidence.Holder{"container-1-0": {
		{PID: 77, Command: "bash", Start: 4711, By: evidence.ByFolder},
		{PID: 78, Command: "node_exporter", Start: 4712, Container: "container-2-0", By: evidence.ByMounts},
	}}
	found := find(&ghostRunning, factsOf(in))
	if len(found) != 1 {
		t.Fatalf("%+v, want one ghost", found)
	}
	keepsTheRules(t, found[0])
	said := strings.Join(found[0].Evidence, "\n") + fmt.Sprint("\n", found[0].Next)
	for _, want := range []string{
		"pid 77 (bash) keeps its root file system busy: its working folder is there",
		"pid 78 (node_exporter) of ns-2/pod-00002/app keeps its root file system busy: its mount namespace still has it mounted",
		"crictl stop container-1-0  # ends what the runtime takes for the container; it may fail until pid 77 (bash), pid 78 (node_exporter) of ns-2/pod-00002/app lets go of its root file system",
		"= 4711 ] && kill 77  # if the stop fails, and its error says that something is busy: ends pid 77 (bash), which holds",
		"= 4712 ] && kill 78  #",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%s\nlacks %q", said, want)
		}
	}
	if strings.Contains(said, "fuser") {
		t.Errorf("who is known is looked for: %s", said)
	}
}
