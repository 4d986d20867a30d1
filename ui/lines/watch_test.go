package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A script is a feed of updates that were written down beforehand.
type script []diagnose.Update

func (s *script) Next(context.Context) (diagnose.Update, error) {
	if len(*s) == 0 {
		return diagnose.Update{}, engine.ErrStopped
	}
	u := (*s)[0]
	*s = (*s)[1:]
	return u, nil
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local)

func healthy() *engine.Snapshot {
	return &engine.Snapshot{
		At: noon, Threshold: 3 * time.Minute,
		Health: kubelet.Health{Healthy: true, ListedAt: noon.Add(-time.Second)},
	}
}

// seen is an update of a node on which nothing is found.
func seen(u engine.Update) diagnose.Update {
	return diagnose.Update{Update: u, Headline: diagnose.Headline{Word: "HEALTHY"}}
}

func died() engine.Event {
	return engine.Event{
		Seq: 7, SeenAt: noon, Lag: 400 * time.Millisecond, HasLag: true, Reason: "OOMKilled",
		Event: pleg.Event{
			Kind: pleg.Died, ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{UID: "u1", Namespace: "shop", Name: "cart-0"}, ID: "c1", Container: "app"},
			From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: 137,
		},
	}
}

func watch(t *testing.T, o Options, updates ...diagnose.Update) string {
	t.Helper()
	var out bytes.Buffer
	feed := script(updates)
	if err := Watch(t.Context(), &out, &feed, o); err != nil {
		t.Fatalf("Watch: %v", err)
	}
	return out.String()
}

func TestWatchText(t *testing.T) {
	down := healthy()
	down.Health.Healthy = false
	down.Health.Verdict = "pleg was last seen active 3m1.002555892s ago; threshold is 3m0s"
	down.Failure = &answers.Failure{Err: &call.Error{Op: call.ListPodSandbox, Kind: call.ErrDeadline, Code: "DeadlineExceeded", Text: "gone\x1b[2J"}}
	removed := engine.Event{Seq: 8, SeenAt: noon, Event: pleg.Event{
		Kind: pleg.Removed, Delivery: pleg.Discarded,
		ObjectRef: pleg.ObjectRef{ID: "0123456789abcdef", Pod: pleg.PodRef{UID: "u1", Namespace: "shop", Name: "cart-0"}, Sandbox: true},
	}}
	got := watch(t, Options{},
		seen(engine.Update{Snapshot: &engine.Snapshot{At: noon}}),
		seen(engine.Update{Snapshot: healthy(), Events: []engine.Event{died()}}),
		seen(engine.Update{Snapshot: healthy()}),
		seen(engine.Update{Snapshot: down, Events: []engine.Event{removed}, Lost: 3}),
	)
	want := `12:00:00.000 headline: HEALTHY
12:00:00.000 ContainerDied    shop/cart-0 app exit 137 OOMKilled lag 400ms
12:00:00.000 PLEG is healthy
12:00:00.000 gap: 3 events were too many for this reader
12:00:00.000 ContainerRemoved shop/cart-0 sandbox 0123456789abc (discarded)
12:00:00.000 PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s; last list: ListPodSandbox: DeadlineExceeded: gone^[[2J
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if got := string(asJSON().health(nil, down)); !strings.Contains(got, "3m1.002555892s") {
		t.Errorf("the JSON does not keep the kubelet's words: %s", got)
	}
}

// Three clocks, three kinds of lines, each written only when it changes.
func TestWatchTellsTheNode(t *testing.T) {
	at := func(after time.Duration, change func(*engine.Snapshot)) diagnose.Update {
		s := healthy()
		s.At = noon.Add(after)
		s.Health.ListedAt = s.At.Add(-time.Second)
		s.Node = kubelet.Node{Ready: true, Known: true, Reason: "KubeletReady", Message: "kubelet is posting ready status"}
		change(s)
		return seen(engine.Update{Snapshot: s})
	}
	refused := &answers.Failure{Err: &call.Error{Op: call.ListPodSandbox, Kind: call.ErrUnavailable, Code: "Unavailable", Text: "connection refused"}}
	down := func(posted string) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) {
			s.Failure = refused
			s.Health.UnhealthyAt = noon.Add(3 * time.Minute)
			s.Node.LoopStopped, s.Node.RuntimeDown = noon.Add(30*time.Second), "container runtime is down"
			if posted != "" {
				s.Node.Ready, s.Node.Reason, s.Node.Message = false, "KubeletNotReady", posted
			}
		}
	}
	updates := []diagnose.Update{
		at(0, func(s *engine.Snapshot) { s.Node.Known = false }),
		at(time.Second, func(*engine.Snapshot) {}),
		at(2*time.Second, func(*engine.Snapshot) {}),
		at(3*time.Second, func(s *engine.Snapshot) { s.Failure = refused; s.Health.UnhealthyAt = noon.Add(3 * time.Minute) }),
		at(4*time.Second, func(s *engine.Snapshot) { s.Failure = refused; s.Node.LoopHeld = noon.Add(3 * time.Second) }),
		at(5*time.Second, func(s *engine.Snapshot) { s.Failure = refused; s.Node.LoopHeld = noon.Add(3 * time.Second) }),
		at(31*time.Second, down("")),
		at(40*time.Second, down("container runtime is down")),
		at(190*time.Second, down("[container runtime is down, PLEG is not healthy: pleg was last seen active 3m1.2s ago; threshold is 3m0s]")),
		at(200*time.Second, down("[container runtime is down, PLEG is not healthy: pleg was last seen active 3m11.2s ago; threshold is 3m0s]")),
		at(210*time.Second, func(*engine.Snapshot) {}),
		at(220*time.Second, func(s *engine.Snapshot) { s.Node.LoopStopped = s.At }), // for a moment, with nothing left to wait for
	}
	want := `12:00:00.000 headline: HEALTHY
12:00:00.000 PLEG is healthy
12:00:01.000 node would be posted Ready: KubeletReady: kubelet is posting ready status
12:00:03.000 lists fail: ListPodSandbox: Unavailable: connection refused; PLEG is unhealthy in 2m57s
12:00:05.000 sync loop held: its housekeeping waits for a list
12:00:31.000 sync loop stopped: container runtime is down
12:00:40.000 node would be posted NotReady: KubeletNotReady: container runtime is down
12:03:10.000 node would be posted NotReady: KubeletNotReady: [container runtime is down, PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s]
12:03:30.000 PLEG is healthy
12:03:30.000 sync loop works
12:03:30.000 node would be posted Ready: KubeletReady: kubelet is posting ready status
`
	if diff := cmp.Diff(want, watch(t, Options{}, updates...)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	var kinds []string
	for line := range strings.Lines(watch(t, Options{JSON: true}, updates...)) {
		var record struct {
			Kind, State string
			Ready       bool
			Why         []string
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, strings.TrimSpace(record.Kind+" "+record.State))
		if record.State == "stopped" && strings.Join(record.Why, "") != "container runtime is down" {
			t.Errorf("line %q", line)
		}
	}
	if diff := cmp.Diff([]string{"headline", "health", "node", "health", "loop held", "loop stopped", "node", "node", "health", "loop working", "node"}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

func TestWatchNamespaces(t *testing.T) {
	got := watch(t, Options{Namespaces: []string{"other"}}, seen(engine.Update{Snapshot: healthy(), Events: []engine.Event{died()}}))
	if strings.Contains(got, "cart-0") {
		t.Errorf("an event of another namespace was told:\n%s", got)
	}
}

func TestWatchJSON(t *testing.T) {
	got := watch(t, Options{JSON: true}, seen(engine.Update{Snapshot: healthy(), Events: []engine.Event{died()}, Lost: 2}))
	var kinds []string
	for line := range strings.Lines(got) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if record["schema"] != Schema {
			t.Errorf("schema = %v, want %s", record["schema"], Schema)
		}
		kinds = append(kinds, record["kind"].(string))
		if record["kind"] == "event" && (record["exitCode"] != 137.0 || record["lagSeconds"] != 0.4) {
			t.Errorf("event = %v", record)
		}
	}
	if diff := cmp.Diff([]string{"headline", "gap", "event", "health"}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

// TestJSONKeepsHostileText holds that what a runtime names its containers comes
// back unchanged from the JSON, and that no byte of it can act on a terminal.
func TestJSONKeepsHostileText(t *testing.T) {
	e := died()
	e.Container = "a\x1b[2J\u009b31m\u202eb\x7f\r\n\u2028é"
	line := appendEvent(nil, e)
	for _, r := range strings.TrimSuffix(string(line), "\n") {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			t.Errorf("line holds %U: %q", r, line)
		}
	}
	var back struct{ Container string }
	if err := json.Unmarshal(line, &back); err != nil || back.Container != e.Container {
		t.Errorf("container = %q, %v; want %q", back.Container, err, e.Container)
	}
}

// A broken writer fails with err.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestWatchEndsWithItsWriter(t *testing.T) {
	full := errors.New("disk full")
	for _, tt := range []struct{ said, want error }{
		{&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, nil}, // head has seen enough
		{full, full},
	} {
		feed := script{seen(engine.Update{Snapshot: healthy()}), seen(engine.Update{Snapshot: healthy(), Lost: 1})}
		if err := Watch(t.Context(), broken{tt.said}, &feed, Options{}); !errors.Is(err, tt.want) {
			t.Errorf("Watch = %v, want %v", err, tt.want)
		}
		if tt.want == nil && len(feed) != 1 {
			t.Error("Watch went on though nobody reads")
		}
	}
}
