package diagnose

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

// gist returns the important parts of findings, one finding a line: severity, id, subject, cause.
func gist(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%v %s", f.Severity, f.ID)
		for _, word := range []string{f.Subject.Operation, f.Subject.Path()} {
			if word != "" {
				b.WriteString(" " + word)
			}
		}
		if f.Cause != "" {
			b.WriteString(" < " + string(f.Cause))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// fail gives the node the last failure of Version, Status or a list, n of them
// in a row, the last one second ago; it took what the call's time limit allows.
func (n *node) fail(op call.Operation, kind call.Kind, text string, inRow int) *node {
	err := failure(op, kind, text)
	took := time.Millisecond
	if errors.Is(kind, call.ErrDeadline) {
		took = 8 * time.Second
	}
	f := &answers.Failure{
		Flight: call.Flight{Op: op, Since: ago(time.Second + took)}, Err: err,
		At: ago(time.Second), First: ago(time.Second * time.Duration(inRow)), InRow: inRow,
	}
	c := n.calls(op)
	c.LastErr, c.LastErrAt = err, f.At
	c.Errors += uint64(inRow)
	c.Count += uint64(inRow)
	c.ByCode = []answers.CodeCount{{Code: call.Code(err), Count: coded(c, call.Code(err)) + uint64(inRow)}}
	n.silentSince(op, f.First)
	if n.Sweep != nil {
		c.LastOK = time.Time{}
	}
	switch op {
	case call.Version:
		n.VersionErr = f
	case call.Status:
		n.StatusErr = f
	default:
		n.Failure = f
	}
	return n
}

// noList makes check's node one that got no list.
func (n *node) noList() *node {
	n.Pods, n.Counts, n.Sweep = nil, engine.Counts{}, nil
	n.Health = kubelet.Health{Verdict: "pleg has yet to be successful"}
	for _, op := range []call.Operation{call.ListPodSandbox, call.ListContainers, call.PodSandboxStatus, call.ContainerStatus} {
		c := n.calls(op)
		c.LastOK, c.Count, c.P50, c.Max = time.Time{}, c.Errors, 0, 0
	}
	return n
}

// probe adds a probe. It was answered, or it failed with the error.
func (n *node) probe(f call.Flight, err error) *node {
	f.By, f.Since = call.ByProbe, ago(300*time.Millisecond)
	n.calls(f.Op).LastOK = ago(200 * time.Millisecond)
	n.Probes = append(n.Probes, answers.Outcome{Flight: f, At: ago(200 * time.Millisecond), Took: 2 * time.Millisecond, Err: err})
	return n
}

func (n *node) probesAnswered() *node {
	n.probe(call.Flight{Op: call.Version}, nil).probe(call.Flight{Op: call.Status}, nil)
	last := len(n.Pods) - 1
	return n.probe(n.flight(last, "", 0), nil).probe(n.flight(last, "app", 0), nil)
}

// sweepHung makes the sweep find that an object hangs.
func (n *node) sweepHung(i int, container string) *node {
	f := n.flight(i, container, 0)
	f.By, f.Since = call.BySweep, n.Sweep.Began
	n.Sweep.Hung = append(n.Sweep.Hung, answers.Outcome{Flight: f, Took: 2 * time.Second, Err: failure(f.Op, call.ErrDeadline, "context deadline exceeded")})
	return n
}

// sweepFailed makes the sweep find that an object fails twice.
func (n *node) sweepFailed(i int, container string, kind call.Kind, text string) *node {
	f := n.flight(i, container, 0)
	f.By, f.Since = call.BySweep, n.Sweep.Began
	err := failure(f.Op, kind, text)
	n.Sweep.Failed = append(n.Sweep.Failed, answers.Outcome{Flight: f, Took: time.Millisecond, Err: err})
	c := n.calls(f.Op)
	c.Errors += 2
	c.ByCode = []answers.CodeCount{{Code: call.Code(err), Count: coded(c, call.Code(err)) + 2}}
	return n
}

// podFails makes the inspections of the i-th pod fail at one of its containers.
func (n *node) podFails(i int, container string, kind call.Kind, text string, inRow int) *node {
	p := *n.pod(i)
	f := &answers.Failure{Flight: n.flight(i, container, 0), At: ago(time.Second), First: ago(time.Duration(inRow) * time.Second), InRow: inRow}
	f.Err = failure(f.Op, kind, text)
	if errors.Is(kind, call.ErrDeadline) {
		p.InspectLast, f.First = 2*time.Minute, ago(time.Duration(inRow)*2*time.Minute)
	}
	f.Since = f.At.Add(-p.InspectLast)
	p.StatusErr = fmt.Errorf("inspect pod %v: %w", p.PodRef, f.Err)
	p.Status, p.Failure, p.InspectedAt = nil, f, f.At
	for j := range n.Pods {
		if n.Pods[j].UID == p.UID {
			n.Pods[j] = &p
		}
	}
	return n
}

// unhealthy makes PLEG unhealthy since a minute ago.
func (n *node) unhealthy() *node {
	n.Health.Healthy, n.Health.Since, n.Health.ListedAt = false, ago(time.Minute), ago(4*time.Minute)
	n.Health.Verdict = "pleg was last seen active 4m0s ago; threshold is 3m0s"
	return n
}

// slowBy makes each call take some time.
func (n *node) slowBy(took time.Duration, ops ...call.Operation) *node {
	for _, op := range ops {
		c := n.calls(op)
		c.P50, c.P90, c.P99, c.Max = took, took, took, max(took, c.Max)
	}
	return n
}

// relisted gives the node recent relists.
func (n *node) relisted(all ...engine.Relist) *node {
	n.Relists.History = all
	at := now
	for i := len(all) - 1; i >= 0; i-- {
		at = at.Add(-time.Second - all[i].Took)
		all[i].At = at
	}
	n.Relists.Last = all[len(all)-1].Took
	var took []time.Duration
	for _, r := range all[max(0, len(all)-10):] {
		took = append(took, r.List)
	}
	n.UsualList = answers.UsualList(took)
	return n
}

func repeat(n int, r engine.Relist) []engine.Relist {
	var all []engine.Relist
	for range n {
		all = append(all, r)
	}
	return all
}

var answeringOps = []call.Operation{call.Version, call.Status, call.ListPodSandbox, call.ListContainers, call.PodSandboxStatus, call.ContainerStatus}

func TestDiagnose(t *testing.T) {
	const (
		deadline = "context deadline exceeded"
		refused  = "dial unix /run/containerd/containerd.sock: connect: connection refused"
	)
	tests := []struct {
		name string
		node *node
		want string
	}{
		{"down, live", healthy(5).fail(call.ListPodSandbox, call.ErrUnavailable, refused, 2), "warning runtime-down\n"},
		{"down, live, for 10 s", healthy(5).fail(call.ListPodSandbox, call.ErrUnavailable, refused, 10).fail(call.Status, call.ErrUnavailable, refused, 2), "critical runtime-down\n"},
		{"down and unhealthy", healthy(5).fail(call.ListPodSandbox, call.ErrUnavailable, refused, 240).fail(call.Status, call.ErrUnavailable, refused, 50).unhealthy(),
			"critical runtime-down\ncritical pleg-unhealthy < runtime-down\n"},
		{"down in check", checked(5).fail(call.Version, call.ErrUnavailable, refused, 1).fail(call.Status, call.ErrUnavailable, refused, 1).fail(call.ListPodSandbox, call.ErrUnavailable, refused, 1).noList(),
			"critical runtime-down\ncritical pleg-unhealthy < runtime-down\n"},
		{"only Version is answered well", checked(5).fail(call.Status, call.ErrUnavailable, "server is not initialized yet", 1).fail(call.ListPodSandbox, call.ErrUnavailable, "server is not initialized yet", 1).noList(),
			"critical runtime-down\ncritical pleg-unhealthy < runtime-down\n"},
		{"every call fails with an error", checked(5).fail(call.Status, call.ErrOther, "database is locked", 1).fail(call.ListPodSandbox, call.ErrOther, "database is locked", 1).noList(),
			"critical runtime-down\ncritical pleg-unhealthy ListPodSandbox < runtime-down\n"},
		{"one list is refused, the rest answered", healthy(5).fail(call.ListContainers, call.ErrUnavailable, refused, 30), "critical runtime-down ListContainers\n"},
		{"Status fails, live", healthy(5).fail(call.Status, call.ErrOther, "cni config load failed", 2), "warning runtime-down Status\n"},
		{"Status fails, live, for 10 s", healthy(5).fail(call.Status, call.ErrOther, "cni config load failed", 10), "critical runtime-down Status\n"},
		{"Status fails in check", checked(5).fail(call.Status, call.ErrOther, "cni config load failed", 1), "critical runtime-down Status\n"},
		{"a list is refused in check, Status answered", checked(5).fail(call.ListPodSandbox, call.ErrUnavailable, refused, 1).noList(), "critical runtime-down ListPodSandbox\ncritical pleg-unhealthy < runtime-down\n"},
		{"refused once, just after an answer", healthy(5).fail(call.ListPodSandbox, call.ErrUnavailable, refused, 1), "warning runtime-down\n"},
		{"refused now and then, in check", func() *node {
			n := checked(5)
			n.calls(call.ContainerStatus).ByCode = []answers.CodeCount{{Code: "Unavailable", Count: 3}}
			n.Sweep.Flaky = 3
			return n
		}(), "warning runtime-down\n"},

		{"a list that is only late", healthy(5).hang(call.ListPodSandbox, 1900*time.Millisecond), ""},
		{"stopped, live, before any probe is over", healthy(5).hang(call.ListPodSandbox, 3*time.Second), "warning list-hung ListPodSandbox\n"},
		{"stopped, live", healthy(5).hang(call.ListPodSandbox, 6*time.Second).hang(call.Version, 2500*time.Millisecond).hang(call.Status, 3*time.Second), "critical runtime-unresponsive\n"},
		{"stopped in check", checked(5).fail(call.Version, call.ErrDeadline, deadline, 1).fail(call.Status, call.ErrDeadline, deadline, 1).fail(call.ListPodSandbox, call.ErrDeadline, deadline, 1).noList(),
			"critical runtime-unresponsive\ncritical pleg-unhealthy < runtime-unresponsive\n"},
		{"deadlock: all but Version", checked(5).fail(call.Status, call.ErrDeadline, deadline, 1).fail(call.ListPodSandbox, call.ErrDeadline, deadline, 1).noList(),
			"critical runtime-unresponsive\ncritical pleg-unhealthy < runtime-unresponsive\n"},
		{"deadlock, live, first seen by an inspection", healthy(5).hangOn(1, "app", 8*time.Second).hang(call.Status, 3*time.Second).probe(call.Flight{Op: call.Version}, nil),
			"critical runtime-unresponsive\n"},
		{"only Status hangs", healthy(5).hang(call.Status, 20*time.Second), "critical runtime-unresponsive Status\n"},
		{"only Status hangs in check", checked(5).fail(call.Status, call.ErrDeadline, deadline, 1), "critical runtime-unresponsive Status\n"},
		{"a list and all objects hang, Status does not",
			healthy(5).hang(call.ListContainers, 10*time.Second).fly(healthy(5).flight(1, "app", 3*time.Second)).fly(healthy(5).flight(2, "", 2*time.Second)).probe(call.Flight{Op: call.Status}, nil),
			"critical runtime-unresponsive\n"},

		{"list hangs, live", healthy(5).hang(call.ListContainers, 5*time.Second).probesAnswered(), "critical list-hung ListContainers\n"},
		{"list hung once, out again", healthy(5).fail(call.ListContainers, call.ErrDeadline, deadline, 1).hang(call.ListPodSandbox, 100*time.Millisecond).probesAnswered(), "critical list-hung ListContainers\n"},
		{"list hangs in check", checked(5).fail(call.ListContainers, call.ErrDeadline, deadline, 1).noList(),
			"critical list-hung ListContainers\ncritical pleg-unhealthy < list-hung\n"},
		{"list hangs and is unhealthy", healthy(5).hang(call.ListPodSandbox, 100*time.Second).probesAnswered().unhealthy(),
			"critical list-hung ListPodSandbox\ncritical pleg-unhealthy < list-hung\n"},
		{"list hangs while one status holds the lock",
			healthy(5).hang(call.ListContainers, 12*time.Second).probesAnswered().fly(healthy(5).flight(2, "sidecar", 2*time.Second)),
			"critical inspect-hung ContainerStatus ns-2/pod-00002/sidecar\ncritical list-hung ListContainers < inspect-hung\n"},
		{"list takes seconds, in check", checked(5).slowBy(5*time.Second, call.ListContainers), "warning runtime-slow ListContainers\n"},
		{"list takes seconds, live", healthy(5).relisted(repeat(9, engine.Relist{Took: 3 * time.Second, List: 3 * time.Second})...).slowBy(3*time.Second, call.ListPodSandbox).hang(call.ListPodSandbox, 2800*time.Millisecond),
			"warning runtime-slow ListPodSandbox\n"},

		{"list out for twice as long as all calls take", healthy(5).slowBy(1200*time.Millisecond, answeringOps...).hang(call.ListPodSandbox, 2600*time.Millisecond).probesAnswered(), ""},
		{"list out for three times as long", healthy(5).slowBy(1200*time.Millisecond, answeringOps...).hang(call.ListPodSandbox, 3600*time.Millisecond).probesAnswered(), "warning list-hung ListPodSandbox\n"},
		{"list over the limit", checked(5).fail(call.ListContainers, call.ErrTooLarge, "grpc: received message larger than max (20123456 vs. 16777216)", 1).noList(),
			"critical list-too-big ListContainers\ncritical pleg-unhealthy < list-too-big\n"},
		{"list out of resources", healthy(5).fail(call.ListContainers, call.ErrTooLarge, "trying to send message larger than max (1 vs. 1)", 9), "critical list-too-big ListContainers\n"},
		{"list near the limit", func() *node { n := healthy(5); n.calls(call.ListContainers).LastResponseBytes = 14 << 20; return n }(), "warning list-too-big ListContainers\n"},

		{"inspection out for 1 s", healthy(5).hangOn(3, "app", time.Second).probesAnswered(), "warning inspect-hung ContainerStatus ns-0/pod-00003/app\n"},
		{"inspection hangs, live", healthy(5).hangOn(3, "app", 47*time.Second).probesAnswered(), "critical inspect-hung ContainerStatus ns-0/pod-00003/app\n"},
		{"inspection hangs and Status, too, for a moment", healthy(5).hangOn(3, "", 47*time.Second).probesAnswered().hang(call.Status, 1100*time.Millisecond),
			"critical inspect-hung PodSandboxStatus ns-0/pod-00003\nwarning runtime-unresponsive Status\n"},
		{"inspection hangs in check", checked(5).sweepHung(4, ""), "critical inspect-hung PodSandboxStatus ns-1/pod-00004\n"},
		{"hung before, another now", healthy(5).podFails(1, "app", call.ErrDeadline, deadline, 1).hangOn(3, "app", 47*time.Second),
			"critical inspect-hung ContainerStatus ns-0/pod-00003/app\ncritical inspect-hung ContainerStatus ns-1/pod-00001/app\n"},
		{"hangs relist after relist", healthy(5).podFails(1, "app", call.ErrDeadline, deadline, 3).hangOn(1, "app", 5*time.Second).unhealthy(),
			"critical inspect-hung ContainerStatus ns-1/pod-00001/app\ncritical pleg-unhealthy < inspect-hung\n"},
		{"two hang in check", checked(5).sweepHung(2, "app").sweepHung(3, ""), "critical inspect-hung ContainerStatus ns-2/pod-00002/app\ncritical inspect-hung PodSandboxStatus ns-0/pod-00003\n"},
		{"one answers late, in check", func() *node {
			n := checked(5)
			n.Sweep.Slowest = []answers.Outcome{{Flight: n.flight(2, "app", 0), Took: 1500 * time.Millisecond}, {Flight: n.flight(1, "app", 0), Took: 9 * time.Millisecond}}
			return n
		}(), ""},

		{"fails twice in check", checked(5).sweepFailed(2, "app", call.ErrOther, "failed to get task status: ttrpc: closed"), "warning inspect-failing ContainerStatus ns-2/pod-00002/app\n"},
		{"its shim is gone", checked(5).sweepFailed(2, "app", call.ErrUnavailable, "ttrpc: closed: unknown"), "warning inspect-failing ContainerStatus ns-2/pod-00002/app\n"},
		{"a deadline that is passed on at once is an error", func() *node {
			n := checked(5).sweepFailed(2, "app", call.ErrDeadline, "ttrpc: context deadline exceeded")
			f := n.podFails(2, "app", call.ErrDeadline, "ttrpc: context deadline exceeded", 1).pod(2).Failure
			f.Since = f.At.Add(-5 * time.Millisecond)
			return n
		}(), "warning inspect-failing ContainerStatus ns-2/pod-00002/app\n"},
		{"fails live", healthy(5).podFails(2, "sidecar", call.ErrOther, "no such file", 7), "warning inspect-failing ContainerStatus ns-2/pod-00002/sidecar\n"},
		{"the older of two sandboxes fails", func() *node {
			n := healthy(5).podFails(2, "", call.ErrOther, "no such file", 7)
			p := n.pod(2)
			p.Old.Sandboxes = append(p.Old.Sandboxes, pleg.Sandbox{ID: "older", State: pleg.Exited, CreatedAt: ago(48 * time.Hour)})
			p.Failure.ID = "older"
			return n
		}(), "warning inspect-failing PodSandboxStatus ns-2/pod-00002\n"},
		{"sandbox fails live", healthy(5).podFails(2, "", call.ErrOther, "no such file", 7), "warning inspect-failing PodSandboxStatus ns-2/pod-00002\n"},
		{"most pods fail alike", func() *node {
			n := healthy(12)
			for i := range 8 {
				n.podFails(i, "app", call.ErrOther, fmt.Sprint("read-only file system: ", i), 4)
			}
			return n
		}(), "warning store-failing\nwarning inspect-failing ContainerStatus < store-failing\n"},

		{"list fails, live", healthy(5).fail(call.ListContainers, call.ErrOther, "database is locked", 3), "warning pleg-unhealthy ListContainers\n"},
		{"list fails, live, for 10 s", healthy(5).fail(call.ListContainers, call.ErrOther, "database is locked", 10), "critical pleg-unhealthy ListContainers\n"},
		{"list fails in check", checked(5).fail(call.ListContainers, call.ErrOther, "database is locked", 1).noList(), "critical pleg-unhealthy ListContainers\n"},

		{"slow in check, and Status fails at its end", func() *node {
			n := checked(200).slowBy(450*time.Millisecond, call.PodSandboxStatus, call.ContainerStatus)
			n.Started, n.Sweep.Began, n.Sweep.Ended = ago(80*time.Second), ago(79*time.Second), ago(9*time.Second)
			n.fail(call.Status, call.ErrUnavailable, refused, 2)
			n.calls(call.ContainerStatus).LastOK = ago(9 * time.Second)
			return n
		}(), "critical runtime-down Status\nwarning runtime-slow\n"},
		{"Status fails at the end of check, objects are answered", func() *node {
			n := checked(9).fail(call.Status, call.ErrUnavailable, refused, 2)
			n.calls(call.ContainerStatus).LastOK = ago(100 * time.Millisecond)
			return n
		}(), "critical runtime-down Status\n"},
		{"slow in check", checked(5).slowBy(300*time.Millisecond, answeringOps...), "warning runtime-slow\n"},
		{"slow, live", healthy(5).relisted(repeat(20, engine.Relist{Took: 600 * time.Millisecond, List: 600 * time.Millisecond})...).slowBy(300*time.Millisecond, answeringOps...), "warning runtime-slow\n"},
		{"slow, but for Version and Status", checked(5).slowBy(300*time.Millisecond, answeringOps[2:]...), "warning runtime-slow\n"},
		{"so slow that calls are out for more than a second", healthy(5).relisted(repeat(9, engine.Relist{Took: 2600 * time.Millisecond, List: 2600 * time.Millisecond})...).slowBy(1300*time.Millisecond, answeringOps...).hangOn(1, "app", 1300*time.Millisecond), "warning runtime-slow\n"},
		{"status calls slow, the rest not", checked(5).slowBy(700*time.Millisecond, call.PodSandboxStatus, call.ContainerStatus), "warning runtime-slow ContainerStatus\n"},
		{"the status of containers slow, the rest not", checked(5).slowBy(2500*time.Millisecond, call.ContainerStatus), "warning runtime-slow ContainerStatus\n"},
		{"so slow that the sweep is refused", func() *node {
			n := checked(5).slowBy(1500*time.Millisecond, answeringOps[:4]...)
			n.Sweep = &answers.Sweep{Began: ago(time.Second), Refused: "Status took 1.5s"}
			for _, op := range answeringOps[4:] {
				*n.calls(op) = answers.Calls{Op: op}
			}
			return n
		}(), "warning runtime-slow\n"},

		{"churn, live, under way", func() *node {
			n := healthy(300)
			n.Phase = engine.Phase{Step: engine.Inspecting, Began: ago(11 * time.Second), ListTook: 20 * time.Millisecond, Done: 50, Total: 300}
			return n
		}(), "warning relist-slow-churn\n"},
		{"churn, live, which is young", func() *node {
			n := healthy(300)
			n.Phase = engine.Phase{Step: engine.Inspecting, Began: ago(9 * time.Second), ListTook: 20 * time.Millisecond, Done: 50, Total: 300}
			return n
		}(), ""},
		{"churn, live, last relist", healthy(300).relisted(engine.Relist{Took: 9 * time.Millisecond}, engine.Relist{Took: 40 * time.Second, List: 30 * time.Millisecond, Inspected: 280}), "warning relist-slow-churn\n"},
		{"churn in check", func() *node {
			n := checked(300)
			n.Sweep.Serial = 900 * 30 * time.Millisecond
			for i := range 250 {
				n.Pods[i].Old.Containers[0].CreatedAt = ago(40 * time.Second)
			}
			return n
		}(), "warning relist-slow-churn\n"},

		{"churn in check, of a runtime that answers one after the other", func() *node {
			n := checked(300)
			n.Sweep.Serial, n.Sweep.Quickest = 900*30*time.Millisecond, 8*time.Millisecond
			for i := range 250 {
				n.Pods[i].Old.Containers[0].CreatedAt = ago(40 * time.Second)
			}
			return n
		}(), ""},

		{"unhealthy without a reason", healthy(5).unhealthy(), "critical pleg-unhealthy\n"},
		{"paused", func() *node { n := healthy(5).unhealthy(); n.Paused = true; return n }(), ""},

		{"three at once", func() *node {
			n := healthy(5).hangOn(3, "app", 47*time.Second).probesAnswered().podFails(1, "app", call.ErrOther, "broken", 9)
			n.Conditions = []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Reason: "NetworkPluginNotReady", Message: "cni plugin not initialized"}}
			return n
		}(), "critical inspect-hung ContainerStatus ns-0/pod-00003/app\ncritical network-not-ready Status\nwarning inspect-failing ContainerStatus ns-1/pod-00001/app\n"},
		{"down hides what it causes, not what was before", healthy(5).fail(call.ListPodSandbox, call.ErrUnavailable, refused, 2).hangOn(3, "app", 47*time.Second).podFails(1, "app", call.ErrOther, "broken", 9),
			"warning runtime-down\n"},
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
			for _, f := range found {
				answered(t, f)
			}
			if v := tt.node.facts(); (v.Silence != nil) != (v.Scope == answers.Silent) {
				t.Errorf("scope %v with the silence %+v", v.Scope, v.Silence)
			}
		})
	}
}

func TestNothingOnAHealthyNode(t *testing.T) {
	tests := []struct {
		name string
		node *node
	}{
		{"nothing runs", healthy(0)},
		{"live", healthy(30)},
		{"check", checked(30)},
		{"check of an empty node", checked(0)},
		{"250 pods", healthy(250)},
		{"list of 100 ms", healthy(250).slowBy(100*time.Millisecond, call.ListPodSandbox, call.ListContainers).relisted(repeat(20, engine.Relist{Took: 200 * time.Millisecond, List: 200 * time.Millisecond})...)},
		{"list of 100 ms in check", checked(250).slowBy(100*time.Millisecond, call.ListPodSandbox, call.ListContainers)},
		{"a call that has been out for 900 ms", healthy(5).hangOn(1, "app", 900*time.Millisecond)},
		{"the event stream stays out", healthy(5).fly(call.Flight{Op: call.GetContainerEvents, Since: ago(time.Hour)})},
		{"one failed list, the next is under way", healthy(5).fail(call.ListContainers, call.ErrOther, "a hiccup", 1)},
		{"one failed inspection", healthy(5).podFails(1, "app", call.ErrOther, "a hiccup", 1)},
		{"the runtime has just come back, and was not asked for a list yet", func() *node {
			n := healthy(5).fail(call.ListPodSandbox, call.ErrUnavailable, "connection refused", 7)
			n.calls(call.Status).LastOK = ago(100 * time.Millisecond)
			return n
		}()},
		{"gone between list and status", healthy(5).podFails(1, "app", call.ErrNotFound, "no such container", 3)},
		{"the first list is out for 50 ms", func() *node {
			n := healthy(0).hang(call.ListPodSandbox, 50*time.Millisecond)
			n.Started, n.Pods, n.Relists = ago(60*time.Millisecond), nil, engine.Relists{}
			n.Health = kubelet.Health{Verdict: "pleg has yet to be successful"}
			return n
		}()},
		{"the first relist inspects everything", func() *node {
			n := healthy(250)
			n.Relists = engine.Relists{}
			n.Phase = engine.Phase{Step: engine.Inspecting, Began: ago(2 * time.Second), Done: 30, Total: 250}
			return n
		}()},
		{"a node that has just come up", func() *node {
			n := checked(250)
			for _, p := range n.Pods {
				p.Old.Containers[0].CreatedAt = ago(20 * time.Second)
			}
			return n
		}()},
		{"a relist of 8 s after a rollout", healthy(250).relisted(engine.Relist{Took: 9 * time.Millisecond}, engine.Relist{Took: 8 * time.Second, List: 30 * time.Millisecond, Inspected: 200})},
		{"500 exited containers", func() *node {
			n := healthy(500)
			for _, p := range n.Pods {
				p.Old.Containers[1].State = pleg.Exited
			}
			n.Counts.Running, n.Counts.Exited = 500, 500
			return n
		}()},
		{"paused a moment ago", func() *node { n := healthy(5); n.Paused = true; return n }()},
		{"an old sweep found something, which was inspected since", func() *node {
			n := checked(5).sweepHung(1, "app")
			n.Policy.Once, n.Started, n.Relists.Count = false, ago(time.Hour), 3000
			n.Sweep.Began, n.Sweep.Ended, n.Sweep.Checked = ago(60*time.Second), ago(55*time.Second), ago(12*time.Second)
			n.pod(1).InspectedAt = ago(10 * time.Second)
			return n
		}()},
		{"a sweep found something long ago", func() *node {
			n := checked(5).sweepHung(1, "app")
			n.Policy.Once, n.Started, n.Relists.Count = false, ago(time.Hour), 3000
			n.Sweep.Began, n.Sweep.Ended = ago(30*time.Second), ago(25*time.Second)
			return n
		}()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantIDs(t, tt.node.diagnose()) })
	}
}

// coded returns how often calls ended with a code.
func coded(c *answers.Calls, code string) uint64 {
	for _, n := range c.ByCode {
		if n.Code == code {
			return n.Count
		}
	}
	return 0
}

// TestToRoots checks every way in which four findings may explain each other, also in circles, and with a finding that
// is gone. In the end each is a root, or has a cause that is there and is a root.
func TestToRoots(t *testing.T) {
	const n, none, gone = 4, 4, 5
	for way := range 6 * 6 * 6 * 6 {
		all := make([]Finding, n)
		for i, rest := 0, way; i < n; i, rest = i+1, rest/6 {
			all[i].ID = ID(fmt.Sprint("f", i))
			if by := rest % 6; by != none {
				all[i].Cause = ID(fmt.Sprint("f", by))
				all[i].CauseKey.ID = all[i].Cause
			}
		}
		was := slices.Clone(all)
		toRoots(all)
		for i, f := range all {
			by := slices.IndexFunc(all, func(c Finding) bool { return c.Key() == f.CauseKey })
			if f.Cause != "" && (by < 0 || all[by].Cause != "") || f.Cause == "" && f.CauseKey != (Key{}) {
				t.Fatalf("%v became %v: f%d hangs on no root", was, all, i)
			}
		}
	}
}
