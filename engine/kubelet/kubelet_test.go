package kubelet

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
)

// mishap lets something happen to the runtime, or to us.
func (s *scene) mishap(rng *rand.Rand) {
	some := []string{all[rng.IntN(len(all))]}
	if rng.IntN(2) == 0 {
		some = all
	}
	at := s.at
	switch rng.IntN(10) {
	case 0, 1, 2:
		s.hangers = 0
		s.behave(behaviour{})
	case 3:
		s.behave(behaviour{hangs: true}, some...)
	case 4:
		s.behave(behaviour{hangs: true, goesOn: true}, some...)
	case 5:
		s.behave(behaviour{fails: true, after: time.Duration(rng.Int64N(int64(5 * time.Second)))}, some...)
	case 6:
		s.behave(behaviour{fails: true, mute: true, after: 5 * time.Second}, some...)
	case 7:
		s.conditions[rng.IntN(2)].Status = rng.IntN(2) == 0
	case 8:
		s.hangers = rng.IntN(3)
	case 9:
		paused := !s.k.Paused()
		s.tell(func(k *Kubelet) { k.SetPaused(at, paused) })
	}
}

// Whatever happens, what the kubelet says makes sense at any moment.
func TestPromises(t *testing.T) {
	for seed := range uint64(12) {
		s, rng := newScene(Config{}), rand.New(rand.NewPCG(seed, 1))
		for range 80 {
			s.run(time.Duration(rng.ExpFloat64() * float64(20*time.Second)))
			n, h := s.k.Node(s.at), s.k.Health(s.at)
			if due := s.k.Due(); !due.IsZero() && !due.After(s.at) {
				t.Errorf("seed %d: due at %v already at %v", seed, due, s.at)
			}
			if next := n.Next; next.To.Before(next.From) || !next.From.IsZero() && (s.k.Paused() || next.Ready == n.Ready) {
				t.Errorf("seed %d: paused %v, node %+v", seed, s.k.Paused(), n)
			}
			if at := h.UnhealthyAt; !at.IsZero() && (s.k.Paused() || at.Before(s.at)) {
				t.Errorf("seed %d: paused %v at %v, health %+v", seed, s.k.Paused(), s.at, h)
			}
			if h.Healthy != (h.Verdict == "") || s.k.Reads() && (!n.LoopStopped.IsZero() || !n.LoopHeld.IsZero()) {
				t.Errorf("seed %d: reads %v, node %+v, health %+v", seed, s.k.Reads(), n, h)
			}
			s.mishap(rng)
		}
		if len(s.unshown) > 0 {
			t.Errorf("seed %d: Changed does not report %q", seed, s.unshown)
		}
	}
}

// It makes no difference how often time passes, and whether the kubelet was written down and read
// again in between.
func TestTimeMayPassInManySteps(t *testing.T) {
	encoder, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(8) {
		s, rng := newScene(Config{Threshold: time.Minute}), rand.New(rand.NewPCG(seed, 2))
		k := New(s.k.Config, s.start)
		for range 50 {
			s.run(time.Duration(rng.ExpFloat64() * float64(20*time.Second)))
			s.mishap(rng)
			for _, o := range s.observed {
				for at := k.At; rng.IntN(3) == 0; k.Advance(at, k.Seen) {
					at = at.Add(time.Duration(rng.Float64() * float64(o.at.Sub(at))))
				}
				o.tell(k)
				k.Advance(o.at, o.seen)
			}
			s.observed = nil
			written, err := encoder.Marshal(k)
			if err != nil {
				t.Fatal(err)
			}
			k = new(Kubelet)
			if err := cbor.Unmarshal(written, k); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.k.Node(s.at), k.Node(s.at)) + cmp.Diff(s.k.Health(s.at), k.Health(s.at)); diff != "" {
				t.Fatalf("seed %d at %v: (-steps +one)\n%s", seed, s.at.Sub(s.start), diff)
			}
		}
	}
}

// People are not called for figures alone.
func TestQuietNode(t *testing.T) {
	s, changed := newScene(Config{}), 0
	s.run(time.Second)
	for range 600 {
		s.run(time.Second)
		if s.k.Changed() {
			changed++
		}
	}
	if changed > 0 || s.k.Node(s.at).Message != readyMessage {
		t.Errorf("changed %d times in 10 min, node %+v", changed, s.k.Node(s.at))
	}
}

func TestAggregate(t *testing.T) {
	for _, tt := range []struct {
		texts []string
		want  string
	}{
		{nil, ""},
		{[]string{"", ""}, ""},
		{[]string{"", "a", "a"}, "a"},
		{[]string{"b", "", "a", "b"}, "[b, a]"},
	} {
		if got := aggregate(tt.texts...); got != tt.want {
			t.Errorf("aggregate(%q) = %q, want %q", tt.texts, got, tt.want)
		}
	}
}

func TestAges(t *testing.T) {
	at := time.Unix(1000, 0)
	h := Health{ListedAt: at.Add(-time.Second)}
	if h.ListAge(at) != time.Second || h.InspectAge(at) != 0 {
		t.Errorf("ages %v, %v", h.ListAge(at), h.InspectAge(at))
	}
}

func TestDue(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	k := New(Config{Threshold: 3 * time.Minute, Timeout: 2 * time.Minute}, start)
	want := func(what string, due time.Time) {
		t.Helper()
		if got := k.Due(); !got.Equal(due) {
			t.Errorf("%s: due at %v, want %v", what, got, due)
		}
	}
	want("the runtime is down", at(30))
	k.Advance(at(1), Seen{StatusOut: at(1)})
	want("Status is late", at(2))
	k.VersionBegan(at(5))
	k.Advance(at(5), Seen{})
	want("Version is late", at(6))
	k.Advance(at(7), Seen{ListOut: at(7)})
	want("the list is late", at(8))
	k.Advance(at(31), Seen{ListOut: at(7)})
	want("the loop's own list ends at its deadline", at(8+120))
	k.SetPaused(at(32), true)
	k.Advance(at(32), Seen{ListOut: at(7)})
	want("nothing in a pause", time.Time{})
}
