package engine

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

func onePod(r *fakeRuntime) { r.pod("web", "app") }

func TestFirstRelistIsAtOnce(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		s := b.fresh()
		if s.Relists.Count != 1 || !s.Health.Healthy || s.Health.SettledAt.IsZero() {
			t.Errorf("after the start: relists %+v, health %+v", s.Relists, s.Health)
		}
		if want := (Counts{Pods: 1, Sandboxes: 1, Containers: 1, Running: 1}); s.Counts != want {
			t.Errorf("counts = %+v, want %+v", s.Counts, want)
		}
		if want := []string{"ContainerStarted web/app", "ContainerStarted web"}; !slices.Equal(b.events(), want) {
			t.Errorf("events = %q, want %q", b.events(), want)
		}
		if s.Version.RuntimeName != "fake" || len(s.Conditions) != 2 || s.Anomalies.BadTime != 1 {
			t.Errorf("version %+v, conditions %+v, anomalies %+v", s.Version, s.Conditions, s.Anomalies)
		}
	})
}

func TestPeriodSlides(t *testing.T) {
	slow := func(r *fakeRuntime) { r.script("ListContainers", behaviour{delay: 500 * time.Millisecond}) }
	bubble(t, Config{}, slow, func(b *bench) {
		// Relists begin at 0, 1.5, 3, ... 13.5 s.
		s := b.after(14400 * time.Millisecond)
		if n := countRelists(b.fake.made()); n != 10 {
			t.Errorf("%d relists began in 14.4 s, want 10", n)
		}
		if s.Relists.Interval != 1500*time.Millisecond || s.Relists.Last != 500*time.Millisecond {
			t.Errorf("interval %v, last %v, want 1.5s and 500ms", s.Relists.Interval, s.Relists.Last)
		}
		if h := s.Relists.History; len(h) != 10 || h[9].At.Sub(h[8].At) != 1500*time.Millisecond {
			t.Errorf("history = %+v", h)
		}
	})
}

func TestCallsOfEachRelease(t *testing.T) {
	tests := []struct {
		release pleg.Release
		want    []string
	}{
		{pleg.Newest, []string{
			"ListPodSandbox", "ListContainers",
			"PodSandboxStatus web", "ContainerStatus web/app", "ContainerStatus web/log",
		}},
		{35, []string{
			"ListPodSandbox", "ListContainers",
			"ListPodSandbox uid-web", "PodSandboxStatus web",
			"ListContainers uid-web", "ContainerStatus web/app", "ContainerStatus web/log",
		}},
		{pleg.Oldest, []string{
			"ListPodSandbox", "ListContainers",
			"ListPodSandbox uid-web", "PodSandboxStatus web",
			"ListContainers uid-web", "ContainerStatus web/app", "ContainerStatus web/log",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.release.String(), func(t *testing.T) {
			two := func(r *fakeRuntime) { r.pod("web", "app", "log") }
			bubble(t, Config{Release: tt.release}, two, func(b *bench) {
				got := without(b.fake.made(), call.Version, call.Status)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("calls of the first relist (-want +got):\n%s", diff)
				}
				b.after(1100 * time.Millisecond)
				if got := b.fake.made(); !slices.Equal(got, []string{"ListPodSandbox", "ListContainers"}) {
					t.Errorf("calls without a change: %q", got)
				}
			})
		})
	}
}

func TestFailedListChangesNothing(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		good := b.fresh()
		b.fake.remove("web")
		b.fake.script("ListContainers", behaviour{err: unavailable(call.ListContainers)})
		s := b.after(3 * time.Second)
		f := s.Failure
		if f == nil || f.Op != call.ListContainers || f.InRow != 3 || !errors.Is(f.Err, call.ErrUnavailable) || f.At.Sub(f.First) != 2*time.Second {
			t.Fatalf("failure = %+v, want 3 in a row over 2 s", f)
		}
		if s.Pods[0] != good.Pods[0] || !s.Health.ListedAt.Equal(good.Health.ListedAt) || s.Relists.Failed != 3 {
			t.Errorf("a failed list changed something: %+v", s)
		}
		b.fake.behave()
		if s := b.after(time.Second); s.Failure != nil || len(s.Pods) != 0 || s.Pods == nil {
			t.Errorf("after a good list: failure %+v, pods %v", s.Failure, s.Pods)
		}
	})
}

func TestStalledList(t *testing.T) {
	hang := func(r *fakeRuntime) { r.script("ListPodSandbox", behaviour{hang: true}) }
	bubble(t, Config{Timeout: 10 * time.Second}, hang, func(b *bench) {
		s := b.after(5 * time.Second)
		if s.Phase.Step != Listing || len(s.InFlight) != 1 || s.InFlight[0].Op != call.ListPodSandbox {
			t.Fatalf("phase %+v, in flight %+v, want the list", s.Phase, s.InFlight)
		}
		if at := s.InFlight[0].Elapsed(s.At); at < 4*time.Second {
			t.Errorf("elapsed = %v in a snapshot 5 s later", at)
		}
		if s.Pods != nil || s.Health.Verdict != "pleg has yet to be successful" {
			t.Errorf("pods %v, verdict %q before the first list", s.Pods, s.Health.Verdict)
		}
		s = b.after(5*time.Second + pace)
		if s.Failure == nil || !errors.Is(s.Failure.Err, call.ErrDeadline) || s.Phase.Step != Waiting {
			t.Errorf("failure %+v, phase %+v after the deadline", s.Failure, s.Phase)
		}
	})
}

func TestStalledInspectionIsNamedWithinASecond(t *testing.T) {
	hang := func(r *fakeRuntime) {
		r.pod("web", "app")
		r.script("ContainerStatus web/app", behaviour{hang: true})
	}
	bubble(t, Config{}, hang, func(b *bench) {
		s := b.after(300 * time.Millisecond)
		want := []call.Flight{{Op: call.ContainerStatus, Pod: ref("web"), Container: "app", ID: "web/app", Since: s.Started}}
		if diff := cmp.Diff(want, s.InFlight); diff != "" {
			t.Fatalf("in flight (-want +got):\n%s", diff)
		}
		if s.Phase.Step != Inspecting || s.Phase.Done != 0 || s.Phase.Total != 1 {
			t.Errorf("phase = %+v", s.Phase)
		}
		s = b.after(2 * time.Minute)
		p := b.podOf(s, "web")
		if p.Failure.InRow != 1 || !errors.Is(p.StatusErr, call.ErrDeadline) || p.InspectLast != 2*time.Minute || !p.Reinspect {
			t.Errorf("pod after the deadline = %+v", p)
		}
		if s.Health.SettledAt.IsZero() == false || !s.Health.Healthy {
			t.Errorf("health = %+v, want healthy and never settled", s.Health)
		}
		if len(b.events()) != 0 {
			t.Errorf("events of a pod that was not inspected: %q", b.events())
		}
	})
}

// TestHungCallIsFollowed holds that a view that wants to name a call after some
// tenths of a second gets its chance before a whole second has passed.
func TestHungCallIsFollowed(t *testing.T) {
	hang := func(r *fakeRuntime) {
		r.pod("web", "app")
		r.script("ContainerStatus web/app", behaviour{hang: true})
	}
	bubble(t, Config{}, hang, func(b *bench) {
		f := b.Feed()
		for seen := 0; seen < 4; {
			u, err := f.Next(b.t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if at := u.Snapshot.At.Sub(u.Snapshot.Started); at > glance {
				seen++
				if limit := glance + time.Duration(seen+1)*whileSlow; at > limit {
					t.Errorf("snapshot %d of the hung call came after %v, want %v at most", seen, at, limit)
				}
			}
		}
	})
}

func TestAnomaliesOfAllAnswersAreShown(t *testing.T) {
	odd := func(r *fakeRuntime) {
		r.pod("web", "app")
		r.pod("db", "app")
		r.odd = map[string]pleg.Anomalies{
			"ListPodSandbox":          {NoMetadata: 1},
			"ListContainers":          {NoImage: 10},
			"Version":                 {BadText: 100},
			"Status":                  {NoMetadata: 1000},
			"PodSandboxStatus web":    {BadText: 10_000},
			"ContainerStatus web/app": {BadTime: 100_000},
			"ContainerStatus db/app":  {BadState: 1_000_000},
		}
	}
	for _, release := range []pleg.Release{28, 37} {
		bubble(t, Config{Release: release}, odd, func(b *bench) {
			if n := b.fresh().Anomalies.Total(); n != 1_111_111 {
				t.Errorf("%v: %d anomalies at first, want those of every answer once", release, n)
			}
			b.fake.oddly("ContainerStatus web/app", pleg.Anomalies{})
			b.fake.exit("web/app", 1, "Error")
			if n := b.after(time.Second).Anomalies.Total(); n != 1_011_111 {
				t.Errorf("%v: %d anomalies after a good answer, want that one gone", release, n)
			}
			b.fake.remove("web")
			if n := b.after(time.Second).Anomalies.Total(); n != 1_001_111 {
				t.Errorf("%v: %d anomalies without the pod web", release, n)
			}
			b.fake.oddly("Status", pleg.Anomalies{})
			b.fake.oddly("ListPodSandbox", pleg.Anomalies{})
			if n := b.after(6 * time.Second).Anomalies.Total(); n != 1_000_110 {
				t.Errorf("%v: %d anomalies when list and Status are well", release, n)
			}
		})
	}
}

func TestFailingPodIsRetriedAndTheOthersSettle(t *testing.T) {
	failing := func(r *fakeRuntime) {
		r.pod("bad", "app")
		r.pod("good", "app")
		r.script("PodSandboxStatus bad", behaviour{err: unavailable(call.PodSandboxStatus)})
	}
	bubble(t, Config{}, failing, func(b *bench) {
		s := b.after(2500 * time.Millisecond)
		p := b.podOf(s, "bad")
		if p.Failure.InRow != 3 || p.Inspected != 3 || p.Status != nil || p.Old != nil || p.Failure.First.IsZero() {
			t.Errorf("bad = %+v, want three failures", p)
		}
		if q := b.podOf(s, "good"); q.Status == nil || q.Inspected != 1 || q.LastEvent.Seq != 2 {
			t.Errorf("good = %+v, want one good inspection", q)
		}
		b.fake.behave()
		s = b.after(time.Second)
		if p := b.podOf(s, "bad"); p.Failure != nil || p.Status == nil || len(b.events()) != 5 { // with that of its network
			t.Errorf("bad after its first good inspection = %+v; events %q", p, b.events())
		}
	})
}

func TestDeafRuntimeGetsNoSecondRelist(t *testing.T) {
	bubble(t, Config{Timeout: time.Second}, onePod, func(b *bench) {
		deaf := make(chan struct{})
		b.fake.script("ListPodSandbox", behaviour{deaf: deaf})
		b.after(time.Second)
		b.fake.made()
		b.ask(b.RelistNow)
		s := b.after(time.Minute)
		if n := countRelists(b.fake.made()); n != 0 {
			t.Errorf("%d relists began while a list was out", n)
		}
		if len(s.InFlight) != 1 || s.InFlight[0].Op != call.ListPodSandbox || s.InFlight[0].Elapsed(s.At) < 58*time.Second {
			t.Errorf("in flight = %+v, want the list, past its deadline", s.InFlight)
		}
		b.fake.behave()
		close(deaf)
		if s := b.after(2 * time.Second); s.Failure != nil || len(s.InFlight) != 0 {
			t.Errorf("after its return: failure %+v, in flight %+v", s.Failure, s.InFlight)
		}
	})
}

func TestRunEndsThoughTheRuntimeIsDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t)
		deaf := make(chan struct{})
		fake.script("ListPodSandbox", behaviour{deaf: deaf})
		b := startBench(t, Config{}, fake)
		began := time.Now()
		if err := b.stop(); err != nil || time.Since(began) != atEnd {
			t.Errorf("Run returned %v after %v", err, time.Since(began))
		}
		close(deaf)
	})
}

func TestCancelInEveryPhase(t *testing.T) {
	for _, key := range []string{"Version", "Status", "ListPodSandbox", "ListContainers", "PodSandboxStatus", "ContainerStatus", "none"} {
		t.Run(key, func(t *testing.T) {
			hang := func(r *fakeRuntime) {
				onePod(r)
				r.script(key, behaviour{hang: true})
			}
			bubble(t, Config{}, hang, func(b *bench) {
				time.Sleep(500 * time.Millisecond)
				began := time.Now()
				b.cancel()
				<-b.done
				if took := time.Since(began); took != 0 {
					t.Errorf("Run took %v to end", took)
				}
			})
		})
	}
}

func TestRunTwice(t *testing.T) {
	bubble(t, Config{}, nil, func(b *bench) {
		if err := b.Run(b.t.Context()); err == nil {
			t.Error("the second Run returned nil")
		}
	})
}
