package engine

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

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
		n := b.after(200 * time.Millisecond).Node
		if down := start.Add(30 * time.Second); !n.Ready || n.RuntimeDown != runtimeDown || !n.LoopStopped.Equal(down) || n.LoopNap == 0 || !n.HealthzAt.Equal(down.Add(5*time.Minute)) {
			t.Errorf("node after 30 s = %+v", n)
		}
		if want := (Posting{From: start.Add(30 * time.Second), To: start.Add(30*time.Second + postPeriod)}); n.Next != want {
			t.Errorf("foretold %+v, want %+v", n.Next, want)
		}
		n = b.after(postAnytime).Node
		if n.Ready || n.Reason != notReadyReason || n.Message != runtimeDown || !n.Since.Equal(start.Add(30*time.Second+postAnytime)) || n.Next != (Posting{}) {
			t.Errorf("node after the posting = %+v", n)
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
		want := "[container runtime is down, PLEG is not healthy: pleg was last seen active N ago; threshold is 10s, container runtime not ready: RuntimeReady=false reason: message:]"
		if got := regexp.MustCompile(`[0-9.]+s ago`).ReplaceAllString(n.Message, "N ago"); got != want {
			t.Errorf("message %q, want %q", got, want)
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
		if want := "PLEG is not healthy: pleg was last seen active 3m0.000000001s ago; threshold is 3m0s"; !n.Ready || n.PLEG != want || !n.Known {
			t.Errorf("node = %+v, want %q", n, want)
		}
		if n := b.after(postAnytime).Node; n.Ready || !strings.HasPrefix(n.Message, "PLEG is not healthy: pleg was last seen active 3m5.1") {
			t.Errorf("node after the posting = %+v", n)
		}
	})
}
