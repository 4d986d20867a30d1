package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

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

// A raw answer that hangs must not make PLEG look worse than the kubelet's: it
// takes no time from the relist that the relist's own call would not take.
func TestRawThatHangsCostsTheRelistNoMore(t *testing.T) {
	two := func(r *fakeRuntime) {
		r.pod("hung", "app")
		r.pod("web", "app")
	}
	for _, deaf := range []bool{false, true} {
		bubble(t, Config{Timeout: 20 * time.Second}, two, func(b *bench) {
			b.after(500 * time.Millisecond)
			hang := behaviour{hang: !deaf}
			if deaf {
				hang.deaf = make(chan struct{})
				defer close(hang.deaf)
			}
			b.fake.script("ContainerStatus hung/app", hang)
			go b.Raw(b.t.Context(), "uid-hung")
			b.fake.flip("web/app")
			s := b.after(10 * time.Second)
			if b.podOf(s, "web").Inspected != 2 || s.Health.ListAge(s.At) > time.Second {
				t.Errorf("deaf %v: relists stand still though only Raw's object hangs: %+v", deaf, s.Health)
			}
			b.fake.flip("hung/app")
			s = b.after(10900 * time.Millisecond)
			if s.Phase.Step != Inspecting || len(s.InFlight) != 1 {
				t.Errorf("deaf %v: phase %+v, in flight %+v, want the relist to wait", deaf, s.Phase, s.InFlight)
			}
			s = b.after(11100 * time.Millisecond)
			if p := b.podOf(s, "hung"); p.Failure.InRow != 1 || p.InspectLast != 20*time.Second || !errors.Is(p.StatusErr, call.ErrDeadline) {
				t.Errorf("deaf %v: %+v, want one failure after 20 s", deaf, p)
			} else if e, ok := errors.AsType[*call.Error](p.StatusErr); !ok || e.Why != map[bool]call.Reason{false: call.Expired, true: call.OutOfTurn}[deaf] {
				t.Errorf("deaf %v: %+v", deaf, p.StatusErr)
			}
		})
	}
}
