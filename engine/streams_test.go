package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A fakeStream is an event source that says what a test wants. Safe for concurrent use.
type fakeStream struct {
	t    *testing.T
	deaf chan struct{} // if it is not nil: Run returns when that is closed, whatever its context says

	mu      sync.Mutex
	deliver func(pleg.Upstream) // nil while none is open
	end     chan error
	opened  int
	quits   error // what Run returns at once; nil if it does not
}

func (f *fakeStream) Run(ctx context.Context, deliver func(pleg.Upstream)) error {
	f.mu.Lock()
	if f.deliver != nil {
		f.t.Error("a stream is opened while one is open")
	}
	f.opened++
	quits, end := f.quits, make(chan error, 1)
	if quits == nil {
		f.deliver, f.end = deliver, end
	}
	f.mu.Unlock()
	if quits != nil {
		return quits
	}
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.deliver = nil
	}()
	if f.deaf != nil {
		<-f.deaf
		return context.Cause(ctx)
	}
	select {
	case err := <-end:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// says delivers events, if a stream is open.
func (f *fakeStream) says(events ...pleg.Upstream) {
	f.mu.Lock()
	deliver := f.deliver
	f.mu.Unlock()
	if deliver == nil {
		f.t.Error("no stream is open")
		return
	}
	for _, u := range events {
		deliver(u)
	}
}

// breaks ends the stream that is open; those that come end at once with quits.
func (f *fakeStream) breaks(err, quits error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.quits = quits
	if f.deliver != nil {
		f.end <- err
	}
}

// times returns how often a stream was opened.
func (f *fakeStream) times() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened
}

func (f *fakeStream) isOpen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.deliver != nil
}

// told returns all changes so far, as "source state: reason".
func told(s *Snapshot) (lines []string) {
	for _, c := range s.SourceChanges {
		line := fmt.Sprintf("%v %v", c.Source, c.State)
		if c.Reason != "" {
			line += ": " + c.Reason
		}
		lines = append(lines, line)
	}
	return lines
}

func stopped(id string) pleg.Upstream { return pleg.Upstream{Signal: pleg.SignalStopped, ID: id} }

func TestStreamOpensBreaksAndComesBack(t *testing.T) {
	f := &fakeStream{t: t}
	c := Config{Streams: []Stream{{Source: ledger.FromCgroup, On: true, Run: f.Run}}}
	bubble(t, c, nil, func(b *bench) {
		if s := b.after(lasting / 2).Sources[0]; s.State != StreamOpening || !f.isOpen() {
			t.Errorf("after half a second: %+v", s)
		}
		b.after(lasting)
		f.says(stopped("a"), stopped("b"))
		s := b.after(heartbeat)
		if got := s.Sources[0]; got.State != StreamConnected || got.Received != 2 || got.Lost != 0 {
			t.Errorf("after a second: %+v", got)
		}
		f.breaks(errors.New("snapped"), nil)
		b.after(leastBackOff)
		s = b.fresh()
		if got := s.Sources[0]; got.State != StreamOpening || got.LastErr != "snapped" || got.Tries != 1 || f.times() != 2 {
			t.Errorf("after it broke: %+v, opened %d times", got, f.times())
		}
		s = b.after(2 * lasting)
		if diff := cmp.Diff([]string{"cgroup connected", "cgroup lost: snapped", "cgroup connected"}, told(s)); diff != "" {
			t.Errorf("changes:\n%s", diff)
		}
	})
}

// The runtime's stream waits for the version, and is refused where it does harm.
func TestStreamIsRefusedWhereItDoesHarm(t *testing.T) {
	for _, tt := range []struct {
		name    string
		version pleg.Version
		stream  Stream
		want    StreamState
	}{
		{"containerd 2", pleg.Version{RuntimeName: "containerd", RuntimeVersion: "v2.4.0"}, Stream{}, StreamConnected},
		{"containerd 1.7", pleg.Version{RuntimeName: "containerd", RuntimeVersion: "1.7.27"}, Stream{}, StreamRefused},
		{"containerd 1.6", pleg.Version{RuntimeName: "containerd", RuntimeVersion: "v1.6.9"}, Stream{}, StreamRefused},
		{"containerd of no version", pleg.Version{RuntimeName: "containerd", RuntimeVersion: "dev"}, Stream{}, StreamRefused},
		{"forced", pleg.Version{RuntimeName: "containerd", RuntimeVersion: "1.7.27"}, Stream{Forced: true}, StreamConnected},
		{"cri-o", pleg.Version{RuntimeName: "cri-o", RuntimeVersion: "1.31.0"}, Stream{}, StreamConnected},
		{"cannot be", pleg.Version{RuntimeName: "cri-o"}, Stream{Refuse: "no such thing here", Forced: true}, StreamRefused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakeStream{t: t}
			tt.stream.Source, tt.stream.On, tt.stream.Run = ledger.FromCRI, true, f.Run
			prepare := func(r *fakeRuntime) { r.version = tt.version }
			bubble(t, Config{Streams: []Stream{tt.stream}}, prepare, func(b *bench) {
				s := b.after(2 * lasting).Sources[0]
				if s.State != tt.want || f.times() != 0 != (tt.want == StreamConnected) || (s.Reason == "") != (tt.want == StreamConnected) {
					t.Errorf("%+v, opened %d times", s, f.times())
				}
			})
		})
	}
}

func TestStreamsAreSetHeldAndReleased(t *testing.T) {
	f, g := &fakeStream{t: t}, &fakeStream{t: t}
	c := Config{Streams: []Stream{{Source: ledger.FromCgroup, Run: f.Run}, {Source: ledger.FromCRI, Forced: true, On: true, Run: g.Run}}}
	bubble(t, c, nil, func(b *bench) {
		state := func(want ...StreamState) {
			t.Helper()
			for i, s := range b.after(2 * lasting).Sources {
				if s.State != want[i] {
					t.Errorf("%v is %v, want %v", s.Source, s.State, want[i])
				}
			}
			if f.isOpen() != (want[0] == StreamConnected) || g.isOpen() != (want[1] == StreamConnected) {
				t.Errorf("open: %v, %v", f.isOpen(), g.isOpen())
			}
		}
		state(StreamOff, StreamConnected)
		b.ask(func() { b.SetStreams(ledger.FromCgroup, ledger.FromRelist) }) // of which there is no stream
		state(StreamConnected, StreamOff)
		b.ask(func() { b.SetStreams(ledger.FromCgroup, ledger.FromCRI) })
		state(StreamConnected, StreamConnected)
		b.HoldStreams(b.t.Context())
		if f.isOpen() || g.isOpen() {
			t.Error("streams are open though they are held")
		}
		state(StreamOff, StreamOff)
		b.ReleaseStreams()
		state(StreamConnected, StreamConnected)
		b.ask(func() { b.SetStreams() })
		state(StreamOff, StreamOff)
	})
}

// A stream that does not end though it is to holds up nobody for longer than he has time.
func TestDeafStreamHoldsUpNobody(t *testing.T) {
	f := &fakeStream{t: t}
	c := Config{Streams: []Stream{{Source: ledger.FromCgroup, On: true, Run: f.Run}}}
	prepare := func(*fakeRuntime) { f.deaf = make(chan struct{}) }
	bubble(t, c, prepare, func(b *bench) {
		b.after(2 * lasting)
		began := time.Now()
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		b.HoldStreams(ctx)
		if took := time.Since(began); took != time.Second || !f.isOpen() {
			t.Errorf("held for %v", took)
		}
		b.ReleaseStreams()
		b.after(time.Minute)
		if f.times() != 1 {
			t.Errorf("opened %d times", f.times())
		}
		began = time.Now()
		if err := b.stop(); err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("stopped with %v after %v", err, time.Since(began))
		}
		close(f.deaf)
	})
}

// What comes is counted whatever it is; what would fill the memory is not kept.
func TestStreamThatFillsTheMemory(t *testing.T) {
	f := &fakeStream{t: t}
	c := Config{Streams: []Stream{{Source: ledger.FromCgroup, On: true, Run: f.Run}}}
	bubble(t, c, nil, func(b *bench) {
		b.after(2 * lasting)
		loopRests := func() { // it takes nothing more at this moment of the bubble's time
			f.says(pleg.Upstream{})
			synctest.Wait()
		}
		loopRests()
		large := stopped("large")
		large.Status = &pleg.PodStatus{Containers: make([]pleg.ContainerStatus, weightRoom/3)}
		wordy := stopped("wordy")
		wordy.Status = &pleg.PodStatus{Containers: []pleg.ContainerStatus{{Message: strings.Repeat("x", weightRoom/3<<10)}}}
		long := stopped(strings.Repeat("x", ledger.LongestID+1))
		f.says(large, wordy, wordy, large, long, pleg.Upstream{Skipped: 7}, pleg.Upstream{Signal: pleg.SignalStarted, ID: "a", Skipped: 2})
		if s := b.after(heartbeat).Sources[0]; s.Received != 4 || s.Lost != 1+1+7+2 {
			t.Errorf("%+v", s)
		}
		loopRests()
		f.says(large, large, large)
		if s := b.after(heartbeat).Sources[0]; s.Received != 7 {
			t.Errorf("later: %+v", s)
		}
	})
}

func TestStreamsThatCannotBe(t *testing.T) {
	run := (&fakeStream{}).Run
	for _, tt := range []struct {
		streams []Stream
		want    string
	}{
		{[]Stream{{Source: ledger.FromRelist, Run: run}}, "event source relist: want cri or cgroup"},
		{[]Stream{{Source: 99, Run: run}}, "event source unknown: want cri or cgroup"},
		{[]Stream{{Source: ledger.FromCRI}}, "event source cri: has no stream"},
		{[]Stream{{Source: ledger.FromCRI, Run: run}, {Source: ledger.FromCRI, Run: run}}, "event source cri: given twice"},
	} {
		err := Config{Runtime: newFake(t), Streams: tt.streams}.Validate()
		if err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	if err := (Config{Runtime: newFake(t), Streams: []Stream{{Source: ledger.FromCgroup, Refuse: "not allowed"}}}).Validate(); err != nil {
		t.Error(err)
	}
}

// What a stream that breaks leaves behind: one that has told something is not switched
// off, its clock is judged anew when it is back, and it has missed what happened meanwhile.
func TestStreamThatIsBackGoesOn(t *testing.T) {
	watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
		w.f.breaks(errors.New("snapped"), nil)
		w.after(2 * leastBackOff)
		u := says(pleg.SignalStarted, "web/log")
		u.At = time.Now().Add(skew - time.Millisecond)
		w.f.says(u)
		w.after(pace)
		w.f.breaks(io.EOF, nil)
		w.fake.exit("web/app", 0, "")
		if s := w.after(4 * time.Second); s.Sources[0].State != StreamConnected || s.Sources[0].Tries != 0 {
			t.Errorf("%+v", s.Sources[0])
		}
		u.At = time.Now().Add(-5 * time.Second)
		w.f.says(u)
		s := w.after(heartbeat)
		if diff := cmp.Diff([]string{"cgroup connected", "cgroup lost: snapped", "cgroup lost: EOF", "cgroup connected"}, told(s)); diff != "" || s.Sources[0].BadClock != "" {
			t.Errorf("changes:\n%s\n%+v", diff, s.Sources[0])
		}
		w.drifts(ledger.Drift{Transitions: 1, MissedBySource: 1, Late: 2})
	})
}

// A runtime that is being started again may end a stream at once before it serves it. A
// stream that has worked is broken then, and not switched off, unless the runtime says so.
func TestStreamThatHasWorkedIsNotSwitchedOff(t *testing.T) {
	off := &call.Error{Op: call.GetContainerEvents, Kind: call.ErrUnimplemented, Text: "no"}
	for _, tt := range []struct {
		name   string
		err    error
		want   string
		isBack bool
	}{
		{"closed", io.EOF, "cgroup lost: EOF", true},
		{"unimplemented", off, "cgroup not-enabled: " + off.Error(), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
				w.f.breaks(errors.New("snapped"), tt.err)
				w.after(time.Second)
				w.f.breaks(nil, nil)
				s := w.after(5 * time.Second)
				if changes := told(s); !slices.Contains(changes, tt.want) || (s.Sources[0].State == StreamConnected) != tt.isBack {
					t.Errorf("changes %q, %+v", changes, s.Sources[0])
				}
			})
		})
	}
	f := &fakeStream{t: t}
	bubble(t, Config{Streams: []Stream{{Source: ledger.FromCgroup, On: true, Run: f.Run}}}, nil, func(b *bench) {
		b.after(lasting / 2)
		f.says(stopped("a"))
		b.after(pace)
		f.breaks(errors.New("snapped"), io.EOF)
		if s := b.after(time.Second); s.Sources[0].State == StreamNotEnabled {
			t.Errorf("has said something: %+v", s.Sources[0])
		}
	})
}
