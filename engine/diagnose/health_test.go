package diagnose

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/kubelet"
)

// Each link of the chain to Ready says how it is, since when, how long it may stay so, and when that is over.
func TestHealthOf(t *testing.T) {
	in := func(d time.Duration) time.Time { return now.Add(d) }
	const threshold, timeout = 3 * time.Minute, 2 * time.Minute
	for _, tt := range []struct {
		name   string
		change func(s *engine.Snapshot)
		want   HealthLink
	}{
		{"no Status yet", func(s *engine.Snapshot) { s.Node = kubelet.Node{} }, HealthLink{Of: HealthStatus, Limit: answers.StatusLasts}},
		{"a fresh Status", func(s *engine.Snapshot) { s.Node.SyncedAt = ago(9 * second) }, HealthLink{Of: HealthStatus, Level: HealthWell, Since: ago(9 * second), Limit: answers.StatusLasts}},
		{"an old Status", func(s *engine.Snapshot) { s.Node.SyncedAt, s.Node.DownAt = ago(10*second), in(20*second) }, HealthLink{Of: HealthStatus, Level: HealthLate, Since: ago(10 * second), Limit: answers.StatusLasts, Until: in(20 * second)}},
		{"Status fails from the start", func(s *engine.Snapshot) {
			s.Node, s.StatusErr = kubelet.Node{}, &answers.Failure{Err: errors.New("no")}
		}, HealthLink{Of: HealthStatus, Level: HealthLate, Limit: answers.StatusLasts}},
		{"down", func(s *engine.Snapshot) { s.Node.SyncedAt, s.Node.RuntimeDown = ago(31*second), "is down" }, HealthLink{Of: HealthStatus, Level: HealthIll, Since: ago(31 * second), Limit: answers.StatusLasts, Text: "is down"}},
		{"not ready", func(s *engine.Snapshot) { s.Node.SyncedAt, s.Node.RuntimeErr = ago(second), "not ready" }, HealthLink{Of: HealthStatus, Level: HealthIll, Text: "not ready"}},

		{"a fresh list", func(s *engine.Snapshot) { s.Health.ListedAt = ago(10 * second) }, HealthLink{Of: HealthPLEG, Level: HealthWell, Since: ago(10 * second), Limit: threshold}},
		{"an old list", func(s *engine.Snapshot) { s.Health.ListedAt, s.Health.UnhealthyAt = ago(11*second), in(169*second) }, HealthLink{Of: HealthPLEG, Level: HealthLate, Since: ago(11 * second), Limit: threshold, Until: in(169 * second)}},
		{"a relist that ends in time", func(s *engine.Snapshot) { s.Health.ListedAt, s.Phase.EndsBy = ago(11*second), in(50*second) }, HealthLink{Of: HealthPLEG, Level: HealthLate, Since: ago(11 * second), Limit: threshold, Until: in(50 * second), Ends: true}},
		{"an evented mode", func(s *engine.Snapshot) { s.Period, s.Health.ListedAt = 5*time.Minute, ago(200*second) }, HealthLink{Of: HealthPLEG, Level: HealthWell, Since: ago(200 * second), Limit: threshold}},
		{"unhealthy", func(s *engine.Snapshot) { s.Health.ListedAt, s.Health.Verdict = ago(181*second), "too old" }, HealthLink{Of: HealthPLEG, Level: HealthIll, Since: ago(181 * second), Limit: threshold, Text: "too old"}},
		{"no list yet", func(s *engine.Snapshot) { s.Health.ListedAt = time.Time{} }, HealthLink{Of: HealthPLEG, Limit: threshold}},

		{"a network", func(*engine.Snapshot) {}, HealthLink{Of: HealthNetwork, Level: HealthWell}},
		{"no network", func(s *engine.Snapshot) { s.Node.NetworkErr = "no CNI" }, HealthLink{Of: HealthNetwork, Level: HealthIll, Text: "no CNI"}},

		{"a loop", func(*engine.Snapshot) {}, HealthLink{Of: HealthLoop, Level: HealthWell}},
		{"a loop that is held", func(s *engine.Snapshot) { s.Node.LoopHeld = ago(second) }, HealthLink{Of: HealthLoop, Level: HealthLate, Since: ago(second), Limit: timeout}},
		{"a loop that has stopped", func(s *engine.Snapshot) { s.Node.LoopStopped = ago(12 * second) }, HealthLink{Of: HealthLoop, Level: HealthIll, Since: ago(12 * second)}},

		{"a probe", func(*engine.Snapshot) {}, HealthLink{Of: HealthProbe, Level: HealthWell}},
		{"a probe that will fail", func(s *engine.Snapshot) { s.Node.LoopStopped, s.Node.HealthzAt = ago(12*second), in(288*second) }, HealthLink{Of: HealthProbe, Level: HealthLate, Since: ago(12 * second), Limit: 5 * time.Minute, Until: in(288 * second)}},
		{"a probe that fails", func(s *engine.Snapshot) { s.Node.HealthzAt = now }, HealthLink{Of: HealthProbe, Level: HealthIll, Since: now}},

		{"nothing posted yet", func(s *engine.Snapshot) { s.Node = kubelet.Node{} }, HealthLink{Of: HealthReady}},
		{"Ready", func(s *engine.Snapshot) { s.Node.Since = ago(time.Hour) }, HealthLink{Of: HealthReady, Level: HealthWell, Since: ago(time.Hour)}},
		{"NotReady", func(s *engine.Snapshot) { s.Node.Ready, s.Node.Message = false, "why" }, HealthLink{Of: HealthReady, Level: HealthIll, Text: "why"}},
	} {
		s := engine.Snapshot{At: now, Period: second, Threshold: threshold, Timeout: timeout, Node: kubelet.Node{Known: true, Ready: true}, Health: kubelet.Health{ListedAt: ago(second)}}
		tt.change(&s)
		if got := HealthOf(&s, tt.want.Of); got != tt.want {
			t.Errorf("%s:\n%+v, want\n%+v", tt.name, got, tt.want)
		}
	}
}

// The age of the list always runs out; the other times run out only if they are late.
func TestDeadlines(t *testing.T) {
	out := call.Flight{By: call.ByRelist, Op: call.ContainerStatus, Since: ago(100 * second)}
	for _, tt := range []struct {
		name   string
		change func(s *engine.Snapshot)
		want   string
	}{
		{"no list yet", func(s *engine.Snapshot) { s.Health.ListedAt = time.Time{} }, ""},
		{"no list yet, and a call hangs", func(s *engine.Snapshot) { s.Health.ListedAt, s.InFlight = time.Time{}, []call.Flight{out} }, "ContainerStatus"},
		{"all is well", func(*engine.Snapshot) {}, "list age"},
		{"Status is missing twice", func(s *engine.Snapshot) { s.Node.DownAt = now.Add(20 * second) }, "list age, last good Status"},
		{"Status is missing once", func(s *engine.Snapshot) { s.Node.DownAt = now.Add(21 * second) }, "list age"},
		{"a call hangs", func(s *engine.Snapshot) { s.InFlight = []call.Flight{out} }, "list age, ContainerStatus"},
		{"paused", func(s *engine.Snapshot) { s.Paused, s.InFlight = true, []call.Flight{out} }, "list age"},
	} {
		s := engine.Snapshot{At: now, Period: second, Threshold: 3 * time.Minute, Timeout: 2 * time.Minute, Health: kubelet.Health{ListedAt: ago(second)}}
		tt.change(&s)
		var names []string
		for _, d := range Deadlines(&s) {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, ", "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
