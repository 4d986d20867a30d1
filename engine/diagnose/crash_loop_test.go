package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

// An instance is one container of a name in these tests.
type instance struct {
	attempt uint32
	running bool
	ended   time.Duration // ago; for one that runs: when it was started
	lived   time.Duration
	code    int32
	reason  string
}

// instances replaces the containers of the i-th pod by these instances of one name.
func (n *node) instances(i int, name string, all ...instance) *node {
	p := n.pod(i)
	var status []pleg.ContainerStatus
	for _, in := range all {
		c := pleg.ContainerStatus{ID: fmt.Sprintf("%s-%d", name, in.attempt), Name: name, Attempt: in.attempt, State: pleg.Running, Image: "img", StartedAt: ago(in.ended)}
		if !in.running {
			c.State, c.FinishedAt, c.ExitCode, c.Reason = pleg.Exited, ago(in.ended), in.code, in.reason
			c.StartedAt = c.FinishedAt.Add(-in.lived)
		}
		c.CreatedAt = c.StartedAt
		status = append(status, c)
	}
	p.Status.Containers = status
	p.Old.Containers = nil
	for _, c := range status {
		p.Old.Containers = append(p.Old.Containers, pleg.Container{ID: c.ID, Name: name, State: c.State, Attempt: c.Attempt, CreatedAt: c.CreatedAt, Image: "img", SandboxID: "sandbox-0"})
	}
	return n
}

func TestCrashLoop(t *testing.T) {
	const s, m, h = time.Second, time.Minute, time.Hour
	tests := []struct {
		name string
		all  []instance
		want bool
	}{
		{"back-off", []instance{{6, false, 40 * s, 2 * s, 1, "Error"}, {5, false, 4 * m, 2 * s, 1, "Error"}}, true},
		{"one left", []instance{{6, false, 40 * s, 2 * s, 137, "OOMKilled"}}, true},
		{"just restarted", []instance{{4, true, 3 * s, 0, 0, ""}, {3, false, 43 * s, 2 * s, 1, "Error"}}, true},
		{"up again after its back-off", []instance{{11, true, 3 * s, 0, 0, ""}, {10, false, 115 * s, 5 * s, 1, ""}}, true},
		{"third start, after its back-off", []instance{{3, true, 3 * s, 0, 0, ""}, {2, false, 85 * s, 5 * s, 1, ""}}, true},
		{"attempts not counted", []instance{{0, false, 10 * s, 2 * s, 1, ""}, {0, false, 30 * s, 2 * s, 1, ""}, {0, false, 50 * s, 2 * s, 1, ""}}, true},
		{"ends well again and again", []instance{{4, false, 20 * s, s, 0, "Completed"}, {3, false, 2 * m, s, 0, "Completed"}}, true},
		{"one end well of many", []instance{{9, false, 20 * s, s, 0, "Completed"}}, true},
		{"cannot be started", []instance{{5, false, 20 * s, 0, 128, "StartError"}}, true},
		{"clock a little ahead", []instance{{6, false, -10 * s, 2 * s, 1, ""}}, true},

		{"a job that is done", []instance{{0, false, 30 * s, 2 * m, 0, "Completed"}}, false},
		{"a job that is done at last", []instance{{3, false, 30 * s, s, 0, "Completed"}, {2, false, m, s, 1, "Error"}}, false},
		{"failed for hours ago", []instance{{6, false, 2 * h, 2 * s, 1, "Error"}}, false},
		{"two deaths", []instance{{1, false, 20 * s, s, 1, ""}, {0, false, 50 * s, s, 1, ""}}, false},
		{"a single restart", []instance{{1, true, 3 * s, 0, 0, ""}, {0, false, 115 * s, 5 * s, 1, ""}}, false},
		{"runs for 20 h after many restarts", []instance{{42, true, 20 * h, 0, 0, ""}, {41, false, 20 * h, 5 * s, 1, ""}}, false},
		{"up for a while after its back-off", []instance{{11, true, 90 * s, 0, 0, ""}, {10, false, 5 * m, 5 * s, 1, ""}}, false},
		{"lost with the node", []instance{{9, true, 3 * s, 0, 0, ""}, {8, false, m, 3 * m, 255, "Unknown"}}, false},
		{"restarted yesterday", []instance{{3, true, 20 * h, 0, 0, ""}, {2, false, 20 * h, s, 1, ""}}, false},
		{"recovered", []instance{{3, true, 2 * m, 0, 0, ""}, {2, false, 2*m + 10*s, 2 * s, 1, ""}}, false},
		{"dies once a day", []instance{{30, false, 10 * s, 24 * h, 137, "OOMKilled"}, {29, false, 24 * h, 24 * h, 137, "OOMKilled"}}, false},
		{"restarted after a day", []instance{{9, false, 10 * s, 3 * s, 1, ""}, {8, false, 20 * s, 24 * h, 255, "Unknown"}}, false},
		{"time in the far future", []instance{{6, false, -h, 2 * s, 1, ""}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := find(&crashLoop, checked(3).instances(0, "app", tt.all...).facts())
			if len(got) > 0 != tt.want {
				t.Fatalf("found %+v, want one: %t", got, tt.want)
			}
			if !tt.want {
				return
			}
			subject := Subject{ObjectRef: pleg.ObjectRef{ID: fmt.Sprintf("app-%d", tt.all[0].attempt), Pod: healthyPod(0).PodRef, Container: "app"}}
			if diff := cmp.Diff(subject, got[0].Subject); diff != "" || got[0].Severity != Warning {
				t.Errorf("%s subject (-want +got):\n%s", got[0].Severity, diff)
			}
		})
	}
}

// The attempt shows which container is the newest: the clock may have been set back since the one before was made.
func TestCrashLoopGoesByAttempts(t *testing.T) {
	n := checked(3).instances(0, "app",
		instance{2, false, 100 * time.Second, time.Second, 1, "Error"},
		instance{3, true, 90 * time.Second, 0, 0, ""}, // it has run for long enough
	)
	if got := find(&crashLoop, n.facts()); got != nil {
		t.Errorf("found %+v", got)
	}
}

func TestCrashLoopSpares(t *testing.T) {
	looping := []instance{{6, false, 40 * time.Second, time.Second, 0, "Completed"}}
	failing := []instance{{6, false, 40 * time.Second, time.Second, 1, "Error"}}
	tests := []struct {
		name  string
		build func(n *node) *node
	}{
		{"a pod whose sandbox has ended", func(n *node) *node {
			n.instances(0, "app", failing...).pod(0).Status.Sandboxes[0].State = pleg.Exited
			return n
		}},
		{"an init container that is done at last", func(n *node) *node {
			p := n.instances(0, "init", looping...).pod(0)
			p.Status.Containers = append(p.Status.Containers, pleg.ContainerStatus{ID: "a", Name: "app", State: pleg.Running, CreatedAt: ago(39 * time.Second)})
			return n
		}},
		{"a time that is not there", func(n *node) *node {
			n.instances(0, "app", failing...).pod(0).Status.Containers[0].FinishedAt = time.Time{}
			return n
		}},
		{"a pod without a status", func(n *node) *node {
			n.instances(0, "app", failing...).pod(0).Status = nil
			return n
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := find(&crashLoop, tt.build(checked(3)).facts()); got != nil {
				t.Errorf("found %+v", got)
			}
		})
	}
}

func TestCrashLoopFigures(t *testing.T) {
	n := checked(1).instances(0, "app",
		instance{7, false, 12 * time.Second, 2 * time.Second, 137, "OOMKilled"},
		instance{6, false, 92 * time.Second, 2 * time.Second, 1, "Error"},
	)
	n.pod(0).Status.Containers[0].Message = "out of luck"
	got := find(&crashLoop, n.facts())[0]
	if want := "ns-0/pod-00000/app died 8 times, last 12s ago with exit code 137 (OOMKilled)"; got.Summary != want {
		t.Errorf("summary %q, want %q", got.Summary, want)
	}
	want := []string{
		"message: out of luck",
		"attempt 7 is exited",
		"ended, the last first: exit code 137 (OOMKilled) after 2s at 09:26:41 (app-7), exit code 1 after 2s at 09:25:21 (app-6)",
	}
	if diff := cmp.Diff(want, got.Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}

func TestManyCrashLoops(t *testing.T) {
	n := checked(30)
	for i := range 25 {
		n.instances(i, "app", instance{uint32(3 + i), false, 40 * time.Second, time.Second, int32(1 + i), "Error"}) // each in its own way
	}
	got := find(&crashLoop, n.facts())
	if len(got) != 10+1 {
		t.Fatalf("%d findings, want %d", len(got), 10+1)
	}
	if name := got[0].Subject.Pod.Name; name != "pod-00024" {
		t.Errorf("worst is %s, want pod-00024", name)
	}
	if rest := got[10]; !strings.Contains(rest.Summary, "15 more containers") || rest.Subject != (Subject{}) || len(rest.Evidence) != 15 || rest.Count != 15 {
		t.Errorf("rest %+v", rest)
	}
}
