package engine

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestPauseMakesNoCallAndTheListAges(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.after(500 * time.Millisecond)
		b.ask(b.Pause)
		b.fake.made()
		s := b.after(4 * time.Minute)
		if made := b.fake.made(); len(made) != 0 {
			t.Errorf("calls while paused: %q", made)
		}
		if !s.Paused || s.Phase.Step != Stopped {
			t.Errorf("paused %v, phase %+v", s.Paused, s.Phase)
		}
		if h := s.Health; !h.Healthy || !h.UnhealthyAt.IsZero() || !s.Node.Ready || h.ListAge(s.At) < 4*time.Minute-time.Second {
			t.Errorf("after four minutes: health %+v, node %+v; want no verdict but an age", h, s.Node)
		}
		b.ask(b.Resume)
		if s := b.fresh(); s.Paused || !s.Health.Healthy || countRelists(b.fake.made()) != 1 {
			t.Errorf("after the pause: paused %v, health %+v", s.Paused, s.Health)
		}
	})
}

func TestPauseInTheMiddleOfARelistHoldsIt(t *testing.T) {
	three := func(r *fakeRuntime) {
		r.pod("a", "app")
		r.pod("b", "app")
		r.pod("c", "app")
		r.script("ContainerStatus", behaviour{delay: time.Second})
	}
	bubble(t, Config{}, three, func(b *bench) {
		b.after(500 * time.Millisecond)
		b.ask(b.Pause)
		s := b.after(time.Minute)
		if s.Phase.Step != Stopped || s.Phase.Done != 1 || s.Phase.Total != 3 || len(s.InFlight) != 0 {
			t.Errorf("phase %+v, in flight %+v, want one of three done", s.Phase, s.InFlight)
		}
		b.ask(b.Resume)
		s = b.after(2100 * time.Millisecond)
		if s.Relists.Count != 1 || s.Relists.Last != 3*time.Second || len(b.events()) != 6 {
			t.Errorf("relists %+v, events %q, want one of 3 s without the pause", s.Relists, b.events())
		}
	})
}

func TestPauseDefersWhatWasAskedFor(t *testing.T) {
	four := func(r *fakeRuntime) {
		for _, name := range []string{"a", "b", "c", "d"} {
			r.pod(name, "app")
		}
	}
	for _, release := range []pleg.Release{28, 37} {
		bubble(t, Config{Release: release}, four, func(b *bench) {
			b.after(500 * time.Millisecond)
			b.fake.script("ContainerStatus", behaviour{delay: 10 * time.Second})
			b.ask(func() { b.reinspectTogether("uid-a", "uid-b") })
			b.ask(b.Pause)
			b.fake.made()
			b.after(11 * time.Second)
			b.ask(func() { b.reinspectTogether("uid-c", "uid-d") })
			b.after(time.Second)
			if made := b.fake.made(); slices.Contains(made, "PodSandboxStatus b") || !slices.Contains(made, "PodSandboxStatus c") {
				t.Errorf("%v: calls in the pause: %q, want c and not yet b", release, made)
			}
			b.ask(b.Resume)
			b.after(time.Minute)
			b.ask(b.Pause)
			b.ask(b.Resume)
			for _, p := range b.after(time.Minute).Pods {
				if p.Inspected != 2 {
					t.Errorf("%v: %v was inspected %d times, want once more", release, p.PodRef, p.Inspected)
				}
			}
		})
	}
}

func TestHeldRelistGoesOnForARequest(t *testing.T) {
	two := func(r *fakeRuntime) {
		r.pod("a", "app")
		r.pod("b", "app")
		r.script("ContainerStatus", behaviour{delay: time.Second})
	}
	bubble(t, Config{}, two, func(b *bench) {
		b.ask(b.Pause)
		b.after(time.Minute)
		b.fake.made()
		b.ask(b.RelistNow)
		s := b.after(time.Minute)
		if s.Relists.Count != 2 || s.Phase.Step != Stopped || countRelists(b.fake.made()) != 1 {
			t.Errorf("relists %+v, phase %+v, want the held one and one more", s.Relists, s.Phase)
		}
	})
}

func TestRelistNowWhilePausedMakesOne(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.ask(b.Pause)
		b.after(time.Minute)
		b.fake.made()
		b.fake.flip("web/app")
		b.ask(b.RelistNow)
		s := b.after(time.Minute)
		made := b.fake.made()
		want := []string{"ListPodSandbox", "ListContainers", "PodSandboxStatus web", "ContainerStatus web/app"}
		if !slices.Equal(made, want) || s.Relists.Count != 2 || !s.Paused {
			t.Errorf("calls %q, relists %d", made, s.Relists.Count)
		}
	})
}

func TestRequestsWhileBusyMeltIntoOne(t *testing.T) {
	slow := func(r *fakeRuntime) { r.script("ListContainers", behaviour{delay: 700 * time.Millisecond}) }
	bubble(t, Config{Period: MaxPeriod}, slow, func(b *bench) {
		for range 1000 {
			b.RelistNow()
		}
		s := b.after(time.Minute)
		if n := countRelists(b.fake.made()); n != 2 || s.Relists.Count != 2 {
			t.Errorf("%d relists, want the one under way and one more", n)
		}
	})
}

func TestSetPeriod(t *testing.T) {
	bubble(t, Config{}, nil, func(b *bench) {
		b.ask(func() { b.SetPeriod(10 * time.Second) })
		b.fake.made()
		if s := b.after(9500 * time.Millisecond); s.Period != 10*time.Second || countRelists(b.fake.made()) != 0 {
			t.Errorf("period %v: a relist came too early", s.Period)
		}
		if b.after(time.Second); countRelists(b.fake.made()) != 1 {
			t.Error("no relist when the new period had passed")
		}
		b.ask(func() { b.SetPeriod(time.Nanosecond) })
		if s := b.fresh(); s.Period != MinPeriod {
			t.Errorf("period %v, want the least", s.Period)
		}
		b.ask(func() { b.SetPeriod(time.Hour) })
		if s := b.fresh(); s.Period != MaxPeriod {
			t.Errorf("period %v, want the longest", s.Period)
		}
	})
}

// A kubelet that is upgraded in place is followed, unless somebody said whose
// relist is wanted.
func TestReleaseFollowsTheKubelet(t *testing.T) {
	for _, follow := range []bool{true, false} {
		look := func(ctx context.Context, _ Looking) (*evidence.Report, error) {
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
			}
			return &evidence.Report{Kubelet: evidence.Kubelet{Version: "v1.36.2"}}, ctx.Err()
		}
		three := func(r *fakeRuntime) {
			r.pod("a", "app")
			r.script("ContainerStatus", behaviour{delay: 3 * time.Second})
		}
		bubble(t, Config{Release: 34, Follow: follow, Look: look}, three, func(b *bench) {
			if s := b.after(9 * time.Second); s.Release != 34 {
				t.Errorf("release %v before it was read", s.Release)
			}
			want := pleg.Release(34)
			if follow {
				want = 36
			}
			s := b.after(10 * time.Second)
			if s.Release != want || len(s.Pods) != 1 || s.Relists.Failed != 0 {
				t.Errorf("follow %v: release %v with %d pods, want %v", follow, s.Release, len(s.Pods), want)
			}
		})
	}
}

// An engine that is told the release before it runs makes that one's relist from the first
// on, as soon as any other.
func TestFollowBeforeTheFirstRelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFake(t)
		onePod(r)
		e, err := New(Config{Runtime: r, Release: 34})
		if err != nil {
			t.Fatal(err)
		}
		e.Follow(36)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		go func() { _ = e.Run(ctx) }()
		u, err := e.Feed().Next(ctx)
		if err != nil || u.Snapshot.Release != 36 || u.Snapshot.Relists.Count != 1 || time.Since(began) > pace {
			t.Errorf("%v: release %v, %d relists after %v", err, u.Snapshot.Release, u.Snapshot.Relists.Count, time.Since(began))
		}
		cancel()
		synctest.Wait()
	})
}
