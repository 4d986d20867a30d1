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

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
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

func (b *modeBench) wantMode(want pleg.Mode, reason string) *Snapshot {
	b.t.Helper()
	s := b.fresh()
	if s.Mode.Mode != want || !strings.Contains(s.Mode.Reason, reason) || (reason == "") != (s.Mode.Reason == "") {
		b.t.Errorf("mode %+v, want %v, %q", s.Mode, want, reason)
	}
	return s
}

// kubelet 1.37, evented.go: five ends of the stream, with an error or without, however far
// apart, and none is waited after. Then it is given up for good. Period and threshold are
// the same all the time, and no end of the stream brings a relist.
func TestFallBack(t *testing.T) {
	off := &call.Error{Kind: call.ErrUnimplemented, Code: "Unimplemented"}
	tests := []struct {
		name   string
		err    error
		reason string
	}{
		{"broken", unavailable(call.GetContainerEvents), "the event stream ended 5 times"},
		{"closed each time", io.EOF, "the event stream ended 5 times: EOF"},
		{"no such stream", off, "the runtime has no event stream"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inMode(t, Config{Mode: pleg.Evented, Period: time.Minute}, func(b *modeBench) {
				before := b.fresh().Relists.Count
				b.stream.breaks(unavailable(call.GetContainerEvents), tt.err)
				b.after(10 * time.Millisecond)
				s := b.wantMode(pleg.Generic, tt.reason)
				if b.stream.times() != 5 || s.Sources[0].State != StreamFellBack || s.Relists.Count != before || s.Mode.Asked != pleg.Evented {
					t.Errorf("opened %d times, source %+v, %d relists after %d, mode %+v", b.stream.times(), s.Sources[0], s.Relists.Count, before, s.Mode)
				}
				b.stream.breaks(nil, nil)
				s = b.after(time.Hour) // a stream that is lost is opened each minute at least
				if b.stream.isOpen() || s.Period != time.Minute || s.Threshold != pleg.DefaultThreshold || s.Health.Flips != 0 {
					t.Errorf("open: %v, period %v, threshold %v, health %+v", b.stream.isOpen(), s.Period, s.Threshold, s.Health)
				}
			})
		})
	}
}

// A stream that lasts for days has its ends counted all the same.
func TestEndsOfTheStreamAreNeverForgotten(t *testing.T) {
	inMode(t, Config{Mode: pleg.Evented, Period: time.Minute}, func(b *modeBench) {
		for ends := 1; ends < pleg.StreamAttempts; ends++ {
			b.after(time.Hour)
			b.stream.breaks(io.EOF, nil)
			b.after(10 * time.Millisecond)
			if s := b.wantMode(pleg.Evented, ""); s.Mode.Attempts != ends || !b.stream.isOpen() {
				t.Errorf("after %d ends: mode %+v, open: %v", ends, s.Mode, b.stream.isOpen())
			}
		}
		b.after(time.Hour)
		b.stream.breaks(io.EOF, nil)
		b.after(10 * time.Millisecond)
		b.wantMode(pleg.Generic, "ended 5 times: EOF")
	})
}

// An end that is our doing is no end of the stream, and that of another source neither.
func TestEndsThatDoNotCount(t *testing.T) {
	other := &fakeStream{t: t}
	streams := []Stream{{Source: ledger.FromCRI}, {Source: ledger.FromCgroup, On: true, Run: other.Run}}
	inMode(t, Config{Mode: pleg.Evented, Streams: streams}, func(b *modeBench) {
		other.breaks(errors.New("snapped"), nil)
		b.HoldStreams(context.Background())
		b.after(10 * time.Second)
		b.ReleaseStreams()
		b.after(2 * time.Second)
		if s := b.wantMode(pleg.Evented, ""); s.Mode.Attempts != 0 || !b.stream.isOpen() {
			t.Errorf("mode %+v, open: %v", s.Mode, b.stream.isOpen())
		}
	})
}

// A mode whose stream is not to be had is none.
func TestModeWithoutItsStream(t *testing.T) {
	over := (&fakeStream{t: t, quits: io.EOF}).Run
	for _, tt := range []struct {
		name    string
		streams []Stream
		reason  string
	}{
		{"refused", []Stream{{Source: ledger.FromCRI, On: true, Refuse: "for a reason"}}, "for a reason"},
		{"none", nil, "not switched on"},
		{"switched off", []Stream{{Source: ledger.FromCRI, Run: over}}, "switched off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, Config{Mode: pleg.Evented, Streams: tt.streams}, onePod, func(b *bench) {
				b.after(5 * time.Second)
				(&modeBench{bench: b}).wantMode(pleg.Generic, tt.reason)
			})
		})
	}
}

// A kubelet that tells late that it is older than the mode has none of it. A stream that
// nobody asked for but the mode is closed then; one that people asked for observes on.
func TestModeOfAnOlderKubelet(t *testing.T) {
	for _, asked := range []bool{false, true} {
		l := &looker{report: func(int) *evidence.Report {
			return &evidence.Report{Kubelet: evidence.Kubelet{Version: "v1.36.1"}}
		}}
		streams := []Stream{{Source: ledger.FromCRI, On: asked}}
		inMode(t, Config{Mode: pleg.Evented, Follow: true, Look: l.look, Streams: streams}, func(b *modeBench) {
			b.after(5 * time.Second)
			if s := b.wantMode(pleg.Generic, "kubelet 1.37, not of 1.36"); s.Release != 36 || b.stream.isOpen() != asked {
				t.Errorf("asked for: %v: release %v, source %+v", asked, s.Release, s.Sources[0])
			}
		})
	}
}

// kubelet 1.37: an end is looked into at once, and only in that pod.
func TestEndAsksForARelist(t *testing.T) {
	inMode(t, Config{Mode: pleg.Evented, Period: time.Minute}, func(b *modeBench) {
		b.fake.pod("other", "app")
		b.fake.made()
		b.tell(pleg.SignalStarted, "web/app")
		if made := b.fake.made(); len(made) > 0 {
			t.Errorf("a start: calls %q", made)
		}
		b.fake.exit("web/app", 0, "Completed")
		b.tell(pleg.SignalStopped, "web/app")
		b.tell(pleg.SignalStopped, "web/app")
		want := []string{
			"ListPodSandbox uid-web", "ListContainers uid-web", "PodSandboxStatus web", "ContainerStatus web/app",
			"ListPodSandbox uid-web", "ListContainers uid-web", // again, and there is no change
		}
		if made := b.fake.made(); !slices.Equal(made, want) {
			t.Errorf("calls %q, want %q", made, want)
		}
		s := b.wantMode(pleg.Evented, "")
		if e := b.events(); e[len(e)-1] != "ContainerDied web/app" || s.Mode.Asks != 2 || s.Mode.Ignored != 1 || s.Relists.Count != 1 || b.podOf(s, "web").Reinspect {
			t.Errorf("events %q, mode %+v, %d relists", e, s.Mode, s.Relists.Count)
		}
	})
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
		"broken": {errors.New("refused"), 5 * time.Second, "ended 5 times", []string{
			"cri connected", "cri lost: snapped", "cri lost: refused", "cri fell-back: the event stream ended 5 times: refused", "cri connected",
		}},
		"not enabled": {off, time.Minute, "no event stream", []string{
			"cri connected", "cri lost: snapped", "cri not-enabled: the runtime has no event stream",
			"cri fell-back: the runtime has no event stream", "cri connected",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			streams := []Stream{{Source: ledger.FromCRI, On: true}}
			inMode(t, Config{Mode: pleg.Evented, Streams: streams}, func(b *modeBench) {
				b.stream.breaks(errors.New("snapped"), tt.err)
				b.after(10 * time.Millisecond)
				if s := b.wantMode(pleg.Generic, tt.reason); s.Sources[0].State != StreamFellBack {
					t.Errorf("%+v", s.Sources[0])
				}
				b.stream.breaks(nil, nil)
				b.after(tt.wait)
				asks := b.fresh().Mode.Asks
				blink := pleg.Upstream{Signal: pleg.SignalStarted, ID: "web/blink", Pod: ref("web")}
				b.stream.says(blink)
				blink.Signal = pleg.SignalStopped
				b.stream.says(blink)
				s := b.after(5 * time.Second)
				if e := b.events(); len(e) < 2 || e[len(e)-2] != "ContainerStarted web" || e[len(e)-1] != "ContainerDied web" {
					t.Errorf("events %q", e)
				}
				if diff := cmp.Diff(tt.told, told(s)); diff != "" || s.Mode.Mode != pleg.Generic || s.Mode.Reason == "" || s.Mode.Asks != asks {
					t.Errorf("mode %+v, changes (-want +got):\n%s", s.Mode, diff)
				}
			})
		})
	}
}

// A stream that only the mode has asked for rests after the fall-back until people ask
// for it.
func TestStreamOfTheModeAloneRestsAfterTheFallBack(t *testing.T) {
	inMode(t, Config{Mode: pleg.Evented}, func(b *modeBench) {
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

// A stream that is refused is told of as refused, and as given up: the mode has fallen back.
func TestRefusedStreamFallsBack(t *testing.T) {
	for _, mode := range []pleg.Mode{pleg.Generic, pleg.Evented} {
		stream := &fakeStream{t: t}
		c := Config{Mode: mode, Streams: []Stream{{Source: ledger.FromCRI, On: true, Run: stream.Run}}}
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

// kubelet 1.36, workerLoopIteration: what was asked before the last good list began is
// skipped, what was asked after it is not, and what comes while 200 wait is lost. A pause
// holds all of it.
func TestAsksOfTheStream(t *testing.T) {
	inMode(t, Config{Mode: pleg.Evented, Period: 10 * time.Minute}, func(b *modeBench) {
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
