package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

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
				b.ask(func() { b.reinspectTogether("uid-web", "uid-web", "uid-nobody") })
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

// A relist of one pod and one of all exclude each other, as in the kubelet.
// What is asked for meanwhile waits behind the relist of all that is due.
func TestReinspectOfAHungContainer(t *testing.T) {
	two := func(r *fakeRuntime) {
		r.pod("hung", "app")
		r.pod("web", "app")
	}
	bubble(t, Config{}, two, func(b *bench) {
		b.after(500 * time.Millisecond)
		b.fake.script("ContainerStatus hung/app", behaviour{hang: true})
		b.ask(func() { b.Reinspect("uid-hung") })
		b.fake.made()
		b.ask(func() { b.reinspectTogether("uid-web", "uid-hung") })
		s := b.after(time.Minute)
		listed := func(c string) bool { return strings.HasPrefix(c, "List") }
		if made := b.fake.made(); slices.ContainsFunc(made, listed) || !s.Phase.OnDemand || len(s.InFlight) != 1 {
			t.Errorf("calls %q, phase %+v, in flight %+v while the inspection hangs", made, s.Phase, s.InFlight)
		}
		b.fake.behave()
		s = b.after(time.Minute + pace)
		want := []string{
			"ListPodSandbox", "ListContainers", "PodSandboxStatus hung", "ContainerStatus hung/app",
			"ListPodSandbox uid-web", "ListContainers uid-web", "PodSandboxStatus web", "ContainerStatus web/app",
			"ListPodSandbox uid-hung", "ListContainers uid-hung", "PodSandboxStatus hung", "ContainerStatus hung/app",
		}
		if diff := cmp.Diff(want, without(b.fake.made(), call.Status, call.Version)); diff != "" {
			t.Errorf("calls after the deadline (-want +got):\n%s", diff)
		}
		if p := b.podOf(s, "hung"); p.Failure != nil || p.InspectWorst != 2*time.Minute {
			t.Errorf("hung = %+v", p)
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
