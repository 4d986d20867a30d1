package pleg

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseMode(t *testing.T) {
	for _, m := range []Mode{Generic, Evented} {
		if got, err := ParseMode(m.String()); got != m || err != nil {
			t.Errorf("ParseMode(%q) = %v, %v", m, got, err)
		}
	}
	for _, none := range []string{"fast", "preview"} {
		if _, err := ParseMode(none); err == nil || !strings.Contains(err.Error(), "generic or evented") {
			t.Errorf("mode %q, which is none: %v", none, err)
		}
	}
	if err := (Config{Mode: Evented + 1}).Validate(); err == nil {
		t.Error("a mode that is not known passes")
	}
}

// What a kubelet makes of the stream, by mode and release.
func TestModeOfEachRelease(t *testing.T) {
	for _, tt := range []struct {
		mode    Mode
		release Release
		holds   Mode
		writes  bool
		demand  bool
	}{
		{Generic, 25, Generic, false, false}, {Generic, 35, Generic, false, false}, {Generic, 36, Generic, false, true}, {Generic, 37, Generic, false, true},
		{Evented, 25, Generic, false, false}, {Evented, 26, Evented, true, false}, {Evented, 31, Evented, true, false},
		{Evented, 35, Evented, true, false}, {Evented, 36, Evented, true, true}, {Evented, 37, Evented, false, true},
	} {
		core, err := New(Config{Mode: tt.mode, Release: tt.release})
		if err != nil {
			t.Fatal(err)
		}
		if core.Mode() != tt.holds || core.Evented() != tt.writes || core.OnDemand() != tt.demand {
			t.Errorf("%v of %v: %v, writes %v, on demand %v", tt.mode, tt.release, core.Mode(), core.Evented(), core.OnDemand())
		}
		threshold := DefaultThreshold
		if tt.writes {
			threshold = EventedThreshold
		}
		if core.Threshold() != threshold {
			t.Errorf("%v of %v: threshold %v", tt.mode, tt.release, core.Threshold())
		}
		core.FallBack()
		if core.Mode() != Generic || core.Evented() || core.Threshold() != DefaultThreshold {
			t.Errorf("%v of %v after the fall-back: %v", tt.mode, tt.release, core.Mode())
		}
	}
}

// kubelet 1.37 (kubernetes PR 139262).
func TestEndsThatAskForARelist(t *testing.T) {
	tests := []struct {
		name      string
		id        string
		container ContainerStatus
		asks      bool
	}{
		{"a good end", "c1", ContainerStatus{ID: "c1", State: Exited}, false},
		{"an exit code", "c1", ContainerStatus{ID: "c1", State: Exited, ExitCode: 1}, true},
		{"killed for its memory", "c1", ContainerStatus{ID: "c1", State: Exited, Reason: "OOMKilled"}, true},
		{"killed for its memory, and not yet exited", "c1", ContainerStatus{ID: "c1", State: Running, Reason: "OOMKilled"}, true},
		{"an exit code of what runs", "c1", ContainerStatus{ID: "c1", State: Running, ExitCode: 1}, false},
		{"another container", "c1", ContainerStatus{ID: "c2", State: Exited, ExitCode: 1}, false},
		{"a sandbox", "s1", ContainerStatus{ID: "c1", State: Exited, ExitCode: 1}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := upstream(SignalStopped, tt.id, pod("a", "s1 running"), epoch)
			u.Status.Containers = []ContainerStatus{tt.container}
			core, _ := New(Config{Mode: Evented})
			out := core.Apply(epoch, u)
			if (out.Relist == "a") != tt.asks || (out.Ignored == "") != tt.asks {
				t.Errorf("%+v", out)
			}
			if core.Released() != nil || core.Cache().Len() != 0 || core.Gauges() != (Gauges{}) {
				t.Error("the stream wrote something")
			}
			for _, s := range []Signal{SignalCreated, SignalStarted, SignalDeleted} {
				u := u
				if u.Signal = s; core.Apply(epoch, u).Relist != "" {
					t.Errorf("%v asks for a relist", s)
				}
			}
			core.FallBack()
			if out := core.Apply(epoch, u); !strings.Contains(out.Ignored, "given up") {
				t.Errorf("after it was given up: %+v", out)
			}
		})
	}
}

// A node whose kubelet goes from one release to another: what the stream has told is not
// told anew, and each release has its own cache and health.
func TestModesFollowTheRelease(t *testing.T) {
	b := newBed(t, Config{Mode: Evented, Release: 36, Capacity: 3})
	cache := b.core.Cache()
	b.relist(pod("a", "s1 running"))
	b.core.Drain()
	b.wantEvents(b.tell(SignalStarted, "c1", pod("a", "s1 running", "c1 running")), "a Started c1")
	b.must(b.core.Follow(37))
	if b.core.Evented() || cache.evented || b.core.Threshold() != DefaultThreshold {
		t.Error("1.37 goes on as 1.36 did")
	}
	b.wantEvents(b.relist(pod("a", "s1 running", "c1 running")), "a Started c1 again")
	b.wantEvents(b.relist(pod("a", "s1 running", "c1 exited")), "a Died c1")
	if b.core.HealthyEvented(b.at) != nil {
		t.Error("1.37 has a second health check")
	}
	b.must(b.core.Follow(34))
	if !b.core.Evented() || !b.core.Cache().evented || b.core.Cache() != cache || b.core.HealthyEvented(b.at) == nil {
		t.Error("1.34 is not evented again")
	}
	b.core.FallBack()
	b.must(b.core.Follow(35))
	if b.core.Evented() {
		t.Error("a stream that was given up is in use again")
	}
}

// After the fall-back the relist goes on from what the stream has told.
func TestFallBackTellsNothingTwice(t *testing.T) {
	eachEvented(t, func(t *testing.T, b *bed) {
		b.relist(pod("a", "s1 running", "c1 running"))
		b.wantEvents(b.tell(SignalStopped, "c1", pod("a", "s1 running", "c1 exited")), "a Died c1")
		b.core.FallBack()
		b.at = b.at.Add(time.Second)
		b.wantEvents(b.relist(pod("a", "s1 running", "c1 exited", "c2 running")), "a Died c1 again", "a Started c2")
		b.wantEvents(b.relist(pod("a", "s1 running", "c2 exited")), "a Removed c1", "a Died c2")
		b.at = b.at.Add(toldLasts)
		b.relist(pod("a", "s1 running", "c2 exited"))
		if len(b.core.told.of) != 0 {
			t.Errorf("kept: %+v", b.core.told.of)
		}
	})
}

// The stream is late: a relist was there before it.
func TestStreamThatComesAfterTheRelist(t *testing.T) {
	older := func(b *bed) time.Time { return b.at.Add(-time.Second / 2) }
	tests := []struct {
		name string
		play func(*bed)
		want []string
	}{
		{"start and end", func(b *bed) {
			b.relist(pod("a", "s1 running", "c1 exited"))
			b.core.Apply(b.at, upstream(SignalStarted, "c1", pod("a", "s1 running", "c1 exited"), older(b)))
			b.core.Apply(b.at, upstream(SignalStopped, "c1", pod("a", "s1 running", "c1 exited"), older(b)))
		}, nil}, // both are refused by the cache, and the start is lost as it is in the kubelet
		{"a removal", func(b *bed) {
			b.relist(pod("a", "s1 running", "c1 exited"))
			b.relist(pod("a", "s1 running"))
			b.core.Apply(b.at, upstream(SignalDeleted, "c1", pod("a", "s1 running"), older(b)))
		}, []string{"a Died c1 again", "a Removed c1 again"}},
		{"the removal of a pod", func(b *bed) {
			b.relist(pod("a", "s1 running"))
			b.relist()
			b.core.Apply(b.at.Add(9*time.Minute), upstream(SignalDeleted, "s1", pod("a", "s1 exited"), older(b)))
		}, []string{"a Died s1 again", "a Removed s1 again"}},
		{"a start whose clock is ahead", func(b *bed) {
			b.relist(pod("a", "s1 running", "c1 exited"))
			b.core.Apply(b.at, upstream(SignalStarted, "c1", pod("a", "s1 running", "c1 exited"), b.at.Add(time.Second)))
			b.core.Apply(b.at, upstream(SignalStopped, "c1", pod("a", "s1 running", "c1 exited"), b.at.Add(time.Second)))
		}, []string{"a Started c1", "a Died c1 again"}},
		{"twice", func(b *bed) {
			b.relist()
			for range 2 {
				b.core.Apply(b.at, upstream(SignalStarted, "c1", pod("a", "s1 running", "c1 running"), b.at))
			}
		}, []string{"a Started c1", "a Started c1 again"}},
		{"a start of what has ended, twice", func(b *bed) {
			b.relist()
			for _, s := range []Signal{SignalStarted, SignalStopped, SignalStarted} {
				b.core.Apply(b.at, upstream(s, "c1", pod("a", "s1 running", "c1 exited"), b.at))
			}
		}, []string{"a Started c1", "a Died c1", "a Started c1 again"}},
		{"a start of what has ended, and runs again", func(b *bed) {
			b.relist(pod("a", "s1 running", "c1 exited"))
			b.core.Apply(b.at, upstream(SignalStarted, "c1", pod("a", "s1 running", "c1 running"), b.at.Add(1)))
		}, []string{"a Started c1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t, Config{Release: 36, Mode: Evented})
			tt.play(b)
			b.wantEvents(texts(b.core.Released()), tt.want...)
		})
	}
}

// A stream that tells of an end which the lists do not show is wrong: when the end comes
// it is news.
func TestToldWhatTheListsDoNotShow(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented})
	running := pod("a", "s1 running", "c1 running")
	b.relist(running)
	b.wantEvents(b.tell(SignalStopped, "c1", running), "a Died c1")
	b.wantEvents(b.relist(running))
	b.wantEvents(b.relist(pod("a", "s1 running", "c1 exited")), "a Died c1 again") // the list had been too early
	b.wantEvents(b.tell(SignalStarted, "c1", running), "a Started c1")
	b.wantEvents(b.tell(SignalStopped, "c1", running), "a Died c1")
	b.at = b.at.Add(toldWrong + time.Second)
	b.wantEvents(b.relist(running), "a Started c1")
	b.at = b.at.Add(toldWrong)
	b.wantEvents(b.relist(pod("a", "s1 running", "c1 exited")), "a Died c1")
}

// An inspection that fails for long does not make the relist tell again what the stream
// has told.
func TestToldWhileInspectionsFail(t *testing.T) {
	eachEvented(t, func(t *testing.T, b *bed) {
		b.relist(pod("a", "s1 running", "c1 running"))
		b.wantEvents(b.tell(SignalStopped, "c1", pod("a", "s1 running", "c1 exited")), "a Died c1")
		b.failing["a"] = true
		for range 5 {
			b.at = b.at.Add(EventedPeriod)
			b.wantEvents(b.relist(pod("a", "s1 running", "c1 exited")))
		}
		b.failing["a"] = false
		got := b.relist(pod("a", "s1 running", "c1 exited"))
		got = append(got, b.relist(pod("a", "s1 running", "c1 exited"))...)
		b.wantEvents(slices.DeleteFunc(got, func(e string) bool { return e == "a PodSync" }), "a Died c1 again")
	})
}

func ExampleMode() {
	fmt.Println(Generic, Evented)
	// Output: generic evented
}
