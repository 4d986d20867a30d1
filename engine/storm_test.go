package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A storm of 100,000 events a second takes neither time from relists and keys nor memory,
// and each event that is not looked at is counted.
func TestStormStarvesNobody(t *testing.T) {
	f := &fakeStream{t: t}
	c := Config{Streams: []Stream{{Source: ledger.FromCgroup, On: true, Run: f.Run}}}
	bubble(t, c, func(r *fakeRuntime) { r.pod("web", "app") }, func(b *bench) {
		calm := b.after(5 * time.Second).Relists.Count
		n := 0
		for range 5000 {
			for range 100 {
				n++
				f.says(stopped(fmt.Sprint("foreign-", n)))
			}
			time.Sleep(time.Millisecond)
		}
		b.fake.exit("web/app", 0, "")
		f.says(stopped("web/app"))
		s := b.after(3 * time.Second)
		b.ask(func() { b.Pause() })
		if s := b.fresh(); !s.Paused {
			t.Error("a key is not heeded")
		}
		got := s.Sources[0]
		if looked := uint64(5*batch*int(time.Second/batchPace) + queueRoom); got.Received > looked+batch || got.Received < looked/2 || got.Received+got.Lost != uint64(n)+1 {
			t.Errorf("%d received and %d lost of %d", got.Received, got.Lost, n)
		}
		if s.Relists.Count < 2*calm-1 || s.UnseenMore == 0 {
			t.Errorf("%d relists after as long as %d without a storm; %d unseen more", s.Relists.Count, calm, s.UnseenMore)
		}
		if n := b.shell.machine.transitions.Size().IDs; n > ledger.MostStrangers+10 {
			t.Errorf("%d ids are kept", n)
		}
	})
}

// BenchmarkSecond is a second of a node of 110 pods with three containers each, but for its
// calls: one relist, the snapshots, and what event sources say. The time is what the
// machine needs of it: 10 ms are a hundredth of a core.
func BenchmarkSecond(b *testing.B) {
	const steps = int(time.Second / batchPace)
	for _, bb := range []struct {
		name string
		n    int // events in a step, as many as it takes at most in a storm
		says func(s *stepper, i int) pleg.Upstream
	}{
		{name: "none"},
		{"quiet", 0, nil},
		{"strangers", batch, func(_ *stepper, i int) pleg.Upstream { return stopped(fmt.Sprint("foreign-", i)) }},
		{"known", batch, func(s *stepper, i int) pleg.Upstream {
			return pleg.Upstream{Signal: pleg.Signal(i % 4), ID: s.containers[i%len(s.containers)].ID}
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := Config{Release: 36}
			if bb.name != "none" {
				c.Streams = worldStreams()
			}
			s := nodeWith(b, 110, c)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				for range steps {
					if s.now = s.now.Add(batchPace); bb.n > 0 {
						s.machine.step(s.now, s.batch(bb.n, &i, bb.says))
					}
				}
				s.machine.relists.nextAt = s.now
				s.relist()
				s.snapshot(s.now)
			}
		})
	}
}

func (s *stepper) batch(n int, i *int, says func(*stepper, int) pleg.Upstream) Streamed {
	in := Streamed{Source: ledger.FromCRI}
	for range n {
		*i++
		in.Events = append(in.Events, SourceEvent{Upstream: says(s, *i), Received: s.now})
	}
	return in
}

// BenchmarkPut is what a source's goroutine does with an event: where there is room, and
// where there is none.
func BenchmarkPut(b *testing.B) {
	for _, full := range []bool{false, true} {
		b.Run(fmt.Sprint("full=", full), func(b *testing.B) {
			l := newStreams()
			t := l.add(ledger.FromCRI, func() {})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if !full && i%batch == 0 {
					l.take()
				}
				l.put(t, stopped("foreign"), realTime{})
			}
		})
	}
}
