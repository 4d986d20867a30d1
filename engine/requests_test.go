package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/call"
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
		if !s.Paused || !b.Paused() || s.Phase.Step != Stopped || !s.Phase.NextAt.IsZero() {
			t.Errorf("paused %v, phase %+v", s.Paused, s.Phase)
		}
		if s.Health.Healthy || s.Health.ListAge(s.At) < 4*time.Minute-time.Second {
			t.Errorf("health after four minutes = %+v", s.Health)
		}
		b.ask(b.Resume)
		if s := b.fresh(); s.Paused || !s.Health.Healthy || relists(b.fake.made()) != 1 {
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

func TestPauseHoldsARelistThatWasAskedFor(t *testing.T) {
	two := func(r *fakeRuntime) {
		r.pod("a", "app")
		r.pod("b", "app")
	}
	bubble(t, Config{}, two, func(b *bench) {
		b.ask(b.Pause)
		b.fake.script("ContainerStatus", behaviour{delay: time.Second})
		b.fake.flip("a/app")
		b.fake.flip("b/app")
		b.ask(b.RelistNow)
		b.ask(b.Resume)
		b.ask(b.Pause)
		if s := b.after(time.Minute); s.Phase.Step != Stopped || s.Phase.Done != 1 || s.Phase.Total != 2 {
			t.Errorf("phase = %+v", s.Phase)
		}
	})
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
		if s.Relists.Count != 2 || s.Phase.Step != Stopped || relists(b.fake.made()) != 1 {
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
		if n := relists(b.fake.made()); n != 2 || s.Relists.Count != 2 {
			t.Errorf("%d relists, want the one under way and one more", n)
		}
	})
}

func TestReinspect(t *testing.T) {
	relistOfOne := []string{"ListPodSandbox uid-web", "ListContainers uid-web", "PodSandboxStatus web", "ContainerStatus web/app"}
	onlyInspect := []string{"ListPodSandbox uid-web", "PodSandboxStatus web", "ListContainers uid-web", "ContainerStatus web/app"}
	tests := []struct {
		release pleg.Release
		calls   []string
		events  int // the change while paused, seen on demand
	}{{37, relistOfOne, 2 + 1}, {36, relistOfOne, 2 + 1}, {35, onlyInspect, 2}, {28, onlyInspect, 2}}
	for _, tt := range tests {
		t.Run(tt.release.String(), func(t *testing.T) {
			bubble(t, Config{Release: tt.release}, onePod, func(b *bench) {
				b.ask(b.Pause)
				listed := b.fresh().Health.ListedAt
				b.fake.made()
				b.after(time.Minute)
				b.fake.exit("web/app", 3, "Error")
				b.ask(func() { b.Reinspect("uid-web"); b.Reinspect("uid-web"); b.Reinspect("uid-nobody") })
				s := b.after(time.Minute)
				if made := b.fake.made(); !slices.Equal(made, tt.calls) {
					t.Errorf("calls %q, want %q", made, tt.calls)
				}
				p := b.podOf(s, "web")
				if p.Inspected != 2 || p.Reinspect || p.Status.Containers[0].ExitCode != 3 || len(b.events()) != tt.events {
					t.Errorf("pod %+v with status %+v, events %q", p, p.Status, b.events())
				}
				if !s.Health.ListedAt.Equal(listed) || s.Relists.Count != 1 {
					t.Errorf("a relist of one pod counted as one of all: %+v", s.Health)
				}
			})
		})
	}
}

func TestReinspectWithoutAChangeIsAPodSync(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.ask(func() { b.Reinspect("uid-web") })
		b.fresh()
		if events := b.events(); len(events) != 3 || events[2] != "PodSync web" {
			t.Errorf("events = %q", events)
		}
	})
}

func TestReinspectOfAPodThatIsGone(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.ask(b.Pause)
		b.fake.remove("web")
		b.ask(func() { b.Reinspect("uid-web") })
		if s := b.fresh(); len(s.Pods) != 1 || s.Phase.Step != Stopped {
			t.Errorf("pods %v, phase %+v, want it left to the next relist", s.Pods, s.Phase)
		}
		b.ask(b.Resume)
		if s := b.after(time.Second + pace); len(s.Pods) != 0 || len(b.events()) != 2+4 {
			t.Errorf("pods %v, events %q", s.Pods, b.events())
		}
	})
}

func TestReinspectOnARuntimeThatIgnoresLabels(t *testing.T) {
	two := func(r *fakeRuntime) {
		r.pod("a", "app")
		r.pod("b", "app")
		r.unlabelled = true
	}
	for _, release := range []pleg.Release{28, 37} {
		bubble(t, Config{Release: release}, two, func(b *bench) {
			b.ask(func() { b.Reinspect("uid-a") })
			s := b.fresh()
			a, other := b.podOf(s, "a"), b.podOf(s, "b")
			if a.Inspected != 2 || other.Inspected != 1 || len(a.Status.Sandboxes) != 1 || len(a.Status.Containers) != 1 {
				t.Errorf("%v: inspected %d and %d times, status %+v", release, a.Inspected, other.Inspected, a.Status)
			}
		})
	}
}

func TestReinspectAll(t *testing.T) {
	two := func(r *fakeRuntime) {
		r.pod("a", "app")
		r.pod("b", "app")
	}
	tests := []struct {
		release pleg.Release
		lists   int // of all pods
		calls   int
	}{{36, 1, 2 + 4}, {35, 0, 2 * 4}, {28, 0, 2 * 4}}
	for _, tt := range tests {
		t.Run(tt.release.String(), func(t *testing.T) {
			bubble(t, Config{Release: tt.release}, two, func(b *bench) {
				b.ask(b.Pause)
				b.fake.made()
				b.ask(b.ReinspectAll)
				s := b.fresh()
				made := b.fake.made()
				if relists(made) != tt.lists || len(made) != tt.calls {
					t.Errorf("calls = %q", made)
				}
				for _, p := range s.Pods {
					if p.Inspected != 2 || p.Reinspect {
						t.Errorf("pod %v inspected %d times", p.PodRef, p.Inspected)
					}
				}
			})
		})
	}
}

func TestSetPeriod(t *testing.T) {
	bubble(t, Config{}, nil, func(b *bench) {
		b.ask(func() { b.SetPeriod(10 * time.Second) })
		b.fake.made()
		if s := b.after(9500 * time.Millisecond); s.Period != 10*time.Second || relists(b.fake.made()) != 0 {
			t.Errorf("period %v: a relist came too early", s.Period)
		}
		if b.after(time.Second); relists(b.fake.made()) != 1 {
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

func TestRaw(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.fresh()
		b.ask(b.Pause)
		b.fake.made()
		text, err := b.Raw(b.t.Context(), "uid-web")
		var got []rawAnswer
		if err != nil || json.Unmarshal(text, &got) != nil || len(got) != 2 || got[1].Container != "app" || got[1].Answer == nil {
			t.Errorf("Raw = %s, %v", text, err)
		}
		if made := b.fake.made(); !slices.Equal(made, []string{"PodSandboxStatus web", "ContainerStatus web/app"}) {
			t.Errorf("calls = %q", made)
		}
		if s := b.after(time.Second); s.Calls[call.ContainerStatus].Count != 2 {
			t.Errorf("ledger = %+v", s.Calls[call.ContainerStatus])
		}
		if _, err := b.Raw(b.t.Context(), "uid-nobody"); !errors.Is(err, ErrNoPod) {
			t.Errorf("Raw of an unknown pod: %v", err)
		}
	})
}

func TestRawIsShownWhileItHangsAndEndsWithRun(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.fresh()
		b.ask(b.Pause)
		b.fake.script("ContainerStatus", behaviour{hang: true})
		b.fresh()
		ended := make(chan error)
		go func() {
			_, err := b.Raw(b.t.Context(), "uid-web")
			ended <- err
		}()
		s := b.after(300 * time.Millisecond)
		if len(s.InFlight) != 1 || s.InFlight[0].Container != "app" {
			t.Errorf("in flight = %+v", s.InFlight)
		}
		b.cancel()
		if err := <-ended; !errors.Is(err, ErrStopped) {
			t.Errorf("Raw ended with %v", err)
		}
		if _, err := b.Raw(b.t.Context(), "uid-web"); !errors.Is(err, ErrStopped) {
			t.Errorf("Raw after the end: %v", err)
		}
	})
}

func TestRawWaitsForItsLike(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.fresh()
		b.fake.flip("web/app")
		b.fake.script("ContainerStatus", behaviour{delay: 3 * time.Second})
		b.after(time.Second) // the inspection is out; the fake fails the test on a second one
		text, err := b.Raw(b.t.Context(), "uid-web")
		if err != nil || len(text) == 0 {
			t.Errorf("Raw = %s, %v", text, err)
		}
	})
}

func TestRequestsAfterTheEndAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBench(t, Config{}, newFake(t))
		b.stop()
		b.RelistNow()
		b.Reinspect("uid")
		if w := b.requests.take(); w.relist || w.reinspect != nil {
			t.Errorf("kept %+v", w)
		}
	})
}
