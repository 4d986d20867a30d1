package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	tooLate    = "context deadline exceeded"
	notThere   = "dial unix /run/containerd/containerd.sock: connect: connection refused"
	garbled    = `unreadable answer: entry 2 (id "3f2a"): string field contains invalid UTF-8`
	overTheTop = "grpc: received message larger than max (20123456 vs. 16777216)"
)

// condition sets one of the runtime's conditions to false.
func (n *node) condition(name string) *node {
	for i := range n.Conditions {
		if n.Conditions[i].Type == name {
			n.Conditions[i] = pleg.Condition{Type: name, Reason: "Broken", Message: "it is broken"}
		}
	}
	return n
}

// probing adds a probe that is in flight.
func (n *node) probing(f call.Flight, out time.Duration) *node {
	f.By, f.Since = call.ByProbe, ago(out)
	return n.fly(f)
}

// shifted moves all times of the runtime by the same amount.
func (n *node) shifted(by time.Duration) *node {
	for _, p := range n.Pods {
		for i := range p.Old.Sandboxes {
			p.Old.Sandboxes[i].CreatedAt = p.Old.Sandboxes[i].CreatedAt.Add(by)
		}
		for i := range p.Old.Containers {
			p.Old.Containers[i].CreatedAt = p.Old.Containers[i].CreatedAt.Add(by)
		}
		for i := range p.Status.Containers {
			c := &p.Status.Containers[i]
			for _, t := range []*time.Time{&c.CreatedAt, &c.StartedAt, &c.FinishedAt} {
				if !t.IsZero() {
					*t = t.Add(by)
				}
			}
		}
	}
	return n
}

// booted makes every container of the node end a minute ago, when the node stopped, and start anew since.
func (n *node) booted(lived time.Duration) *node {
	for i := range n.Pods {
		n.instances(i, "app", instance{7, true, 40 * time.Second, 0, 0, ""}, instance{6, false, time.Minute, lived, exitLost, "Unknown"})
	}
	return n
}

// These are several troubles at once, broken data and times, and nodes that are nearly healthy.
func TestSituations(t *testing.T) {
	tests := []struct {
		name string
		node *node
		want string
	}{
		{"one object of a pod hangs, another fails", checked(5).sweepHung(2, "app").sweepFailed(2, "sidecar", call.ErrOther, "broken"),
			"critical inspect-hung ContainerStatus ns-2/pod-00002/app\nwarning inspect-failing ContainerStatus ns-2/pod-00002/sidecar\n"},
		{"a whole pod hangs in check", checked(5).sweepHung(2, "").sweepHung(2, "app").sweepHung(2, "sidecar").podFails(2, "", call.ErrDeadline, tooLate, 1),
			"critical inspect-hung PodSandboxStatus ns-2/pod-00002\n"},
		{"a sandbox hangs with one of its containers", checked(5).sweepHung(2, "").sweepHung(2, "app"),
			"critical inspect-hung PodSandboxStatus ns-2/pod-00002\ncritical inspect-hung ContainerStatus ns-2/pod-00002/app\n"},
		{"both containers hang, the sandbox does not", checked(5).sweepHung(2, "app").sweepHung(2, "sidecar"),
			"critical inspect-hung ContainerStatus ns-2/pod-00002/app\ncritical inspect-hung ContainerStatus ns-2/pod-00002/sidecar\n"},
		{"a whole pod hangs, live, found by a sweep", healthy(5).hangOn(2, "", 40*time.Second).probesAnswered().fly(healthy(5).flight(2, "app", 3*time.Second)).fly(healthy(5).flight(2, "sidecar", 3*time.Second)),
			"critical inspect-hung PodSandboxStatus ns-2/pod-00002\n"},
		{"two whole pods hang", checked(5).sweepHung(1, "").sweepHung(1, "app").sweepHung(1, "sidecar").sweepHung(2, "").sweepHung(2, "app").sweepHung(2, "sidecar"),
			"critical inspect-hung PodSandboxStatus ns-1/pod-00001\ncritical inspect-hung PodSandboxStatus ns-2/pod-00002\n"},
		{"removed between list and status, live", healthy(5).podFails(1, "app", call.ErrNotFound, "not found", 9), ""},

		{"lists take 2.5 s, in check", checked(5).slowBy(2500*time.Millisecond, call.ListPodSandbox, call.ListContainers), "warning runtime-slow ListPodSandbox\n"},
		{"lists take 1.5 s on a busy node", checked(250).slowBy(1500*time.Millisecond, call.ListPodSandbox, call.ListContainers), ""},
		{"Status takes 1.5 s, the rest is fast", func() *node {
			n := checked(5).slowBy(1500*time.Millisecond, call.Status)
			n.Sweep = &answers.Sweep{Began: ago(time.Second), Refused: "Status took 1.5s"}
			return n
		}(), ""},
		{"Version fails, the rest is well", checked(5).fail(call.Version, call.ErrOther, "broken", 1), "warning runtime-down Version\n"},
		{"Version failed once, live", healthy(5).fail(call.Version, call.ErrOther, "broken", 1), ""},
		{"Version is out of reach, the rest is well", checked(5).fail(call.Version, call.ErrUnavailable, notThere, 1), "warning runtime-down\n"},

		{"not ready, and a list fails", checked(5).condition("RuntimeReady").fail(call.ListPodSandbox, call.ErrOther, "database not open", 1).noList(),
			"critical runtime-not-ready Status\ncritical pleg-unhealthy ListPodSandbox\n"},
		{"a list fails, and an object hangs", func() *node {
			n := checked(5).sweepHung(2, "app").fail(call.ListPodSandbox, call.ErrOther, "database not open", 1)
			n.Health = kubelet.Health{Verdict: "pleg has yet to be successful"}
			return n
		}(), "critical inspect-hung ContainerStatus ns-2/pod-00002/app\ncritical pleg-unhealthy ListPodSandbox\n"},
		{"a list is too big, and an object hangs", func() *node {
			n := checked(5).sweepHung(2, "").fail(call.ListContainers, call.ErrTooLarge, overTheTop, 1)
			n.Health = kubelet.Health{Verdict: "pleg has yet to be successful"}
			return n
		}(), "critical list-too-big ListContainers\ncritical inspect-hung PodSandboxStatus ns-2/pod-00002\ncritical pleg-unhealthy < list-too-big\n"},
		{"a list cannot be read", checked(5).fail(call.ListContainers, call.ErrUnreadable, garbled, 1).noList(),
			"critical unreadable-answer ListContainers\ncritical pleg-unhealthy < unreadable-answer\n"},
		{"nothing can be read, live", healthy(5).fail(call.ListPodSandbox, call.ErrUnreadable, garbled, 4).fail(call.Status, call.ErrUnreadable, garbled, 3).fail(call.Version, call.ErrUnreadable, garbled, 3),
			"warning unreadable-answer ListPodSandbox\n"},
		{"a list could not be read once", healthy(5).fail(call.ListPodSandbox, call.ErrUnreadable, garbled, 1), ""},
		{"Status cannot be read, and lists are answered", checked(5).fail(call.Status, call.ErrUnreadable, garbled, 1), "critical unreadable-answer Status\n"},
		{"network not ready now, and now and then before", healthy(5).condition("NetworkReady"), "critical network-not-ready Status\n"},
		{"both not ready", healthy(5).condition("NetworkReady").condition("RuntimeReady"), "critical runtime-not-ready Status\ncritical network-not-ready Status\n"},

		{"nothing but the first call is known yet", healthy(5).hangOn(1, "app", 1200*time.Millisecond), ""},
		{"a deadlock in its first seconds", healthy(5).hangOn(1, "app", 1900*time.Millisecond).probe(call.Flight{Op: call.Version}, nil).probing(call.Flight{Op: call.Status}, 900*time.Millisecond), ""},
		{"a deadlock a moment later", healthy(5).hangOn(1, "app", 2100*time.Millisecond).probe(call.Flight{Op: call.Version}, nil).probing(call.Flight{Op: call.Status}, 1100*time.Millisecond),
			"warning runtime-unresponsive\n"},
		{"a list, in the first seconds of a deadlock", healthy(5).hang(call.ListPodSandbox, 1900*time.Millisecond).probing(call.Flight{Op: call.Version}, 900*time.Millisecond), ""},
		{"no status call, whatever the pod", healthy(5).hangOn(1, "app", 4*time.Second).probe(call.Flight{Op: call.Version}, nil).probe(call.Flight{Op: call.Status}, nil).probing(healthy(5).flight(3, "", 0), 2*time.Second),
			"warning inspect-hung\n"},
		{"nobody probed", healthy(5).hangOn(1, "app", 4*time.Second), "warning inspect-hung ContainerStatus ns-1/pod-00001/app\n"},

		{"a crash loop in a pod whose inspection hangs", healthy(5).instances(0, "app", instance{6, false, 40 * time.Second, 2 * time.Second, 1, "Error"}).podFails(0, "app", call.ErrDeadline, tooLate, 1).hangOn(0, "app", 5*time.Second).probesAnswered(),
			"critical inspect-hung ContainerStatus ns-0/pod-00000/app\n"},
		{"an init container crashes", func() *node {
			n := checked(3).instances(0, "init", instance{6, false, 40 * time.Second, 2 * time.Second, 1, "Error"})
			return n
		}(), "warning crash-loop ns-0/pod-00000/init\n"},
		{"one exited container, listed three times", checked(3).instances(0, "app", instance{0, false, 40 * time.Second, 2 * time.Second, 1, "Error"}, instance{0, false, 40 * time.Second, 2 * time.Second, 1, "Error"}, instance{0, false, 40 * time.Second, 2 * time.Second, 1, "Error"}).sameID(), ""},
		{"the node has just booted", checked(20).booted(20 * time.Hour), ""},
		{"the node has just booted, soon after a rollout", checked(20).booted(3 * time.Minute), ""},
		{"jobs that fail every minute, each in a pod of its own", func() *node {
			n := checked(9)
			for i := range 9 {
				n.instances(i, "job", instance{0, false, time.Duration(i)*time.Minute + 5*time.Second, 3 * time.Second, 1, "Error"})
				n.pod(i).Old.Sandboxes[0].State, n.pod(i).Status.Sandboxes[0].State = pleg.Exited, pleg.Exited
			}
			return n
		}(), ""},
		{"a runtime whose clock is an hour behind", checked(20).shifted(-time.Hour), ""},
		{"a runtime whose clock is an hour ahead", checked(20).shifted(time.Hour), ""},
		{"a crash long ago by a runtime whose clock is an hour behind", checked(3).instances(0, "app", instance{6, false, time.Hour, 2 * time.Second, 1, "Error"}).shifted(-time.Hour), ""},
		{"a pod without a UID hangs", func() *node {
			n := checked(5)
			n.pod(2).UID = ""
			n.Sweep.Hung = []answers.Outcome{{Flight: call.Flight{By: call.BySweep, Op: call.ContainerStatus, Pod: pleg.PodRef{Namespace: "ns-2", Name: "pod-00002"}, Container: "app", ID: "container-2-0", Since: n.Sweep.Began}, Took: 2 * time.Second, Err: failure(call.ContainerStatus, call.ErrDeadline, tooLate)}}
			return n
		}(), "critical inspect-hung ContainerStatus ns-2/pod-00002/app\n"},
		{"a pod without a UID holds the lock", func() *node {
			n := healthy(5).hang(call.ListContainers, 30*time.Second).probesAnswered()
			return n.fly(call.Flight{By: call.BySweep, Op: call.ContainerStatus, Pod: pleg.PodRef{Namespace: "ns", Name: "lost"}, ID: "c", Since: ago(3 * time.Second)})
		}(), "critical inspect-hung ContainerStatus ns/lost\ncritical list-hung ListContainers < inspect-hung\n"},
		{"1,000 exited containers, far from the limit", exited(1000), ""},
		{"a list near its limit, and slow for that", func() *node {
			n := checked(5).slowBy(3*time.Second, call.ListContainers)
			n.calls(call.ListContainers).LastResponseBytes = 15 << 20
			return n
		}(), "warning list-too-big ListContainers\n"},
		{"1,000 exited containers, and a slow list", exited(1000).slowBy(3*time.Second, call.ListContainers), "warning runtime-slow ListContainers\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := tt.node.diagnose()
			if diff := cmp.Diff(tt.want, gist(found)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
				for _, f := range found {
					t.Logf("%v\n%s\n%v", f.Summary, strings.Join(f.Evidence, "\n"), f.Next)
				}
			}
			whole(t, found)
			for _, f := range found {
				answered(t, f)
			}
		})
	}
}

// sameID gives all containers of the first pod the same id.
func (n *node) sameID() *node {
	p := n.pod(0)
	for i := range p.Status.Containers {
		p.Status.Containers[i].ID, p.Old.Containers[i].ID = "twice", "twice"
	}
	return n
}

// exited returns a node with this many exited containers in two namespaces.
func exited(many int) *node {
	n := checked(30)
	for i := range many {
		p := n.Pods[i%2*10]
		p.Old.Containers = append(p.Old.Containers, pleg.Container{ID: fmt.Sprintf("old-%d", i), Name: "job", State: pleg.Exited, CreatedAt: ago(90 * time.Hour), SandboxID: p.Old.Sandboxes[0].ID})
	}
	n.Counts.Exited, n.Counts.Containers = many, n.Counts.Containers+many
	n.calls(call.ListContainers).LastResponseBytes = uint64(900 * many)
	return n
}

func TestWholePodSaysWhichContainers(t *testing.T) {
	n := checked(5).sweepHung(2, "").sweepHung(2, "app").sweepHung(2, "sidecar")
	n.podFails(2, "", call.ErrDeadline, tooLate, 1).pod(2).InspectLast = 6 * time.Second
	found := n.diagnose()
	firstSays(t, found, "app (container-2-0), sidecar (container-2-1)")
	if want := "PodSandboxStatus of ns-2/pod-00002 and ContainerStatus of its 2 containers got no answer within 2s"; found[0].Summary != want {
		t.Errorf("summary %q, want %q", found[0].Summary, want)
	}
}

// An inspection consists of several calls, and only the last one hung.
func TestAnInspectionLastsLongerThanItsCall(t *testing.T) {
	n := healthy(5).podFails(2, "app", call.ErrDeadline, tooLate, 1)
	n.pod(2).InspectLast = n.Timeout + 7*time.Second
	firstSays(t, n.diagnose(), "ContainerStatus of ns-2/pod-00002/app got no answer within 2m0s")
}
