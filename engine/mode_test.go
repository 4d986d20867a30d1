package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// A modeBench is an engine in a mode, with the stream that it goes by.
type modeBench struct {
	*bench
	stream *fakeStream
}

// inMode runs a test with one pod, after the first relist and once the stream has lasted.
func inMode(t *testing.T, c Config, test func(*modeBench)) {
	t.Helper()
	stream := &fakeStream{t: t}
	if c.Streams == nil {
		c.Streams = []Stream{{Source: ledger.FromCRI, On: c.Mode == pleg.Generic}}
	}
	c.Streams[0].Run = stream.Run
	bubble(t, c, onePod, func(b *bench) {
		b.after(1500 * time.Millisecond)
		test(&modeBench{b, stream})
	})
}

// tell has the stream tell something of a container or sandbox of a pod, as it is now.
func (b *modeBench) tell(s pleg.Signal, id string) {
	b.stream.says(b.upstream(s, id))
	time.Sleep(batchPace)
}

func (b *modeBench) upstream(s pleg.Signal, id string) pleg.Upstream {
	pod, _, _ := strings.Cut(id, "/")
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	sandbox := pleg.SandboxStatus{ID: pod, Pod: ref(pod), State: pleg.Running, IPs: []string{"10.0.0.1"}}
	var containers []pleg.ContainerStatus
	for _, c := range b.fake.containers {
		if c.Pod == ref(pod) {
			st := b.fake.statuses[c.ID]
			st.ID, st.Name, st.State = c.ID, c.Name, c.State
			containers = append(containers, st)
		}
	}
	status := pleg.Compose(ref(pod), []pleg.SandboxStatus{sandbox}, containers)
	return pleg.Upstream{Signal: s, ID: id, At: time.Now(), Pod: ref(pod), Status: status}
}

func (b *modeBench) wantMode(want pleg.Mode, period, threshold time.Duration, reason string) *Snapshot {
	b.t.Helper()
	s := b.fresh()
	if s.Mode.Mode != want || s.Period != period || s.Threshold != threshold || !strings.Contains(s.Mode.Reason, reason) || (reason == "") != (s.Mode.Reason == "") {
		b.t.Errorf("mode %+v, period %v, threshold %v; want %v, %v, %v, %q", s.Mode, s.Period, s.Threshold, want, period, threshold, reason)
	}
	return s
}

const (
	minutes5  = 300 * time.Second
	minutes3  = 3 * time.Minute
	minutes10 = 10 * time.Minute
)

// kubelet 1.26 to 1.36, kubelet.go: 300 s and 10 min, whatever period people want.
func TestEventedRelistsRarely(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented, Period: 2 * time.Second}, func(b *modeBench) {
		b.ask(func() { b.SetPeriod(4 * time.Second) })
		b.wantMode(pleg.Evented, minutes5, minutes10, "")
		b.after(time.Hour)
		s := b.fresh()
		if s.Relists.Count < 12 || s.Relists.Count > 13 || !s.Health.Healthy || s.Health.Flips != 0 || !s.Node.Ready {
			t.Errorf("relists %+v, health %+v", s.Relists, s.Health)
		}
		b.fake.script("ListContainers", behaviour{hang: true})
		b.after(minutes5 + minutes3)
		if s := b.fresh(); !s.Health.Healthy {
			t.Errorf("after 8 minutes: %+v", s.Health)
		}
		b.after(minutes3)
		if s := b.fresh(); s.Health.Healthy || !strings.HasSuffix(s.Health.Verdict, "threshold is 10m0s") {
			t.Errorf("after 11 minutes: %+v", s.Health)
		}
	})
}

func TestEventedTellsAtOnceAndOnce(t *testing.T) {
	for _, release := range []pleg.Release{28, 34, 36} {
		inMode(t, Config{Release: release, Mode: pleg.Evented}, func(b *modeBench) {
			b.fake.pod("new", "app")
			b.tell(pleg.SignalStarted, "new")
			b.tell(pleg.SignalStarted, "new/app")
			b.fake.exit("web/app", 3, "Error")
			b.tell(pleg.SignalStopped, "web/app")
			s := b.fresh()
			want := []string{
				"ContainerStarted web/app", "ContainerStarted web", "ContainerStarted new", "NetworkSetUp new",
				"ContainerStarted new/app", "ContainerDied web/app",
			}
			if got := b.events(); !slices.Equal(got, want) {
				t.Errorf("%v: events %q, want %q", release, got, want)
			}
			web, fresh := b.podOf(s, "web"), b.podOf(s, "new")
			if web.Seen().Containers[0].State != pleg.Exited || web.Status.Containers[0].ExitCode != 3 || web.LastEvent.Kind != pleg.Died || web.LastEvent.Reason != "Error" || web.LastEvent.Lag > 100*time.Millisecond {
				t.Errorf("%v: pod web: %+v", release, web)
			}
			if fresh.Old != nil || len(fresh.Seen().Containers) != 1 || fresh.Status == nil || s.Counts.Pods != 2 {
				t.Errorf("%v: pod new: %+v of %+v", release, fresh, s.Counts)
			}
			if s.Relists.Count != 1 || s.Mode.Applied != 3 || s.Mode.Repeated != 0 {
				t.Errorf("%v: %d relists, mode %+v", release, s.Relists.Count, s.Mode)
			}
			s = b.after(minutes5)
			if got := b.events(); !slices.Equal(got, want) || s.Mode.Repeated != 3 || s.Channel.Delivered != 8 {
				t.Errorf("%v: after the relist: events %q, mode %+v, channel %+v", release, got, s.Mode, s.Channel)
			}
			b.fake.remove("web")
			b.after(minutes5 + time.Second)
			if got := b.events()[len(want):]; !slices.Equal(got, []string{"ContainerRemoved web/app", "ContainerDied web", "ContainerRemoved web"}) {
				t.Errorf("%v: what the stream has missed: %q", release, got)
			}
		})
	}
}

// kubelet 1.26 to 1.36, updateGlobalCache: whoever waits for a newer status waits no
// longer than 5 s, though the relist comes each 300 s.
func TestEventedMovesTheCachesTime(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented}, func(b *modeBench) {
		b.fake.exit("web/app", 3, "Error")
		b.stream.says(b.upstream(pleg.SignalStopped, "web/app"), b.upstream(pleg.SignalDeleted, "web/app"))
		if s := b.after(time.Second); s.Workers.All[0].State != podworker.WaitsForStatus {
			t.Fatalf("worker %+v", s.Workers.All[0])
		}
		s := b.after(5 * time.Second)
		if s.Workers.All[0].State != podworker.Idle || s.Relists.Count != 1 {
			t.Errorf("worker %+v after %d relists", s.Workers.All[0], s.Relists.Count)
		}
	})
}

// kubelet 1.26 to 1.36, EventedPLEG.watchEventsChannel: five attempts with no wait, each
// with a relist, then for ever generic. 1.37 gives up its fast path in the same way.
func TestFallBack(t *testing.T) {
	off := &call.Error{Kind: call.ErrUnimplemented, Code: "Unimplemented"}
	tests := []struct {
		name    string
		release pleg.Release
		period  time.Duration // given; 0 for none
		err     error
		opened  int
		reason  string
		want    time.Duration // period after it
	}{
		{"broken", 36, 0, unavailable(call.GetContainerEvents), 5, "broke 5 times in a row", time.Second},
		{"an explicit period", 36, 7 * time.Second, unavailable(call.GetContainerEvents), 5, "broke 5 times", 7 * time.Second},
		{"no such stream", 34, 0, off, 2, "no event stream", time.Second},
		{"closed each time", 28, 0, io.EOF, 5, "broke 5 times in a row: EOF", time.Second},
		{"1.37", 37, 0, unavailable(call.GetContainerEvents), 5, "broke 5 times", time.Second},
		{"1.37, no such stream", 37, 0, off, 2, "no event stream", time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inMode(t, Config{Release: tt.release, Mode: pleg.Evented, Period: tt.period}, func(b *modeBench) {
				b.after(4 * time.Minute) // so old the list may be with the stream, and no more without it
				b.fake.script("ListContainers", behaviour{delay: 100 * time.Millisecond})
				before := b.fresh().Relists.Count
				b.stream.breaks(unavailable(call.GetContainerEvents), tt.err)
				b.after(20 * time.Second)
				s := b.wantMode(pleg.Generic, tt.want, minutes3, tt.reason)
				if b.stream.opened != tt.opened || s.Sources[0].State != StreamFellBack || s.Relists.Count < before+uint64(16*time.Second/tt.want) {
					t.Errorf("opened %d times, source %+v, relists %d after %d", b.stream.opened, s.Sources[0], s.Relists.Count, before)
				}
				if s.Health.Flips != 0 || s.Mode.Asked != pleg.Evented {
					t.Errorf("health %+v, mode %+v", s.Health, s.Mode)
				}
				b.stream.breaks(nil, nil)
				b.after(10 * time.Minute) // a stream that is lost is opened each minute at least
				if b.stream.isOpen() {
					t.Error("the stream is opened again")
				}
				b.fake.exit("web/app", 1, "Error")
				b.after(tt.want + time.Second)
				if events := b.events(); events[len(events)-1] != "ContainerDied web/app" {
					t.Errorf("events %q", events)
				}
			})
		})
	}
}

// A stream that people have asked for as well observes after the fall-back, for ever, and
// what no relist sees is unseen; the mode has fallen back all the same, and nothing of the
// stream is the core's.
func TestStreamThatWasAskedForObservesAfterTheFallBack(t *testing.T) {
	off := &call.Error{Op: call.GetContainerEvents, Kind: call.ErrUnimplemented, Text: "no"}
	for name, tt := range map[string]struct {
		err    error
		wait   time.Duration
		reason string
		told   []string
	}{
		"broken": {errors.New("refused"), 5 * time.Second, "broke 5 times", []string{
			"cri connected", "cri lost: snapped", "cri lost: refused", "cri fell-back: the event stream broke 5 times in a row: refused", "cri connected",
		}},
		"not enabled": {off, time.Minute, "no event stream", []string{
			"cri connected", "cri lost: snapped", "cri not-enabled: the runtime has no event stream",
			"cri fell-back: the runtime has no event stream", "cri connected",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			streams := []Stream{{Source: ledger.FromCRI, On: true}}
			inMode(t, Config{Release: 36, Mode: pleg.Evented, Streams: streams}, func(b *modeBench) {
				b.stream.breaks(errors.New("snapped"), tt.err)
				b.after(10 * time.Millisecond)
				if s := b.wantMode(pleg.Generic, time.Second, minutes3, tt.reason); s.Sources[0].State != StreamFellBack {
					t.Errorf("%+v", s.Sources[0])
				}
				b.stream.breaks(nil, nil)
				b.after(tt.wait)
				applied := b.fresh().Mode.Applied
				blink := pleg.Upstream{Signal: pleg.SignalStarted, ID: "web/blink", Pod: ref("web")}
				b.stream.says(blink)
				blink.Signal = pleg.SignalStopped
				b.stream.says(blink)
				s := b.after(5 * time.Second)
				if e := b.events(); len(e) < 2 || e[len(e)-2] != "ContainerStarted web" || e[len(e)-1] != "ContainerDied web" {
					t.Errorf("events %q", e)
				}
				if diff := cmp.Diff(tt.told, told(s)); diff != "" || s.Mode.Mode != pleg.Generic || s.Mode.Reason == "" || s.Mode.Applied != applied {
					t.Errorf("mode %+v, changes (-want +got):\n%s", s.Mode, diff)
				}
			})
		})
	}
}

// A stream that only the mode has asked for rests after the fall-back until people ask
// for it.
func TestStreamOfTheModeAloneRestsAfterTheFallBack(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented}, func(b *modeBench) {
		b.stream.breaks(errors.New("snapped"), errors.New("refused"))
		b.after(time.Second)
		b.stream.breaks(nil, nil)
		if s := b.after(time.Hour); s.Sources[0].State != StreamFellBack || b.stream.isOpen() {
			t.Errorf("%+v", s.Sources[0])
		}
		b.ask(func() { b.SetStreams(ledger.FromCRI) })
		if s := b.after(2 * lasting); s.Sources[0].State != StreamConnected || s.Mode.Mode != pleg.Generic {
			t.Errorf("asked for: %+v, mode %+v", s.Sources[0], s.Mode)
		}
	})
}

// That another source is open again says nothing of the runtime's stream.
func TestAnotherSourceIsNoStreamOfTheMode(t *testing.T) {
	other := &fakeStream{t: t}
	streams := []Stream{{Source: ledger.FromCRI}, {Source: ledger.FromCgroup, On: true, Run: other.Run}}
	inMode(t, Config{Release: 36, Mode: pleg.Evented, Streams: streams}, func(b *modeBench) {
		other.breaks(errors.New("snapped"), nil)
		b.after(lasting / 2)
		before := b.fresh().Relists.Count
		b.stream.breaks(errors.New("snapped"), nil)
		s := b.after(lasting * 9 / 10)
		if s.Sources[0].State != StreamOpening || s.Sources[1].State != StreamConnected || s.Relists.Count != before+1 || s.Mode.Attempts != 1 {
			t.Errorf("%+v, %d relists after %d, mode %+v", s.Sources, s.Relists.Count, before, s.Mode)
		}
	})
}

// What happened before a stream could be opened at all, one more relist finds.
func TestEventedMakesUpForALateStart(t *testing.T) {
	stream := &fakeStream{t: t}
	slow := func(r *fakeRuntime) {
		onePod(r)
		r.script("Version", behaviour{delay: 30 * time.Second})
	}
	bubble(t, Config{Release: 36, Mode: pleg.Evented, Streams: []Stream{{Source: ledger.FromCRI, Run: stream.Run}}}, slow, func(b *bench) {
		b.after(20 * time.Second)
		b.fake.exit("web/app", 1, "Error")
		if s := b.after(15 * time.Second); s.Relists.Count != 2 || b.events()[len(b.events())-1] != "ContainerDied web/app" {
			t.Errorf("%d relists, events %q", s.Relists.Count, b.events())
		}
	})
}

// A stream that is refused is told of as refused, and as given up: the mode has fallen back.
func TestRefusedStreamFallsBack(t *testing.T) {
	for _, mode := range []pleg.Mode{pleg.Generic, pleg.Evented} {
		stream := &fakeStream{t: t}
		c := Config{Release: 36, Mode: mode, Streams: []Stream{{Source: ledger.FromCRI, On: true, Run: stream.Run}}}
		old := func(r *fakeRuntime) {
			r.version = pleg.Version{RuntimeName: "containerd", RuntimeVersion: "1.7.27"}
		}
		bubble(t, c, old, func(b *bench) {
			s := b.after(time.Minute)
			var got []StreamState
			for _, c := range s.SourceChanges {
				got = append(got, c.State)
			}
			want := []StreamState{StreamRefused, StreamFellBack}
			if mode == pleg.Generic {
				want = want[:1]
			}
			if !slices.Equal(got, want) || s.Mode.Mode != pleg.Generic || stream.times() != 0 {
				t.Errorf("%v: %v, want %v; mode %+v, opened %d times", mode, got, want, s.Mode, stream.times())
			}
		})
	}
}

// A stream that lasts lets what failed before be forgotten, and after each loss a relist
// finds what nobody told.
func TestStreamThatComesBackIsKept(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented}, func(b *modeBench) {
		for range 9 {
			before := b.fresh().Relists.Count
			b.stream.breaks(unavailable(call.GetContainerEvents), nil)
			b.after(100 * time.Millisecond)
			if s := b.fresh(); s.Relists.Count != before+1 || s.Mode.Attempts != 1 || !b.stream.isOpen() {
				t.Errorf("at the loss: %d relists after %d, %+v", s.Relists.Count, before, s.Mode)
			}
			b.fake.flip("web/app") // before the stream is open again, for all we know
			s := b.after(2 * time.Second)
			if s.Relists.Count != before+2 || s.Mode.Attempts != 0 || b.podOf(s, "web").LastEvent.SeenAt.Before(s.At.Add(-2*time.Second)) {
				t.Errorf("when it lasts: %d relists after %d, %+v", s.Relists.Count, before, s.Mode)
			}
		}
		b.wantMode(pleg.Evented, minutes5, minutes10, "")
	})
}

// What was told while nobody could listen, or came too fast, the next relist finds soon.
func TestEventedMakesUpForWhatWasLost(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented}, func(b *modeBench) {
		b.HoldStreams(context.Background())
		b.fake.exit("web/app", 1, "Error")
		b.after(10 * time.Second)
		b.ReleaseStreams()
		b.after(2 * time.Second)
		if events := b.events(); events[len(events)-1] != "ContainerDied web/app" {
			t.Errorf("after the hold: %q", events)
		}
		before := b.fresh().Relists.Count
		u := b.upstream(pleg.SignalCreated, "web/app")
		for range 2 * queueRoom {
			b.stream.says(u)
		}
		s := b.after(3 * time.Second)
		if s.Sources[0].Lost == 0 || s.Relists.Count == before || s.Relists.Count > before+3 {
			t.Errorf("source %+v, %d relists after %d", s.Sources[0], s.Relists.Count, before)
		}
	})
}

// A mode whose stream is not to be had is none.
func TestModeWithoutItsStream(t *testing.T) {
	run, over := (&fakeStream{t: t}).Run, (&fakeStream{t: t, quits: io.EOF}).Run
	for _, tt := range []struct {
		name    string
		release pleg.Release
		streams []Stream
		reason  string
	}{
		{"refused", 36, []Stream{{Source: ledger.FromCRI, On: true, Refuse: "for a reason"}}, "for a reason"},
		{"none", 36, nil, "not switched on"},
		{"switched off", 36, []Stream{{Source: ledger.FromCRI, Run: over}}, "switched off"},
		{"a release that has none", 25, []Stream{{Source: ledger.FromCRI, On: true, Run: run}}, "kubelet 1.25 knows no event stream"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, Config{Release: tt.release, Mode: pleg.Evented, Streams: tt.streams}, onePod, func(b *bench) {
				b.after(5 * time.Second)
				s := (&modeBench{bench: b}).wantMode(pleg.Generic, time.Second, minutes3, tt.reason)
				if s.Relists.Count < 5 {
					t.Errorf("%d relists", s.Relists.Count)
				}
			})
		})
	}
}

// kubelet 1.37: an end that nobody wanted is looked into at once, and only that pod.
func TestUnexpectedEndAsksForARelist(t *testing.T) {
	inMode(t, Config{Release: 37, Mode: pleg.Evented, Period: time.Minute}, func(b *modeBench) {
		b.fake.pod("other", "app")
		b.fake.made()
		b.fake.exit("web/app", 0, "Completed")
		b.tell(pleg.SignalStopped, "web/app")
		if made := b.fake.made(); len(made) > 0 || b.fresh().Mode.Asks != 0 {
			t.Errorf("a good end: calls %q", made)
		}
		b.fake.exit("web/app", 1, "Error")
		b.tell(pleg.SignalStopped, "web/app")
		b.tell(pleg.SignalStopped, "web/app")
		want := []string{
			"ListPodSandbox uid-web", "ListContainers uid-web", "PodSandboxStatus web", "ContainerStatus web/app",
			"ListPodSandbox uid-web", "ListContainers uid-web", // again, and there is no change
		}
		if made := b.fake.made(); !slices.Equal(made, want) {
			t.Errorf("calls %q, want %q", made, want)
		}
		s := b.wantMode(pleg.Evented, time.Minute, minutes3, "")
		if e := b.events(); e[len(e)-1] != "ContainerDied web/app" || s.Mode.Asks != 2 || s.Relists.Count != 1 || b.podOf(s, "web").Reinspect {
			t.Errorf("events %q, mode %+v, %d relists", e, s.Mode, s.Relists.Count)
		}
	})
}

// kubelet 1.36, workerLoopIteration: what was asked before the last good list began is
// skipped, what was asked after it is not, and what comes while 200 wait is lost. A pause
// holds all of it.
func TestAsksOfTheStream(t *testing.T) {
	inMode(t, Config{Release: 37, Mode: pleg.Evented, Period: 10 * time.Minute}, func(b *modeBench) {
		b.fake.exit("web/app", 1, "Error")
		b.fake.script("ListPodSandbox", behaviour{delay: time.Minute})
		b.ask(b.RelistNow)
		b.after(time.Second)
		for range 5 {
			b.tell(pleg.SignalStopped, "web/app")
		}
		b.after(70 * time.Second)
		b.fake.behave()
		made := without(b.fake.made(), call.Status, call.Version)
		if i := slices.Index(made, "ListPodSandbox uid-web"); i != len(made)-1 {
			t.Errorf("calls %q, want a relist of the pod once, after that of all", made)
		}
		b.after(2 * time.Minute)
		b.ask(b.Pause)
		b.fake.made()
		for i := range mostAsks + 20 {
			u := b.upstream(pleg.SignalStopped, "web/app")
			u.Status.PodRef = ref(fmt.Sprint("pod-", i))
			b.stream.says(u)
		}
		b.after(time.Hour)
		if made := b.fake.made(); len(made) > 0 {
			t.Errorf("calls in the pause: %q", made)
		}
		b.ask(b.Resume)
		s := b.after(time.Second)
		if made := without(b.fake.made(), call.Status, call.Version); !slices.Equal(made, []string{"ListPodSandbox", "ListContainers"}) {
			t.Errorf("calls after the pause: %q", made)
		}
		if s.Mode.Asks != 5+mostAsks+20 || s.Mode.AsksLost != 20 {
			t.Errorf("mode %+v", s.Mode)
		}
	})
}

// In generic mode the stream changes nothing.
func TestGenericGoesByNoStream(t *testing.T) {
	inMode(t, Config{}, func(b *modeBench) {
		b.fake.exit("web/app", 1, "Error")
		b.ask(b.Pause)
		b.tell(pleg.SignalStopped, "web/app")
		b.stream.breaks(unavailable(call.GetContainerEvents), nil)
		b.after(time.Minute)
		s := b.fresh()
		if s.Mode != (ModeState{}) || s.Period != time.Second || b.podOf(s, "web").Status.Containers[0].State != pleg.Running {
			t.Errorf("mode %+v, pod %+v", s.Mode, b.podOf(s, "web"))
		}
	})
}

// kubelet 1.26 to 1.36: a channel that is full makes the second health check fail, which
// stops the only reader there is. So it never ends.
func TestFullChannelOfTheEventedKubelet(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented, Capacity: 3}, func(b *modeBench) {
		b.fake.ready(false)
		b.after(20 * time.Second)
		for _, s := range []pleg.Signal{pleg.SignalStopped, pleg.SignalDeleted} {
			b.tell(s, "web/app")
		}
		b.fake.ready(true)
		b.after(time.Hour)
		s := b.fresh()
		const text = "EventedPLEG: pleg event channel capacity is full with 3 events"
		if s.Health.Healthy || s.Health.Verdict != text || s.Node.Ready || s.Node.Message != "EventedPLEG is not healthy: "+text || s.Channel.Len != 3 {
			t.Errorf("health %+v, node %+v, channel %+v", s.Health, s.Node, s.Channel)
		}
	})
}

// The kubelet's release may be told after the start.
func TestModeFollowsTheKubelet(t *testing.T) {
	w := newWorld(t, 1, Config{Mode: pleg.Evented, Follow: true, Streams: []Stream{{Source: ledger.FromCRI, On: true, Forced: true, Run: (&fakeStream{t: t}).Run}}}, answers.Policy{})
	w.mood, w.moodEnds, w.calm = 0, w.now.Add(24*time.Hour), true
	for _, tt := range []struct {
		version string
		evented bool
	}{{"v1.36.0", true}, {"v1.37.1", false}, {"v1.30.2", true}} {
		r := w.report()
		r.Kubelet.Version = tt.version
		w.step(Looked{Report: r})
		for w.m.relists.now != nil {
			w.step(w.next(w.m.due()))
		}
		if next := w.m.relists.nextAt.Sub(w.m.relists.ended); w.m.relists.count > 0 && next != w.m.relistPeriod() {
			t.Errorf("%s: the next relist is due %v after the last one", tt.version, next)
		}
		for range 400 {
			w.step(w.next(w.m.due()))
		}
		s := w.m.snapshot(w.now)
		if want := strings.TrimPrefix(tt.version, "v")[:4]; s.Release.String() != want || s.Mode.Mode != pleg.Evented || w.m.core.Evented() != tt.evented || tt.evented != (s.Period == pleg.EventedPeriod) {
			t.Errorf("%s: %v, mode %+v, period %v", tt.version, s.Release, s.Mode, s.Period)
		}
	}
}

// A pod that the stream tells of while the lists are out stays where people see it.
func TestPodAheadOfTheListsIsShown(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented}, func(b *modeBench) {
		stops := make(chan struct{})
		b.fake.script("ListContainers", behaviour{stops: stops})
		b.ask(b.RelistNow)
		b.after(time.Second)
		u := b.upstream(pleg.SignalStarted, "new")
		u.Status.PodRef = ref("new")
		b.stream.says(u)
		b.after(time.Second)
		b.fake.behave()
		close(stops)
		if s := b.after(10 * time.Second); len(s.Pods) != 2 || len(s.Workers.All) != 2 {
			t.Errorf("%d pods and %d workers, want 2", len(s.Pods), len(s.Workers.All))
		}
		if s := b.after(minutes5); len(s.Pods) != 1 || len(s.Workers.All) != 1 {
			t.Errorf("when a relist had its time: %d pods and %d workers, want 1", len(s.Pods), len(s.Workers.All))
		}
	})
}

// Who switches a source on again that was given up has it look on, and the mode stays.
func TestStreamThatWasGivenUpCanLookOn(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented}, func(b *modeBench) {
		b.stream.breaks(unavailable(call.GetContainerEvents), io.EOF)
		b.after(2 * time.Second)
		b.stream.breaks(nil, nil)
		b.ask(func() { b.SetStreams() })
		b.ask(func() { b.SetStreams(ledger.FromCRI) })
		b.after(2 * time.Second)
		if s := b.wantMode(pleg.Generic, time.Second, minutes3, "broke 5 times"); s.Sources[0].State != StreamConnected {
			t.Errorf("%+v", s.Sources[0])
		}
	})
}

// A stream that is too fast for long puts off no relist, and a pause puts off all.
func TestRelistsBesideAStreamThatIsTooFast(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented}, func(b *modeBench) {
		flood := func() {
			for range 50 {
				b.stream.says(pleg.Upstream{Skipped: 1})
				time.Sleep(100 * time.Millisecond)
			}
		}
		before := b.fresh().Relists.Count
		flood()
		if s := b.fresh(); s.Relists.Count < before+3 || s.Relists.Count > before+6 {
			t.Errorf("%d relists after %d", s.Relists.Count, before)
		}
		b.ask(b.Pause)
		before = b.fresh().Relists.Count
		flood()
		if s := b.fresh(); s.Relists.Count != before {
			t.Errorf("%d relists in the pause", s.Relists.Count-before)
		}
		b.ask(b.Resume)
		if s := b.fresh(); s.Relists.Count != before+1 {
			t.Errorf("%d relists after the pause", s.Relists.Count-before)
		}
	})
}

// What an event says of a pod comes to what is known of it: its image, too, which an event
// does not tell, and not what was deleted.
func TestMergeOfAnEvent(t *testing.T) {
	was := &pleg.Pod{PodRef: ref("a"), Sandboxes: []pleg.Sandbox{{ID: "s", State: pleg.Running}}, Containers: []pleg.Container{
		{ID: "x", Name: "x", State: pleg.Running, Image: "one"}, {ID: "y", Name: "y", State: pleg.Exited, Image: "two"},
	}}
	st := &pleg.PodStatus{
		PodRef: ref("a"), Sandboxes: []pleg.SandboxStatus{{ID: "s", State: pleg.Running}},
		Containers: []pleg.ContainerStatus{{ID: "x", Name: "x", State: pleg.Exited}},
	}
	got := merge(was, pleg.Upstream{Signal: pleg.SignalDeleted, ID: "y", Status: st})
	want := []pleg.Container{{ID: "x", Name: "x", State: pleg.Exited, Image: "one", SandboxID: "s"}}
	if !slices.Equal(got.Containers, want) || len(was.Containers) != 2 || was.Containers[0].State != pleg.Running {
		t.Errorf("%+v of %+v", got.Containers, was.Containers)
	}
	st.Containers = nil
	if got := merge(got, pleg.Upstream{Signal: pleg.SignalDeleted, ID: "s", Status: st}); len(got.Sandboxes) != 0 || len(got.Containers) != 0 {
		t.Errorf("%+v, want nothing of a sandbox that was removed", got)
	}
}

// The sandbox that a pod had before is removed long after the pod has another: that is no
// end of the pod.
func TestPodWhoseOldSandboxGoesStays(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented}, func(b *modeBench) {
		renewed := b.upstream(pleg.SignalStarted, "web")
		renewed.ID = "web-2"
		renewed.Status = pleg.Compose(ref("web"), []pleg.SandboxStatus{{ID: "web-2", Pod: ref("web"), State: pleg.Running, Attempt: 1}}, nil)
		b.stream.says(renewed)
		b.tell(pleg.SignalDeleted, "web")
		s := b.fresh()
		if len(s.Pods) != 1 || len(s.Workers.All) != 1 {
			t.Fatalf("%d pods and %d workers, want 1", len(s.Pods), len(s.Workers.All))
		}
		if p := s.Pods[0].Seen(); len(p.Sandboxes) != 1 || p.Sandboxes[0].ID != "web-2" || s.Pods[0].Status != nil {
			t.Errorf("%+v with %+v, want the new sandbox, of which the cache has nothing", p, s.Pods[0].Status)
		}
		gone := renewed
		gone.Signal = pleg.SignalDeleted
		b.stream.says(gone, b.upstream(pleg.SignalDeleted, "web/app"))
		if s := b.after(time.Second); len(s.Pods) != 0 {
			t.Errorf("%+v, want no pod", s.Pods[0].Seen())
		}
	})
}

// A stream without sense tells of ever new containers of one pod, and of ever new pods.
func TestWhatAStreamAddsToPodsIsBounded(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented}, func(b *modeBench) {
		for i := range 30 {
			for _, pod := range []string{"web", fmt.Sprint("new-", i)} {
				u := b.upstream(pleg.SignalStarted, "web")
				u.ID = pod
				u.Status.PodRef, u.Status.Sandboxes[0].ID, u.Status.Containers = ref(pod), pod, nil
				for j := range 400 {
					u.Status.Containers = append(u.Status.Containers, pleg.ContainerStatus{ID: fmt.Sprintf("%s%d%d", pod, i, j), State: pleg.Running})
				}
				b.stream.says(u)
				time.Sleep(2 * batchPace)
			}
		}
		s := b.fresh()
		if got := s.Counts.Containers; got > mostAdded+10 || got < mostAdded/2 {
			t.Errorf("%d containers, want about %d", got, mostAdded)
		}
		last := s.Pods[slices.IndexFunc(s.Pods, func(p *Pod) bool { return p.PodRef == ref("web") })].Status
		if last.Lookup().Container("web290") == nil {
			t.Errorf("status %+v, want that of the last event", last.Containers[0])
		}
		if s := b.after(minutes5); s.Counts.Containers != 1 {
			t.Errorf("%d containers after a relist, want one", s.Counts.Containers)
		}
	})
}

// Who switches off the stream that the mode goes by need not wait for its next relist.
func TestStreamThatIsSwitchedOffBringsTheRelistBack(t *testing.T) {
	inMode(t, Config{Release: 36, Mode: pleg.Evented}, func(b *modeBench) {
		before := b.fresh().Relists.Count
		b.ask(func() { b.SetStreams() })
		b.after(5 * time.Second)
		if s := b.wantMode(pleg.Generic, time.Second, minutes3, "not switched on"); s.Relists.Count < before+4 {
			t.Errorf("%d relists after %d", s.Relists.Count, before)
		}
	})
}

// Of two asks for one pod the later one counts: a relist may have begun between them.
func TestAsksForOnePod(t *testing.T) {
	var q asks
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	q.add(ask{ref("a"), early})
	q.add(ask{ref("b"), early})
	q.add(ask{ref("a"), late})
	if want := []ask{{ref("a"), late}, {ref("b"), early}}; !slices.Equal(q.waiting, want) {
		t.Errorf("%+v, want %+v", q.waiting, want)
	}
}

// Our list is made when the kubelet beside us makes its own, so that both are as old after a
// fall-back; before that is seen it is not foretold when PLEG becomes unhealthy.
func TestEventedIsInPhaseWithItsKubelet(t *testing.T) {
	const alone = 62 * time.Second // a relist of the kubelet's is seen by the look after that
	l := &looker{}
	l.report = func(n int) *evidence.Report {
		count := uint64(10)
		if time.Since(l.began) >= alone {
			count = 11
		}
		return &evidence.Report{Kubelet: evidence.Kubelet{
			Version: "v1.36.1", Metrics: evidence.Answer{Asked: true, OK: true}, Relist: evidence.Timing{Count: count}, Streams: 1,
		}}
	}
	inMode(t, Config{Mode: pleg.Evented, Release: 36, Look: l.look}, func(b *modeBench) {
		first := b.after(alone - 3*time.Second)
		if !first.Health.UnhealthyAt.IsZero() {
			t.Errorf("unhealthy at %v, though the kubelet's list may be older", first.Health.UnhealthyAt)
		}
		then := b.after(3*time.Second + lookPeriod + 2*time.Second)
		if age := then.Health.ListAge(then.At); age > lookPeriod+2*time.Second || then.Relists.Count != first.Relists.Count+1 || then.Health.UnhealthyAt.IsZero() {
			t.Errorf("list age %v after %d relists, unhealthy at %v", age, then.Relists.Count, then.Health.UnhealthyAt)
		}
		if later := b.after(time.Minute); later.Relists.Count != then.Relists.Count {
			t.Errorf("%d relists, want no more", later.Relists.Count)
		}
	})
}

// A look that is made once judges by the thresholds of its mode, and opens no stream.
func TestExamineInMode(t *testing.T) {
	examineWith(t, Config{Mode: pleg.Evented, Release: 36}, Examination{}, onePod, func(t *testing.T, _ *fakeRuntime, s *Snapshot, _ time.Duration) {
		if s.Mode.Mode != pleg.Evented || s.Threshold != pleg.EventedThreshold || !s.Health.Healthy || s.Relists.Count != 1 {
			t.Errorf("mode %+v, threshold %v, health %+v, %d relists", s.Mode, s.Threshold, s.Health, s.Relists.Count)
		}
	})
}
