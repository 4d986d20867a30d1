package engine

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestAggregate(t *testing.T) {
	const (
		pleg    = "PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s"
		runtime = "container runtime not ready: RuntimeReady=false reason:R message:M"
		network = "container runtime network not ready: <nil>"
	)
	tests := []struct {
		name  string
		parts []string
		want  string
	}{
		{"all is well", []string{"", "", "", ""}, ""},
		{"PLEG alone", []string{"", pleg}, pleg},
		{"the network alone", []string{"", "", "", network}, network},
		{"all of it", []string{runtimeDown, pleg, runtime, network}, "[" + runtimeDown + ", " + pleg + ", " + runtime + ", " + network + "]"},
		{"two of the runtime", []string{runtimeDown, "", runtime}, "[" + runtimeDown + ", " + runtime + "]"},
		{"equal texts once", []string{"same", "same"}, "same"},
	}
	for _, tt := range tests {
		if got := aggregate(tt.parts...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestUnmet(t *testing.T) {
	tests := []struct {
		name       string
		conditions []pleg.Condition
		want       string
	}{
		{"met", []pleg.Condition{{Type: "RuntimeReady", Status: true}}, ""},
		{"not there", []pleg.Condition{{Type: "NetworkReady", Status: true}}, "container runtime not ready: <nil>"},
		{"not met", []pleg.Condition{{Type: "RuntimeReady", Reason: "ContainerdNotReady", Message: "a b"}},
			"container runtime not ready: RuntimeReady=false reason:ContainerdNotReady message:a b"},
		{"without words", []pleg.Condition{{Type: "RuntimeReady"}}, "container runtime not ready: RuntimeReady=false reason: message:"},
		{"the first counts", []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "RuntimeReady"}}, ""},
	}
	for _, tt := range tests {
		if got := unmet(runtimeNotReady, tt.conditions, "RuntimeReady"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Status hangs from 5 s on: the runtime is down 30 s after the last good one.
func TestNodeWhenStatusHangs(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		start := b.fresh().Started
		if n := b.fresh().Node; !n.Ready || !n.Known || !n.SyncedAt.Equal(start) || !n.DownAt.Equal(start.Add(30*time.Second)) || !n.LoopStopped.IsZero() {
			t.Errorf("node = %+v", n)
		}
		b.fake.script("Status", behaviour{hang: true})
		if n := b.after(29700 * time.Millisecond).Node; !n.Ready {
			t.Errorf("node before 30 s = %+v", n)
		}
		s := b.after(200 * time.Millisecond)
		n := s.Node
		if n.Ready || n.Reason != notReadyReason || n.Message != runtimeDown || n.RuntimeDown != runtimeDown || !n.Since.Equal(start.Add(30*time.Second)) {
			t.Errorf("node after 30 s = %+v", n)
		}
		if !n.LoopStopped.Equal(n.Since) || n.LoopNap == 0 || !n.HealthzAt.Equal(n.Since.Add(5*time.Minute)) {
			t.Errorf("sync loop = %+v", n)
		}
		b.fake.behave()
		if n := b.after(3 * time.Minute).Node; !n.Ready || !n.LoopStopped.IsZero() || n.LoopNap != 0 {
			t.Errorf("node that is well again = %+v", n)
		}
	})
}

func TestNodeNamesAllThatIsWrong(t *testing.T) {
	bubble(t, Config{Threshold: 10 * time.Second}, onePod, func(b *bench) {
		b.fake.ready(false)
		b.fake.script("ListContainers", behaviour{err: unavailable(call.ListContainers)})
		s := b.after(40 * time.Second)
		n := s.Node
		want := "[container runtime is down, PLEG is not healthy: " + s.Health.Verdict + ", container runtime not ready: RuntimeReady=false reason: message:]"
		if n.Message != want {
			t.Errorf("message %q, want %q", n.Message, want)
		}
	})
}

// The kubelet has long been up, though we have seen no good list yet.
func TestNodeThatIsHungWhenTheEngineStarts(t *testing.T) {
	hang := func(r *fakeRuntime) { r.script("ListPodSandbox", behaviour{hang: true}) }
	bubble(t, Config{}, hang, func(b *bench) {
		if n := b.after(time.Minute).Node; !n.Ready || n.Known {
			t.Errorf("node = %+v", n)
		}
		n := b.after(2*time.Minute + pace).Node
		if want := "PLEG is not healthy: pleg was last seen active 3m0.000000001s ago; threshold is 3m0s"; n.Ready || n.Message != want || !n.Known {
			t.Errorf("node = %+v, want %q", n, want)
		}
	})
}
