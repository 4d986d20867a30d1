package pleg

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// evented are releases that write the cache from the stream, one of each relist.
var evented = []Release{26, 31, 34, 36}

func eachEvented(t *testing.T, f func(*testing.T, *bed)) {
	for _, release := range evented {
		t.Run(release.String(), func(t *testing.T) { f(t, newBed(t, Config{Release: release, Mode: Evented})) })
	}
}

// tell gives the core one event of the stream, as of a pod that is just so, half a second
// after the last relist began, and returns what that makes.
func (b *bed) tell(s Signal, id string, p Pod) []string {
	b.t.Helper()
	if out := b.core.Apply(b.at.Add(time.Second/2), upstream(s, id, p, b.at.Add(time.Second/2))); out != (Outcome{}) {
		b.t.Errorf("%v %s: %+v", s, id, out)
	}
	return texts(b.core.Released())
}

func upstream(s Signal, id string, p Pod, at time.Time) Upstream {
	return Upstream{Signal: s, ID: id, At: at, Pod: p.PodRef, Status: statusOf(&p)}
}

// kubelet 1.26 to 1.36, EventedPLEG.processCRIEvent.
func TestStreamMakesTheKubeletsEvents(t *testing.T) {
	tests := []struct {
		signal Signal
		id     string
		want   []string
	}{
		{SignalCreated, "c1", nil},
		{SignalStarted, "c1", []string{"a Started c1"}},
		{SignalStopped, "c1", []string{"a Died c1"}},
		{SignalDeleted, "c1", []string{"a Died c1", "a Removed c1"}},
		{SignalStarted, "s1", []string{"a Started s1"}},
		{SignalStopped, "s1", []string{"a Died s1"}},
		{SignalDeleted, "s1", []string{"a Died s1", "a Removed s1"}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.signal, " ", tt.id), func(t *testing.T) {
			eachEvented(t, func(t *testing.T, b *bed) {
				b.wantEvents(b.tell(tt.signal, tt.id, pod("a", "s1 running", "c1 running")), tt.want...)
				if _, held := b.core.Cache().Entry("a"); held != (tt.signal != SignalDeleted) {
					t.Errorf("the cache holds the pod: %v", held)
				}
			})
		})
	}
}

// A DELETED takes the pod out of the cache if it is the sandbox's, and else leaves there
// what was there before.
func TestStreamDeletesFromTheCacheOnlyWithTheSandbox(t *testing.T) {
	eachEvented(t, func(t *testing.T, b *bed) {
		b.relist(pod("a", "s1 running", "c1 exited"))
		b.wantEvents(b.tell(SignalDeleted, "c1", pod("a", "s1 running")), "a Died c1 again", "a Removed c1")
		if e, held := b.core.Cache().Entry("a"); !held || len(e.Status.Containers) != 1 {
			t.Errorf("the cache holds %+v", e)
		}
		b.tell(SignalStopped, "s1", pod("a", "s1 exited"))
		b.wantEvents(b.tell(SignalDeleted, "s1", pod("a", "s1 exited")), "a Died s1 again", "a Removed s1")
		if e, held := b.core.Cache().Entry("a"); held {
			t.Errorf("the cache holds %+v", e)
		}
		b.wantEvents(b.relist(), "a Removed c1 again", "a Died s1 again", "a Removed s1 again")
	})
}

func TestStreamEventsSayWhatTheyKnow(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented})
	u := upstream(SignalStopped, "c1", pod("a", "s1 running", "c1 exited"), epoch)
	u.Status.Containers[0].ExitCode = 7
	b.core.Apply(epoch, upstream(SignalCreated, "c1", pod("a", "s1 running", "c1 created"), epoch))
	b.core.Apply(epoch, upstream(SignalStarted, "c1", pod("a", "s1 running", "c1 running"), epoch))
	b.core.Apply(epoch, u)
	b.core.Apply(epoch, upstream(SignalDeleted, "c1", pod("a", "s1 running"), epoch))
	base := Event{ObjectRef: ObjectRef{Pod: pod("a").PodRef, ID: "c1", Container: "name-c1"}, At: epoch, Streamed: true}
	want := []Event{base, base, base, base}
	want[0].Kind, want[0].From, want[0].To = Started, Created, Running
	want[1].Kind, want[1].From, want[1].To, want[1].Exited, want[1].ExitCode = Died, Running, Exited, true, 7
	want[2].Kind, want[2].To, want[2].Exited, want[2].ExitCode, want[2].Again = Died, Exited, true, 7, true
	want[3].Kind, want[3].From, want[3].To = Removed, Exited, Absent
	if got := b.core.Released(); !slices.Equal(got, want) {
		t.Errorf("events\n%+v, want\n%+v", got, want)
	}
}

// kubelet 1.26 to 1.36, EventedPLEG.processCRIEvents: what is not heeded.
func TestStreamEventsThatAreIgnored(t *testing.T) {
	good := upstream(SignalStarted, "c1", pod("a", "s1 running", "c1 running"), epoch)
	noStatus, noSandbox := good, upstream(SignalStarted, "c1", pod("a", "c1 running"), epoch)
	noStatus.Status = nil
	tests := []struct {
		name   string
		config Config
		u      Upstream
		why    string
	}{
		{"no status", Config{Release: 36, Mode: Evented}, noStatus, "sandbox"},
		{"no sandbox", Config{Release: 36, Mode: Evented}, noSandbox, "sandbox"},
		{"no pod", Config{Release: 36, Mode: Evented}, upstream(SignalStarted, "c1", pod("", "s1 running", "c1 running"), epoch), "sandbox"},
		{"generic", Config{Release: 36}, good, "generic"},
		{"before there was a stream", Config{Release: 25, Mode: Evented}, good, "generic"},
		{"1.37, a start", Config{Release: 37, Mode: Evented}, good, "only an end"},
		{"1.37, no sandbox", Config{Release: 37, Mode: Evented}, noSandbox, "sandbox"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			core, _ := New(tt.config)
			out := core.Apply(epoch, tt.u)
			if !strings.Contains(out.Ignored, tt.why) || out.Relist != "" || core.Released() != nil || core.Cache().Len() != 0 {
				t.Errorf("%+v, cache %d", out, core.Cache().Len())
			}
		})
	}
}

// kubelet 1.26 to 1.36, cache.Set with the gate: what is older than what the cache has is
// refused, and makes no event.
func TestCacheRefusesWhatIsOlder(t *testing.T) {
	eachEvented(t, func(t *testing.T, b *bed) {
		b.relist(pod("a", "s1 running", "c1 running"))
		ended := pod("a", "s1 running", "c1 exited")
		for _, age := range []time.Duration{time.Nanosecond, time.Hour} {
			out := b.core.Apply(b.at, upstream(SignalStopped, "c1", ended, b.at.Add(-age)))
			if !strings.Contains(out.Ignored, "older") || b.core.Released() != nil {
				t.Errorf("%v older: %+v", age, out)
			}
		}
		if out := b.core.Apply(b.at, upstream(SignalStopped, "c1", ended, b.at)); out != (Outcome{}) {
			t.Errorf("just as old: %+v", out)
		}
		b.wantEvents(texts(b.core.Released()), "a Died c1")
		out := b.core.Apply(b.at, upstream(SignalDeleted, "c1", ended, b.at.Add(-time.Hour)))
		if out != (Outcome{}) || len(b.core.Released()) != 2 {
			t.Errorf("a DELETED that is older: %+v", out)
		}
	})
}

// kubelet 1.26 to 1.36, reconcilePodRecord with the gate: if the cache refuses what the
// relist inspected, nothing is sent and the record stays, and a later relist sends all.
func TestRelistThatTheCacheRefusesReleasesNothing(t *testing.T) {
	eachEvented(t, func(t *testing.T, b *bed) {
		b.relist(pod("a", "s1 running", "c1 running"))
		b.during = func(UID) { // the list showed less
			u := upstream(SignalStopped, "c1", pod("a", "s1 running", "c1 exited", "c2 running"), b.at.Add(time.Minute))
			b.core.Apply(b.at, u)
		}
		b.wantEvents(b.relist(pod("a", "s1 running", "c1 running", "c2 running")), "a Died c1")
		if b.core.Reinspecting("a") {
			t.Error("the pod is inspected again though nothing changed")
		}
		b.during = nil
		b.at = b.at.Add(time.Minute)
		b.wantEvents(b.relist(pod("a", "s1 running", "c1 exited", "c2 running")), "a Died c1 again", "a Started c2")
		b.wantEvents(b.relist(pod("a", "s1 running", "c1 exited", "c2 running")))
	})
}

// A failure is stored too, if it is not older; the second pass of 1.25 to 1.31 is made
// whatever the cache says.
func TestFailedInspectionBesideTheStream(t *testing.T) {
	eachEvented(t, func(t *testing.T, b *bed) {
		b.failing["a"] = true
		b.wantEvents(b.relist(pod("a", "s1 running", "c1 running")))
		if _, err := b.core.Cache().Get("a"); !errors.Is(err, errInspect) {
			t.Errorf("the cache has %v", err)
		}
		b.wantEvents(b.tell(SignalStarted, "c1", pod("a", "s1 running", "c1 running")), "a Started c1")
		b.failing["a"] = false
		got := b.relist(pod("a", "s1 running", "c1 running"))
		b.wantEvents(append(got, b.relist(pod("a", "s1 running", "c1 running"))...), "a Started c1 again", "a Started s1")
	})
}

// kubelet 1.26 to 1.36, EventedPLEG.getPodIPs: as the relist keeps them.
func TestStreamKeepsAddresses(t *testing.T) {
	eachEvented(t, func(t *testing.T, b *bed) {
		b.ips["a"] = []string{"10.0.0.1"}
		b.relist(pod("a", "s1 running"))
		for _, tt := range []struct {
			state string
			want  int
		}{{"exited", 1}, {"running", 0}, {"exited", 0}} {
			p := pod("a", "s1 "+tt.state)
			u := upstream(SignalStopped, "s1", p, b.at.Add(time.Second))
			b.core.Apply(b.at, u)
			st, _ := b.core.Cache().Get("a")
			if len(st.IPs) != tt.want || len(u.Status.IPs) != 0 {
				t.Errorf("sandbox %s: addresses %v, want %d; those of the event are %v", tt.state, st.IPs, tt.want, u.Status.IPs)
			}
		}
	})
}

// kubelet 1.26 to 1.36, updateRunningContainerMetric and updateRunningPodMetric: by the
// difference to the cached status, before the cache has had its say.
func TestStreamMovesTheGauges(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented})
	want := func(what string, pods, running, exited int) {
		t.Helper()
		g := b.core.Gauges()
		if g.RunningPods != pods || g.Containers[Running] != running || g.Containers[Exited] != exited {
			t.Errorf("%s: %+v, want %d pods, %d running, %d exited", what, g, pods, running, exited)
		}
	}
	b.relist(pod("a", "s1 running", "c1 running"))
	want("relist", 1, 1, 0)
	b.tell(SignalStopped, "c1", pod("a", "s1 running", "c1 exited", "c2 running"))
	want("a container ended and one is new", 1, 1, 1)
	b.core.Apply(b.at, upstream(SignalStopped, "c1", pod("a", "s1 running", "c1 running", "c2 running"), epoch.Add(-time.Hour)))
	want("what the cache refuses", 1, 2, 0)
	b.tell(SignalStarted, "s9", pod("b", "s9 running", "c9 running"))
	want("a pod that is new, by a runtime whose sandbox is no container", 1, 3, 0)
	b.relist(pod("a", "s1 running", "c1 exited", "c2 running"), pod("b", "s9 running", "c9 running"))
	want("the next relist", 2, 2, 1)

	infra := upstream(SignalStarted, "s5", pod("d", "s5 running"), b.at.Add(time.Second))
	infra.Status.Containers = []ContainerStatus{{ID: "s5", State: Running}}
	b.core.Apply(b.at, infra)
	want("a pod by a runtime whose sandbox is a container", 3, 3, 1)
	infra.Status = &PodStatus{PodRef: infra.Status.PodRef, Sandboxes: infra.Status.Sandboxes, Containers: []ContainerStatus{{ID: "s5", State: Exited}}}
	b.core.Apply(b.at, infra)
	want("its end", 2, 2, 2)
}

// Where the cache has an error the kubelet panics (kubernetes issue 128654).
func TestStreamAfterAFailedInspection(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented})
	b.failing["a"] = true
	b.relist(pod("a", "s1 running", "c1 running"))
	b.wantEvents(b.tell(SignalStopped, "c1", pod("a", "s1 running", "c1 exited")), "a Died c1")
	if g := b.core.Gauges(); g.Containers[Exited] != 1 {
		t.Errorf("%+v", g)
	}
}

// kubelet 1.26 to 1.36, EventedPLEG.Healthy and kubelet.go: both checks are registered,
// the one of the list with 10 min, and the second one hides when the list was.
func TestHealthOfTheEventedKubelet(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented, Capacity: 2})
	b.relist()
	for age, want := range map[time.Duration]string{
		10 * time.Minute:   "",
		10*time.Minute + 1: "pleg was last seen active 10m0.000000001s ago; threshold is 10m0s",
	} {
		if err := b.core.Healthy(b.at.Add(age)); (want == "") != (err == nil) || err != nil && err.Error() != want {
			t.Errorf("%v: %v, want %q", age, err, want)
		}
	}
	now := b.at.Add(time.Hour + time.Second/2)
	if err := b.core.HealthyEvented(now); err != nil || !b.core.LastSeen().Equal(b.at.Add(time.Hour)) {
		t.Errorf("%v, last seen %v", err, b.core.LastSeen())
	}
	p := pod("a", "s1 running", "c1 running")
	b.wantEvents(b.tell(SignalStarted, "s1", p), "a Started s1")
	b.wantEvents(b.tell(SignalStarted, "c1", p), "a Started c1")
	b.wantEvents(b.tell(SignalStopped, "c1", p), "a Died c1 discarded")
	err := b.core.HealthyEvented(now.Add(time.Hour))
	if err == nil || err.Error() != "EventedPLEG: pleg event channel capacity is full with 2 events" {
		t.Errorf("verdict %v", err)
	}
	if !b.core.LastSeen().Equal(b.at.Add(time.Hour)) {
		t.Errorf("last seen %v", b.core.LastSeen())
	}
	b.core.FallBack()
	if err := b.core.Healthy(b.at.Add(3*time.Minute + 1)); err == nil || !strings.HasSuffix(err.Error(), "threshold is 3m0s") {
		t.Errorf("after the fall-back: %v", err)
	}
	if b.core.HealthyEvented(now) == nil {
		t.Error("after the fall-back the second check is gone")
	}
	for _, c := range []Config{{Release: 36}, {Release: 37, Mode: Evented}, {Release: 25, Mode: Evented}} {
		c.Capacity = NoCapacity
		core, _ := New(c)
		if err := core.HealthyEvented(now); err != nil || !core.LastSeen().IsZero() || core.Threshold() != DefaultThreshold {
			t.Errorf("%+v: %v, last seen %v, threshold %v", c, err, core.LastSeen(), core.Threshold())
		}
	}
}

// What the channel had no room for was not sent: the relist sends it as ever.
func TestRelistSendsWhatWasDiscarded(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented, Capacity: 1})
	p := pod("a", "s1 running", "c1 running")
	b.wantEvents(b.tell(SignalStarted, "s1", p), "a Started s1")
	b.wantEvents(b.tell(SignalStarted, "c1", p), "a Started c1 discarded")
	b.core.Drain()
	b.wantEvents(b.relist(p), "a Started c1", "a Started s1 discarded again")
	b.core.Attend(true)
	b.wantEvents(b.tell(SignalStopped, "c1", p), "a Died c1")
	if b.core.Len() != 0 {
		t.Errorf("%d events wait though the reader keeps up", b.core.Len())
	}
}

// A removal follows an end, though there was no room for that.
func TestRemovalBeginsWhereAnEndLeads(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented, Capacity: 1})
	p := pod("a", "s1 running", "c1 running")
	b.tell(SignalStarted, "c1", p)
	b.core.Apply(b.at, upstream(SignalDeleted, "c1", p, b.at))
	if got := b.core.Released(); len(got) != 2 || got[0].Delivery != Discarded || got[1].Kind != Removed || got[1].From != Exited {
		t.Errorf("events %+v", got)
	}
}

// kubelet 1.26 to 1.36, EventedPLEG.updateGlobalCache.
func TestTouchServesWhoeverWaits(t *testing.T) {
	for _, tt := range []struct {
		config Config
		served bool
	}{
		{Config{Release: 36, Mode: Evented}, true},
		{Config{Release: 37, Mode: Evented}, false}, {Config{Release: 36}, false},
	} {
		b := newBed(t, tt.config)
		b.relist(pod("a", "s1 running"))
		b.core.Cache().Subscribe("a", b.at.Add(time.Second))
		b.core.Touch(b.at.Add(5 * time.Second))
		if served := len(b.core.Cache().Served()) == 1; served != tt.served {
			t.Errorf("%+v: served %v", tt.config, served)
		}
		b.core.FallBack()
		b.core.Cache().Subscribe("a", b.at.Add(10*time.Second))
		b.core.Touch(b.at.Add(15 * time.Second))
		if len(b.core.Cache().Served()) != 0 {
			t.Errorf("%+v: served after the fall-back", tt.config)
		}
	}
}

// The stream may tell of pods that no relist has shown; the next one sorts that out.
func TestPodsAheadOfTheRelist(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented})
	b.relist()
	b.tell(SignalStarted, "s1", pod("lost", "s1 running"))
	b.tell(SignalStarted, "s2", pod("kept", "s2 running"))
	b.relist(pod("kept", "s2 running"))
	if _, held := b.core.Cache().Entry("lost"); held || b.core.Cache().Len() != 1 {
		t.Error("the cache keeps a pod that nobody lists")
	}
	if len(b.core.ahead.pods) != 0 || b.core.ahead.weight != 0 {
		t.Errorf("ahead: %+v", b.core.ahead)
	}
	b.during = func(UID) { b.core.Apply(b.at, upstream(SignalStarted, "s3", pod("new", "s3 running"), b.at)) }
	b.relist(pod("kept", "s2 exited")) // whose lists were made before
	if _, held := b.core.Cache().Entry("new"); !held || !b.core.Ahead("new") || b.core.Ahead("kept") {
		t.Error("the cache has lost a pod that the lists could not show")
	}
}

// What the stream said and the lists show otherwise for a minute was not so: what happens
// then is news.
func TestStreamThatWasWrongIsForgotten(t *testing.T) {
	eachEvented(t, func(t *testing.T, b *bed) {
		b.relist(pod("a", "s1 running", "c1 running"))
		b.wantEvents(b.tell(SignalStopped, "c1", pod("a", "s1 running", "c1 exited")), "a Died c1")
		b.at = b.at.Add(toldWrong)
		b.wantEvents(b.relist(pod("a", "s1 running", "c1 running")))
		b.wantEvents(b.relist(pod("a", "s1 running", "c1 exited")), "a Died c1")
	})
}

// A storm of ids that no relist has shown hides nothing of those that one has.
func TestStormOfUnknownIDsHidesNoOther(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented})
	b.core.Attend(true)
	b.relist(pod("a", "s1 running", "c1 running"))
	for i := range 2 * mostTold {
		b.core.Apply(b.at, upstream(SignalStarted, fmt.Sprint("x", i), pod("a", "s1 running"), b.at))
	}
	b.core.Released()
	b.wantEvents(b.tell(SignalStopped, "c1", pod("a", "s1 running", "c1 exited")), "a Died c1")
}

// What the stream tells of a pod again and again counts once, and no more when it has gone.
func TestWhatIsAheadCountsOnce(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented})
	b.core.Attend(true)
	b.relist(pod("z", "s1 running"))
	large := pod("a", "s1 running")
	large.Containers = make([]Container, 100)
	for range 2 * mostWeight / 100 {
		if out := b.core.Apply(b.at, upstream(SignalStarted, "s1", large, b.at)); out.Ignored != "" {
			t.Fatal(out.Ignored)
		}
	}
	if b.core.ahead.weight != 101 {
		t.Errorf("they weigh %d, want 101", b.core.ahead.weight)
	}
	b.core.Apply(b.at, upstream(SignalDeleted, "s1", large, b.at))
	if b.core.ahead.weight != 0 || len(b.core.ahead.pods) != 0 {
		t.Errorf("%d pods weigh %d, want none", len(b.core.ahead.pods), b.core.ahead.weight)
	}
}

// What was told of ids that no relist has shown counts for as long as it is kept.
func TestTalesAreBoundedBeyondARelist(t *testing.T) {
	b := newBed(t, Config{Release: 36, Mode: Evented})
	b.core.Attend(true)
	for round := range 2 {
		b.relist(pod("a", "s1 running"))
		for i := range mostTold {
			b.core.Apply(b.at, upstream(SignalStarted, fmt.Sprint("x", round, "-", i), pod("a", "s1 running"), b.at))
		}
		b.core.Released()
	}
	if n := len(b.core.told.of["a"]); n > mostTold+1 || n < mostTold/2 {
		t.Errorf("%d tales, want no more than %d", n, mostTold)
	}
}

// A kubelet has no such bounds.
func TestHostileStreamIsBounded(t *testing.T) {
	for name, flood := range map[string]func(i int) (string, Pod){
		"pods":       func(i int) (string, Pod) { return "s1", pod(UID(fmt.Sprint(i)), "s1 running") },
		"containers": func(i int) (string, Pod) { return fmt.Sprint("c", i), pod("a", "s1 running") },
		"large pods": func(i int) (string, Pod) {
			p := pod(UID(fmt.Sprint(i)), "s1 running")
			p.Containers = make([]Container, 100)
			return "s1", p
		},
		"long texts": func(i int) (string, Pod) {
			p := pod(UID(fmt.Sprint(i)), "s1 running")
			p.Containers = []Container{{Name: strings.Repeat("x", 40<<10)}}
			return "s1", p
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, Config{Release: 36, Mode: Evented})
			b.core.Attend(true)
			ignored := 0
			for i := range 30_000 {
				id, p := flood(i)
				if b.core.Apply(b.at, upstream(SignalStarted, id, p, b.at)).Ignored != "" {
					ignored++
				}
			}
			b.core.Released()
			texts := 0
			for _, e := range b.core.Cache().entries {
				for _, one := range e.Status.Containers {
					texts += len(one.Name)
				}
			}
			tales := 0
			for _, of := range b.core.told.of {
				tales += len(of)
			}
			if ignored < 20_000 || b.core.Cache().Len() > mostAhead || tales > mostTold || texts > mostWeight<<10 {
				t.Errorf("ignored %d, cache %d, tales %d, %d bytes of texts", ignored, b.core.Cache().Len(), tales, texts)
			}
			b.at = b.at.Add(toldLasts)
			b.wantEvents(b.relist(pod("z", "s1 running")), "z Started s1")
			b.at = b.at.Add(toldLasts + time.Second)
			b.relist(pod("z", "s1 running"))
			if b.core.told.foreign != 0 || len(b.core.told.of) != 0 || b.core.Cache().Len() != 1 {
				t.Errorf("%d tales, %d pods in the cache are left", b.core.told.foreign, b.core.Cache().Len())
			}
		})
	}
}

// TestUse holds what each release makes of the stream in each mode.
func TestUse(t *testing.T) {
	for _, tt := range []struct {
		mode    Mode
		release Release
		want    Use
	}{
		{Generic, 25, StreamUnused}, {Generic, 36, StreamUnused}, {Generic, 37, StreamUnused},
		{Evented, 25, StreamUnused}, {Evented, 26, StreamWrites}, {Evented, 36, StreamWrites}, {Evented, 37, StreamAsks},
	} {
		if got := tt.mode.Use(tt.release); got != tt.want {
			t.Errorf("%v %v: %d, want %d", tt.mode, tt.release, got, tt.want)
		}
	}
}
