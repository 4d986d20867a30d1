package engine

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/call"
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

// A changing clock is set to another pace beside the engine.
type changing struct{ atomic.Pointer[paced] }

func (c *changing) Now() time.Time                     { return c.Load().Now() }
func (c *changing) Real(d time.Duration) time.Duration { return c.Load().Real(d) }

func TestClockChangesItsPace(t *testing.T) {
	var clock changing
	start := func(f *fakeRuntime) { clock.Store(&paced{time.Now(), time.Now(), 1}); onePod(f) }
	bubble(t, Config{Clock: &clock}, start, func(b *bench) {
		for _, speed := range []float64{30, 1} {
			clock.Store(&paced{clock.Now(), time.Now(), speed})
			b.after(time.Second) // a snapshot may be that old
			first := b.after(time.Second)
			s := b.after(20 * time.Second)
			n, passed := s.Relists.Count-first.Relists.Count, s.At.Sub(first.At).Seconds()
			if float64(n) < passed-2 || float64(n) > passed+1 || passed < 19*speed || passed > 21*speed {
				t.Errorf("at speed %v: %d relists in %v s", speed, n, passed)
			}
		}
	})
}

// How long people wait is real time, however fast the engine's passes.
func TestSlowCallIsSlowInRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New(Config{Runtime: newFake(t), Clock: paced{time.Now(), time.Now(), 60}})
		if err != nil {
			t.Fatal(err)
		}
		s := e.shell
		s.stands = s.machine.step(s.clock.Now(), Tick{}).State
		time.Sleep(glance - time.Millisecond)
		if f := s.slow(s.clock.Now()); f != (call.Flight{}) {
			t.Errorf("slow after 99 ms: %+v", f)
		}
		time.Sleep(2 * time.Millisecond)
		if f := s.slow(s.clock.Now()); f == (call.Flight{}) {
			t.Error("not slow after 101 ms")
		}
	})
}
