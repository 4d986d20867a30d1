package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// probes returns the probes made since the last time.
func (r *fakeRuntime) probes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	made := r.probed
	r.probed = nil
	return made
}

func TestProbesWhileAnInspectionHangs(t *testing.T) {
	bubble(t, Config{}, pairs(3), func(b *bench) {
		b.after(500 * time.Millisecond)
		b.fake.script("ContainerStatus p001/app", behaviour{hang: true})
		b.fake.flip("p001/app")
		b.after(1400 * time.Millisecond)
		if made := b.fake.probes(); made != nil {
			t.Errorf("probes after less than a second: %q", made)
		}
		s := b.after(500 * time.Millisecond)
		made := b.fake.probes()
		if len(made) != 4 || made[0] != "Version" || made[1] != "Status" || !strings.HasPrefix(made[2], "PodSandboxStatus") {
			t.Errorf("the first round: %q", made)
		}
		if len(s.Probes) != 4 || s.Probes[0].By != call.ByProbe || s.Probes[3].Op != call.ContainerStatus || s.Probes[3].At.IsZero() || s.Probes[3].Err != nil {
			t.Errorf("probes = %+v", s.Probes)
		}
		b.after(10 * time.Second)
		made = append(made, b.fake.probes()...)
		if len(made) != 12 {
			t.Errorf("probes in 12 s: %q, want three rounds", made)
		}
		if slices.Contains(made, "PodSandboxStatus p001") || made[2] == made[6] {
			t.Errorf("probes are not about different pods: %q", made)
		}
		s = b.fresh()
		if s.Sweep == nil || !slices.Equal(ids(s.Sweep.Hung), []string{"p001/app"}) || s.Sweep.Done != 9 {
			t.Errorf("sweep = %+v", s.Sweep)
		}
	})
}

func TestProbesAreSerialAndHaveADeadline(t *testing.T) {
	bubble(t, Config{}, pairs(3), func(b *bench) {
		b.after(500 * time.Millisecond)
		for _, key := range []string{"ListContainers", "PodSandboxStatus", "ContainerStatus"} {
			b.fake.script(key, behaviour{hang: true})
		}
		s := b.after(2 * time.Second)
		if len(s.Probes) != 3 || !s.Probes[2].At.IsZero() || len(s.InFlight) != 2 {
			t.Errorf("probes %+v, in flight %+v, want the third out", s.Probes, s.InFlight)
		}
		s = b.after(5 * time.Second)
		if p := s.Probes; len(p) != 4 || p[2].Took != answers.Hung || p[2].ID == "p001" || call.Code(p[2].Err) != "DeadlineExceeded" || !p[3].At.IsZero() {
			t.Errorf("probes = %+v", p)
		}
		if s := b.after(20 * time.Second); s.Sweep != nil {
			t.Errorf("sweep of a runtime that answers nothing: %+v", s.Sweep)
		}
	})
}

func TestNoProbesWhilePaused(t *testing.T) {
	bubble(t, Config{}, pairs(2), func(b *bench) {
		b.fake.script("ListContainers", behaviour{hang: true})
		b.after(1900 * time.Millisecond)
		b.ask(b.Pause)
		b.after(time.Minute)
		if made := b.fake.probes(); made != nil {
			t.Errorf("probes while paused: %q", made)
		}
	})
}

func TestProbesDoNotFeedTheModelledKubelet(t *testing.T) {
	bubble(t, Config{}, pairs(2), func(b *bench) {
		b.fake.script("ListContainers", behaviour{hang: true})
		b.after(3 * time.Second)
		b.fake.ready(false)
		b.after(time.Second)
		b.fake.made()
		b.after(40 * time.Second)
		n := 0
		for _, c := range b.fake.made() {
			if c == "Status" {
				n++
			}
		}
		if n != 8 {
			t.Errorf("%d Status calls in 40 s beside the probes, want one every 5 s", n)
		}
	})
}
