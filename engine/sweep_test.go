package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// pairs makes n pods of two containers each.
func pairs(n int) func(*fakeRuntime) {
	return func(r *fakeRuntime) {
		for i := range n {
			r.pod(fmt.Sprintf("p%03d", i), "app", "log")
		}
	}
}

// hang lets the status of those containers hang, quick lets all others take 5 ms.
func (r *fakeRuntime) hang(ids ...string) {
	r.script("ContainerStatus", behaviour{delay: 5 * time.Millisecond})
	r.script("PodSandboxStatus", behaviour{delay: 5 * time.Millisecond})
	for _, id := range ids {
		r.script("ContainerStatus "+id, behaviour{hang: true})
	}
}

// ids returns what those are about.
func ids(list []answers.Outcome) (all []string) {
	for _, s := range list {
		all = append(all, s.ID)
	}
	return all
}

// sweepNow asks for a sweep and returns it; it must end by then.
func (b *bench) sweepNow(within time.Duration) *answers.Sweep {
	b.t.Helper()
	b.ask(b.Sweep)
	s := b.after(within).Sweep
	if s == nil || s.Ended.IsZero() {
		b.t.Fatalf("sweep = %+v, want it over within %v", s, within)
	}
	return s
}

func TestSweepFindsTheOneThatHangs(t *testing.T) {
	bubble(t, Config{}, pairs(110), func(b *bench) {
		b.after(time.Second)
		b.fake.hang("p050/log")
		b.fake.script("ContainerStatus p100/app", behaviour{delay: 500 * time.Millisecond})
		s := b.sweepNow(4 * time.Second)
		if !slices.Equal(ids(s.Hung), []string{"p050/log"}) || s.Total != 330 || s.Done != 330 || s.Failed != nil {
			t.Errorf("sweep = %+v", s)
		}
		if h := s.Hung[0]; h.Took != 2*time.Second || h.By != call.BySweep || h.Pod != ref("p050") || !errors.Is(h.Err, call.ErrDeadline) {
			t.Errorf("hung = %+v", h)
		}
		if len(s.Slowest) != 5 || s.Slowest[0].ID != "p100/app" || s.Quickest != 5*time.Millisecond || s.Serial != 500*time.Millisecond+328*5*time.Millisecond {
			t.Errorf("slowest %+v, serial %v", s.Slowest, s.Serial)
		}
		b.fake.behave()
		if again := b.sweepNow(time.Second); again.Hung != nil || s.Hung == nil || again.Done != 330 {
			t.Errorf("the next sweep = %+v, the one before has changed to %+v", again, s)
		}
	})
}

func TestSweepAsksTwiceWhatFailed(t *testing.T) {
	bubble(t, Config{Period: MaxPeriod}, pairs(2), func(b *bench) {
		b.fake.script("ContainerStatus", behaviour{delay: 100 * time.Millisecond})
		b.fake.script("ContainerStatus p000/app", behaviour{err: unavailable(call.ContainerStatus)})
		b.fake.script("PodSandboxStatus p001", behaviour{err: notFound(call.PodSandboxStatus)})
		b.fake.made()
		b.ask(b.Sweep)
		time.Sleep(50 * time.Millisecond)
		b.fake.script("ContainerStatus p000/app", behaviour{})
		s := b.after(time.Second).Sweep
		if s.Flaky != 1 || s.Failed != nil || s.Hung != nil || s.Done != 6 {
			t.Errorf("sweep = %+v", s)
		}
		if n := len(without(b.fake.made(), call.Status)); n != 7 {
			t.Errorf("%d calls, want one for each of 6 and one again", n)
		}
	})
}

func TestSweepOfWhatARelistHangsOn(t *testing.T) {
	bubble(t, Config{}, pairs(3), func(b *bench) {
		b.after(500 * time.Millisecond)
		b.fake.script("ContainerStatus p001/app", behaviour{hang: true})
		b.fake.flip("p001/app")
		b.after(5 * time.Second)
		b.fake.made()
		s := b.sweepNow(time.Second)
		if slices.Contains(b.fake.made(), "ContainerStatus p001/app") {
			t.Error("it was asked for twice at once")
		}
		if !slices.Equal(ids(s.Hung), []string{"p001/app"}) || s.Hung[0].By != call.ByRelist || s.Hung[0].Took < 4*time.Second {
			t.Errorf("hung = %+v", s.Hung)
		}
	})
}

func TestSweepIsRefusedBySlowRuntime(t *testing.T) {
	tests := []struct {
		name   string
		key    string
		script behaviour
		after  time.Duration
		want   string
	}{
		{"Status is out", "Status", behaviour{hang: true}, 7 * time.Second, "Status: no reply for 2s"},
		{"Status was slow", "Status", behaviour{delay: 1500 * time.Millisecond}, 8 * time.Second, "the last Status took 1.5s"},
		{"all is well", "Status", behaviour{delay: 900 * time.Millisecond}, 7 * time.Second, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, Config{}, pairs(1), func(b *bench) {
				b.fake.script(tt.key, tt.script)
				b.after(tt.after)
				s := b.sweepNow(time.Second)
				if s.Refused != tt.want || s.Done != s.Total || (s.Total > 0) == (tt.want != "") {
					t.Errorf("sweep = %+v, want %q", s, tt.want)
				}
			})
		})
	}
}

func TestCancelSweep(t *testing.T) {
	bubble(t, Config{}, pairs(3), func(b *bench) {
		b.ask(b.Pause)
		b.fake.script("ContainerStatus", behaviour{hang: true})
		b.ask(b.Sweep)
		b.ask(b.Sweep)
		s := b.after(900 * time.Millisecond)
		if len(s.InFlight) != sweepWidth || s.InFlight[0].By != call.BySweep {
			t.Errorf("in flight = %+v", s.InFlight)
		}
		b.ask(b.CancelSweep)
		s = b.fresh()
		if !s.Sweep.Canceled || s.Sweep.Ended.IsZero() || len(s.InFlight) != 0 || s.Sweep.Done != 2 {
			t.Errorf("canceled: %+v, in flight %+v", s.Sweep, s.InFlight)
		}
		b.ask(b.CancelSweep)
		b.ask(b.Sweep)
		b.fresh()
		b.stop()
		if s := b.shell.buffer.newest().Sweep; !s.Canceled {
			t.Errorf("after the end of the engine: %+v", s)
		}
	})
}

func TestSweepOfADeafRuntimeEnds(t *testing.T) {
	bubble(t, Config{}, pairs(2), func(b *bench) {
		b.ask(b.Pause)
		deaf := make(chan struct{})
		defer close(deaf)
		b.fake.script("ContainerStatus", behaviour{deaf: deaf})
		s := b.sweepNow(3 * time.Second)
		if len(s.Hung) != 4 || len(b.fresh().InFlight) != 4 {
			t.Errorf("sweep = %+v", s)
		}
		b.fake.script("ContainerStatus", behaviour{})
		if s := b.sweepNow(time.Second); len(s.Hung) != 4 || s.Hung[0].Took < 3*time.Second {
			t.Errorf("the next = %+v", s)
		}
	})
}

// Of more that hang than are asked again at a time each has its turn.
func TestEachThatHangsIsAskedAgain(t *testing.T) {
	bubble(t, Config{}, pairs(200), func(b *bench) {
		b.after(time.Second)
		var stuck []string
		for i := range answers.AgainMost + 10 {
			stuck = append(stuck, fmt.Sprintf("p%03d/app", 3*i))
		}
		b.fake.hang(stuck...)
		if s := b.sweepNow(time.Minute); len(s.Hung) != len(stuck) {
			t.Fatalf("%d hang, want %d", len(s.Hung), len(stuck))
		}
		for _, id := range stuck[answers.AgainMost:] {
			b.fake.script("ContainerStatus "+id, behaviour{})
		}
		if s := b.after(90 * time.Second).Sweep; !slices.Equal(ids(s.Hung), stuck[:answers.AgainMost]) {
			t.Errorf("%d hang: %v", len(s.Hung), ids(s.Hung))
		}
	})
}

// A sweep that the engine has begun itself is the person's who asks for one meanwhile: it
// stays when what it was begun for is over.
func TestSweepThatIsAskedForStays(t *testing.T) {
	for _, asked := range []bool{false, true} {
		bubble(t, Config{}, pairs(100), func(b *bench) {
			b.after(time.Second)
			b.fake.script("ContainerStatus", behaviour{delay: 100 * time.Millisecond})
			b.fake.script("ListContainers", behaviour{delay: 5 * time.Second})
			if s := b.after(4 * time.Second).Sweep; s == nil || !s.Ended.IsZero() {
				t.Fatalf("no sweep beside the list: %+v", s)
			}
			if asked {
				b.ask(b.Sweep)
			}
			b.fake.script("ListContainers", behaviour{})
			s := b.after(10 * time.Second).Sweep
			if stays := s != nil && !s.Ended.IsZero() && s.Done == 300; stays != asked {
				t.Errorf("asked %v: sweep %+v", asked, s)
			}
		})
	}
}

// Objects that hang while everything stalls are accused of nothing before they have hung
// twice.
func TestWhatStallsTogetherAccusesNobody(t *testing.T) {
	bubble(t, Config{}, pairs(20), func(b *bench) {
		b.after(1300 * time.Millisecond)
		for op, delay := range map[call.Operation]time.Duration{call.PodSandboxStatus: 2400 * time.Millisecond, call.ContainerStatus: 2400 * time.Millisecond, call.Status: 900 * time.Millisecond} {
			b.fake.script(op.String(), behaviour{delay: delay})
		}
		b.ask(b.Sweep)
		for range 26 {
			if s := b.after(100 * time.Millisecond).Sweep; s != nil && s.Hung != nil {
				t.Fatalf("in a stall of all: hung %v", ids(s.Hung))
			}
		}
		b.fake.behave()
		b.fake.hang("p001/app")
		s := b.after(8 * time.Second).Sweep
		if !slices.Equal(ids(s.Hung), []string{"p001/app"}) {
			t.Errorf("after it: hung %v", ids(s.Hung))
		}
	})
}

func TestTwentyThatHangHideNobody(t *testing.T) {
	bubble(t, Config{}, pairs(30), func(b *bench) {
		b.after(time.Second)
		var stuck []string
		for i := range 20 {
			stuck = append(stuck, fmt.Sprintf("p%03d/app", i))
		}
		b.fake.hang(stuck...)
		b.fake.script("ContainerStatus p025/log", behaviour{err: &call.Error{Op: call.ContainerStatus, Kind: call.ErrOther, Code: "Unknown", Text: "no such task"}})
		b.ask(b.Sweep)
		half := b.after(5 * time.Second).Sweep
		if half.Done == 0 || half.Done == half.Total || !half.Ended.IsZero() || len(half.Hung) != 8 {
			t.Errorf("half way: %+v", half)
		}
		s := b.after(7 * time.Second).Sweep
		if s.Ended.IsZero() || !slices.Equal(ids(s.Hung), stuck) || !slices.Equal(ids(s.Failed), []string{"p025/log"}) || s.Done != 90 {
			t.Errorf("sweep = %+v", s)
		}
		if len(half.Hung) != 8 {
			t.Error("a published sweep was changed")
		}
	})
}
