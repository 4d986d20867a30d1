package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

const cutText = "error reading from server: EOF"

// again makes Status fail when it is asked once more, after the sweep.
func (n *node) again(kind call.Kind, text string) *node {
	n.fail(call.Status, kind, text, 1)
	n.Started, n.Sweep.Began = ago(20*time.Second), ago(19*time.Second)
	n.StatusErr.Since = ago(4 * time.Second)
	for i := range n.Calls {
		if c := &n.Calls[i]; !c.LastOK.IsZero() || c.Op == call.Status {
			c.LastOK = ago(18 * time.Second)
		}
	}
	return n
}

// givenUp makes the sweep end before it reached all objects.
func (n *node) givenUp(why string) *node {
	n.Sweep.CutOff, n.Sweep.GivenUp, n.Sweep.Done = true, why, n.Sweep.Total/2
	return n
}

// growing makes the objects that the sweep reached answer later and later.
func (n *node) growing() *node {
	n.slowBy(300*time.Millisecond, call.PodSandboxStatus, call.ContainerStatus)
	for i := range 5 {
		n.Sweep.Slowest = append(n.Sweep.Slowest, answers.Outcome{Flight: n.flight(i, "app", 0), Took: 1500 * time.Millisecond})
	}
	return n
}

// In a single pass the last calls show what has become of the runtime.
func TestAskedAgain(t *testing.T) {
	tests := []struct {
		name string
		node *node
		want string
	}{
		{"it went away during the sweep", checked(9).sweepFailed(1, "app", call.ErrUnavailable, notThere).sweepFailed(2, "app", call.ErrUnavailable, notThere).again(call.ErrUnavailable, notThere).givenUp("nobody listens any more"),
			"critical runtime-down\n"},
		{"Status alone, of a runtime that is there", func() *node {
			n := checked(9).again(call.ErrUnavailable, notThere)
			n.calls(call.Version).LastOK = ago(time.Second)
			return n
		}(), "critical runtime-down Status\n"},
		{"it fell silent during the sweep", checked(9).again(call.ErrDeadline, tooLate).givenUp("Status gives no answer, either"),
			"critical runtime-unresponsive\n"},
		{"one object hung before all else", checked(9).sweepHung(2, "app").again(call.ErrDeadline, tooLate).givenUp("Status gives no answer, either"),
			"critical runtime-unresponsive Status\ncritical inspect-hung ContainerStatus ns-2/pod-00002/app\n"},
		{"slower and slower until it seems to hang", checked(9).growing().sweepHung(6, "app").sweepHung(7, "").again(call.ErrDeadline, tooLate).givenUp("Status gives no answer, either"),
			"warning runtime-slow\n"},
		{"two thirds of all calls are slow, and the lists happen to be fast", checked(9).slowBy(250*time.Millisecond, call.PodSandboxStatus, call.ContainerStatus),
			"warning runtime-slow\n"},
		{"sandboxes are slow, containers are not", checked(9).slowBy(250*time.Millisecond, call.PodSandboxStatus), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := tt.node.diagnose()
			if diff := cmp.Diff(tt.want, gist(found)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			whole(t, found)
			critical := slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == Critical })
			if h := tt.node.facts().headline(found); (h.Severity == Critical) != critical {
				t.Errorf("the headline does not agree: %+v", h)
			}
		})
	}
}

// If the status call of one object ends the connection, other calls fail with it.
func TestWhoEndsTheConnection(t *testing.T) {
	cut := func(flaky int, objects ...int) *node {
		n := checked(60)
		for _, i := range objects {
			n.sweepFailed(i, "app", call.ErrUnavailable, cutText)
		}
		n.Sweep.Flaky = flaky
		n.calls(call.ContainerStatus).ByCode = []answers.CodeCount{{Code: "Unavailable", Count: uint64(2*len(objects) + flaky)}}
		return n
	}
	tests := []struct {
		name string
		node *node
		want string
	}{
		{"the others were answered when asked again", cut(3, 2), "warning inspect-failing ContainerStatus ns-2/pod-00002/app\n"},
		{"it alone", cut(0, 2), "warning inspect-failing ContainerStatus ns-2/pod-00002/app\n"},
		{"others were unlucky twice", cut(2, 2, 7), "warning runtime-down\n"},
		{"all that were out", cut(0, 2, 7, 9), "warning runtime-down\n"},
		{"connections break now and then", cut(30, 2), "warning runtime-down\n"},
		{"two shims have died", checked(60).sweepFailed(2, "app", call.ErrUnavailable, "ttrpc: closed").sweepFailed(7, "app", call.ErrUnavailable, "ttrpc: closed"),
			"warning inspect-failing ContainerStatus ns-2/pod-00002/app\nwarning inspect-failing ContainerStatus ns-1/pod-00007/app\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := tt.node.diagnose()
			if diff := cmp.Diff(tt.want, gist(found)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			whole(t, found)
		})
	}
	firstSays(t, cut(2, 2, 7).diagnose(), "may be what ends the connection: ContainerStatus of ns-2/pod-00002/app, ContainerStatus of ns-1/pod-00007/app")
	firstSays(t, cut(3, 2).diagnose(), "3 others failed with it")
}

// A deadline of less than a second is a deadline, too.
func TestShortDeadline(t *testing.T) {
	n := checked(5).fail(call.Status, call.ErrDeadline, tooLate, 1).fail(call.ListPodSandbox, call.ErrDeadline, tooLate, 1).noList()
	n.Sweep = &answers.Sweep{Began: ago(time.Second), Timeout: 500 * time.Millisecond, Refused: "Status took 750ms"}
	for _, f := range []*answers.Failure{n.StatusErr, n.Failure} {
		f.Since = f.At.Add(-750 * time.Millisecond)
	}
	wantIDs(t, n.diagnose(), RuntimeUnresponsive, PLEGUnhealthy)
	n.At = n.StatusErr.At
	firstSays(t, n.diagnose(), "come back for 750ms")
	n.Sweep.Timeout = 2 * time.Second
	if found := n.diagnose(); has(found, RuntimeUnresponsive) {
		t.Error("a deadline that was passed on in 750ms is taken for ours")
	}
}
