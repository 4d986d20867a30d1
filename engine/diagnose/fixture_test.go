package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

// now is the moment of every snapshot in these tests.
var now = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// A node builds a snapshot of one node, healthy until a test breaks it.
type node struct {
	engine.Snapshot
	past *witness
}

// healthy returns a live node with n pods of two containers, which have run for
// a day, seen by an engine that has run for ten minutes.
func healthy(n int) *node {
	s := engine.Snapshot{
		Seq: 600, At: now, Started: ago(10 * time.Minute),
		Release: pleg.Newest, Period: time.Second, Threshold: 3 * time.Minute, Timeout: 2 * time.Minute,
		Version: pleg.Version{RuntimeName: "containerd", RuntimeVersion: "v2.1.4", APIVersion: "v1"},
		Health:  kubelet.Health{Healthy: true, ListedAt: ago(time.Second), SettledAt: ago(time.Second), Since: ago(10 * time.Minute)},
		Phase:   engine.Phase{Step: engine.Waiting, Began: ago(time.Second)},
		Relists: engine.Relists{
			Count: 600, Last: 9 * time.Millisecond, P50: 9 * time.Millisecond, P99: 30 * time.Millisecond, Max: 400 * time.Millisecond,
			Interval: time.Second,
		},
		Conditions: []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}},
		Channel:    engine.Channel{Capacity: 1000, Delivered: uint64(3 * n)},
		Node:       kubelet.Node{Ready: true, Known: true, Reason: "KubeletReady", Message: "kubelet is posting ready status", Since: ago(10 * time.Minute), SyncedAt: ago(2 * time.Second)},
	}
	for i := range n {
		s.Pods = append(s.Pods, healthyPod(i))
	}
	slices.SortFunc(s.Pods, func(a, b *engine.Pod) int { return strings.Compare(a.String(), b.String()) })
	s.Counts = engine.Counts{Pods: n, Sandboxes: n, Containers: 2 * n, Running: 2 * n}
	for _, op := range call.Operations() {
		c := answers.Calls{Op: op, Count: 600, P50: time.Millisecond, P90: 2 * time.Millisecond, P99: 8 * time.Millisecond, Max: 30 * time.Millisecond, LastOK: ago(time.Second), LastResponseBytes: 400}
		switch op {
		case call.ListPodSandbox, call.ListContainers:
			c.LastResponseBytes = uint64(900 * n)
		case call.Version, call.Status:
			c.LastOK = ago(2 * time.Second)
		case call.GetContainerEvents:
			c = answers.Calls{Op: op}
		}
		s.Calls = append(s.Calls, c)
	}
	return &node{Snapshot: s}
}

// healthyPod returns the i-th pod: ns-0/pod-00003 with the sandbox sandbox-3
// and the containers app (container-3-0) and sidecar (container-3-1).
func healthyPod(i int) *engine.Pod {
	ref := pleg.PodRef{UID: pleg.UID(fmt.Sprintf("uid-%d", i)), Namespace: fmt.Sprintf("ns-%d", i%3), Name: fmt.Sprintf("pod-%05d", i)}
	began := ago(24 * time.Hour)
	sandbox := pleg.Sandbox{ID: fmt.Sprintf("sandbox-%d", i), State: pleg.Running, CreatedAt: began}
	listed := &pleg.Pod{PodRef: ref, Sandboxes: []pleg.Sandbox{sandbox}}
	status := &pleg.PodStatus{PodRef: ref, IPs: []string{"10.0.0.9"}}
	status.Sandboxes = []pleg.SandboxStatus{{ID: sandbox.ID, Pod: ref, State: pleg.Running, CreatedAt: began}}
	for j, name := range []string{"app", "sidecar"} {
		id := fmt.Sprintf("container-%d-%d", i, j)
		listed.Containers = append(listed.Containers, pleg.Container{ID: id, Name: name, State: pleg.Running, CreatedAt: began, Image: "img", SandboxID: sandbox.ID})
		status.Containers = append(status.Containers, pleg.ContainerStatus{ID: id, Name: name, State: pleg.Running, Image: "img", CreatedAt: began, StartedAt: began.Add(time.Second)})
	}
	return &engine.Pod{
		PodRef: ref, Old: listed, Status: status, StatusAt: ago(10 * time.Minute),
		Inspected: 1, InspectedAt: ago(10 * time.Minute), InspectLast: 3 * time.Millisecond, InspectWorst: 3 * time.Millisecond,
	}
}

// checked returns the same node as one pass of check sees it.
func checked(n int) *node {
	c := healthy(n)
	c.Policy.Once, c.Started = true, ago(500*time.Millisecond)
	c.Memory.IdleSince = ago(50 * time.Millisecond)
	c.Health = kubelet.Health{Healthy: true, ListedAt: ago(400 * time.Millisecond), SettledAt: ago(50 * time.Millisecond), Since: ago(400 * time.Millisecond)}
	c.Relists = engine.Relists{Count: 1, Last: 12 * time.Millisecond, P50: 12 * time.Millisecond, P99: 12 * time.Millisecond, Max: 12 * time.Millisecond}
	for i := range c.Calls {
		calls := &c.Calls[i]
		if calls.Count == 0 {
			continue
		}
		calls.Count, calls.LastOK = 1, ago(300*time.Millisecond)
		switch calls.Op {
		case call.PodSandboxStatus:
			calls.Count = uint64(n)
		case call.ContainerStatus:
			calls.Count = uint64(2 * n)
		}
	}
	c.Sweep = &answers.Sweep{Began: ago(350 * time.Millisecond), Ended: ago(20 * time.Millisecond), Width: 4, Timeout: 2 * time.Second, Total: 3 * n, Done: 3 * n, Serial: time.Duration(3*n) * time.Millisecond}
	return c
}

// input returns the input of a rule.
func (n *node) input() Input {
	if h := &n.Health; h.Healthy && h.UnhealthyAt.IsZero() && !h.ListedAt.IsZero() && !n.Paused && n.Phase.EndsBy.IsZero() {
		h.UnhealthyAt = h.ListedAt.Add(n.Threshold) // as an engine has it
	}
	for _, p := range n.Pods {
		if p.Orphaned.IsZero() && len(seenOf(p).Orphans()) > 0 {
			p.Orphaned = n.Health.ListedAt
		}
	}
	if !idle(&n.Snapshot) {
		n.Memory.IdleSince = time.Time{}
	}
	if n.past == nil {
		return Input{Snapshot: &n.Snapshot}
	}
	n.past.show(&n.Snapshot)
	return Input{Snapshot: &n.Snapshot}
}

// facts returns the facts that a rule uses.
func (n *node) facts() *Facts { return factsOf(n.input()) }

// diagnose returns all findings.
func (n *node) diagnose() []Finding { return Diagnose(n.input()) }

// calls returns the sums of one operation, to change them.
func (n *node) calls(op call.Operation) *answers.Calls { return &n.Calls[op] }

// pod returns the i-th pod as made by healthyPod, for the test to change.
func (n *node) pod(i int) *engine.Pod {
	uid := pleg.UID(fmt.Sprintf("uid-%d", i))
	return n.Pods[slices.IndexFunc(n.Pods, func(p *engine.Pod) bool { return p.UID == uid })]
}

// anew returns the node in a later snapshot, whose pods may be changed.
func (n *node) anew() *node {
	n.Pods = slices.Clone(n.Pods)
	for i, p := range n.Pods {
		q := *p
		n.Pods[i] = &q
	}
	return n
}

// hang adds a call of the relist in flight that is about no pod.
func (n *node) hang(op call.Operation, out time.Duration) *node {
	by := call.ByRelist
	if op == call.Version || op == call.Status {
		by = call.ByStatusLoop
	} else {
		n.Phase = engine.Phase{Step: engine.Listing, Began: ago(out)}
		n.Health.ListedAt = ago(out + 2*time.Second)
	}
	return n.fly(call.Flight{By: by, Op: op, Since: ago(out)}).silentSince(op, ago(out))
}

// silentSince takes back the last good answers to a time before a call began: of
// Version and Status only its own, of a relist's call all that a relist makes.
func (n *node) silentSince(op call.Operation, since time.Time) *node {
	for i := range n.Calls {
		c := &n.Calls[i]
		relists := op != call.Version && op != call.Status
		if (c.Op == op || relists && c.Op != call.Version && c.Op != call.Status) && !c.LastOK.IsZero() && !c.LastOK.Before(since) {
			c.LastOK = since.Add(-10 * time.Millisecond)
		}
	}
	return n
}

// hangOn puts out a call of the relist about a container of the i-th pod, by
// the container's name, or about its sandbox, for an empty name.
func (n *node) hangOn(i int, container string, out time.Duration) *node {
	n.Phase = engine.Phase{Step: engine.Inspecting, Began: ago(out), Total: 1}
	n.Health.ListedAt = ago(out)
	f := n.flight(i, container, out)
	f.By = call.ByRelist
	return n.fly(f).silentSince(f.Op, f.Since)
}

// flight returns a call that is about a container or a sandbox.
func (n *node) flight(i int, container string, out time.Duration) call.Flight {
	p := n.pod(i)
	f := call.Flight{By: call.BySweep, Op: call.PodSandboxStatus, Pod: p.PodRef, ID: p.Old.Sandboxes[0].ID, Since: ago(out)}
	for _, c := range p.Old.Containers {
		if container != "" && c.Name == container {
			f.Op, f.Container, f.ID = call.ContainerStatus, container, c.ID
		}
	}
	return f
}

func (n *node) fly(f call.Flight) *node {
	n.InFlight = append(n.InFlight, f)
	slices.SortStableFunc(n.InFlight, func(a, b call.Flight) int { return a.Since.Compare(b.Since) })
	n.calls(f.Op).InFlight++
	return n
}

// failure returns a call error of a kind, with the runtime's words.
func failure(op call.Operation, kind call.Kind, text string) error {
	code := map[call.Kind]string{
		call.ErrUnavailable: "Unavailable", call.ErrDeadline: "DeadlineExceeded", call.ErrNotFound: "NotFound",
		call.ErrTooLarge: "ResourceExhausted", call.ErrPermission: "PermissionDenied", call.ErrUnimplemented: "Unimplemented",
	}[kind]
	if code == "" {
		code = "Unknown"
	}
	why := map[string]call.Reason{tooLate: call.Expired, cutText: call.Broken}[text]
	return &call.Error{Op: op, Kind: kind, Code: code, Text: text, Why: why}
}

// ids returns the findings' ids in their order, for comparison.
func ids(findings []Finding) []ID {
	var out []ID
	for _, f := range findings {
		out = append(out, f.ID)
	}
	return out
}

// wantIDs fails unless the findings are these, in this order.
func wantIDs(t *testing.T, findings []Finding, want ...ID) {
	t.Helper()
	if got := ids(findings); !slices.Equal(got, want) {
		t.Errorf("findings %v, want %v", got, want)
		for _, f := range findings {
			t.Logf("%s %s: %s %q (cause %s)", f.Severity, f.ID, f.Summary, f.Evidence, f.Cause)
		}
	}
	for _, f := range findings {
		answered(t, f)
	}
}
