package engine

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

func TestValidate(t *testing.T) {
	tests := []struct {
		wrong string // part of the message; empty: valid
		edit  func(*Config)
	}{
		{"", func(*Config) {}},
		{"no runtime", func(c *Config) { c.Runtime = nil }},
		{"kubelet version 1.24", func(c *Config) { c.Release = pleg.Oldest - 1 }},
		{"relist period 1ms: want 100ms to 10m0s", func(c *Config) { c.Period = time.Millisecond }},
		{"relist threshold", func(c *Config) { c.Threshold = -1 }},
		{"timeout", func(c *Config) { c.Timeout = -1 }},
		{"capacity", func(c *Config) { c.Capacity = -1 }},
		{"kept events", func(c *Config) { c.Events = -1 }},
		{"speed -1", func(c *Config) { c.Speed = -1 }},
		{"speed NaN", func(c *Config) { c.Speed = math.NaN() }},
		{"speed +Inf", func(c *Config) { c.Speed = math.Inf(1) }},
	}
	for _, tt := range tests {
		c := Config{Runtime: newFake(t)}
		tt.edit(&c)
		_, err := New(c)
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("New returned %v, want %q", err, tt.wrong)
		}
	}
}

func TestSpeed(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	bubble(t, Config{Speed: 60, Start: start}, onePod, func(b *bench) {
		s := b.after(time.Minute + time.Millisecond)
		if !s.Started.Equal(start) || s.At.Sub(start) < time.Hour-time.Minute || s.At.Sub(start) > time.Hour+time.Second {
			t.Errorf("started %v, at %v, want an hour between", s.Started, s.At)
		}
		if n := s.Relists.Count; n < 3500 || n > 3601 {
			t.Errorf("%d relists in an hour", n)
		}
		b.fake.script("ListContainers", behaviour{hang: true})
		if s := b.after(1900 * time.Millisecond); s.Failure != nil || s.Phase.Step != Listing {
			t.Errorf("failure %+v before the deadline of two minutes", s.Failure)
		}
		if s := b.after(300 * time.Millisecond); s.Failure == nil {
			t.Error("no failure two seconds later")
		}
	})
}

// How long people wait is real time, however fast the engine's passes.
func TestSlowCallIsSlowInRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New(Config{Runtime: newFake(t), Speed: 60})
		if err != nil {
			t.Fatal(err)
		}
		s := e.shell
		s.machine.step(s.clock.now(), Tick{})
		time.Sleep(glance - time.Millisecond)
		if f := s.slow(s.clock.now()); f != (Flight{}) {
			t.Errorf("slow after 99 ms: %+v", f)
		}
		time.Sleep(2 * time.Millisecond)
		if f := s.slow(s.clock.now()); f == (Flight{}) {
			t.Error("not slow after 101 ms")
		}
	})
}

func TestOriginPlacesTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		origin := time.Now()
		time.Sleep(time.Second)
		k := newClock(Config{Speed: 10, Start: start, Origin: origin})
		if got := k.now().Sub(start); got != 10*time.Second {
			t.Errorf("the clock is %v past its start, want 10s", got)
		}
		if got := k.wait(1); got != 1 {
			t.Errorf("a nanosecond takes %v, want it rounded up", got)
		}
	})
}
