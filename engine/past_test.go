package engine

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Each spell is remembered with the moments at which the verdict turned, however short.
func TestSpellsAreRemembered(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.after(10 * time.Second)
		for range 2 {
			b.fake.script("ListPodSandbox", behaviour{err: &call.Error{Kind: call.ErrOther, Code: "Unknown"}})
			b.after(3*time.Minute + 2*time.Second)
			b.fake.behave()
			b.after(10 * time.Second)
		}
		s := b.fresh()
		if len(s.Memory.Spells) != 2 || s.Health.Flips != 4 {
			t.Fatalf("spells %+v after %d turns", s.Memory.Spells, s.Health.Flips)
		}
		if last := s.Memory.Spells[1]; !last.Ended.Equal(s.Health.Since) || last.Ended.Sub(last.Began) > 3*time.Second {
			t.Errorf("last spell %+v, want one until %v", last, s.Health.Since)
		}
		if out := s.Memory.Outages; len(out.ListsFailed) != 2 || out.Times != nil || out.Away || out.Failed != 0 || out.ListBack.Before(s.Memory.Spells[1].Began) {
			t.Errorf("outages %+v", out)
		}
	})
}

// What the channel has no room for is remembered, but not what the first relist makes of
// a node that has long been up.
func TestLossesAreRemembered(t *testing.T) {
	bubble(t, Config{Capacity: 4}, func(r *fakeRuntime) {
		r.ready(false)
		crowd(8)(r)
	}, func(b *bench) {
		first := b.fresh()
		if first.Channel.Discarded == 0 && first.Channel.Len == 4 || first.Memory.Losses != nil {
			t.Fatalf("channel %+v, losses %+v after the first relist", first.Channel, first.Memory.Losses)
		}
		before := b.after(6 * time.Second).Channel.Discarded
		for _, id := range []string{"p0/app", "p1/app", "p2/app", "p3/app", "p4/app", "p5/app"} {
			b.fake.exit(id, 1, "Error")
		}
		s := b.after(time.Second)
		lost := s.Channel.Discarded - before
		if l := s.Memory.Losses; lost == 0 || l == nil || l.Total != lost || l.Unnamed() != 0 {
			t.Errorf("losses %+v, want %d", l, lost)
		}
	})
}

// Since when containers run without their sandbox is the pod's to know.
func TestOrphansAreRemembered(t *testing.T) {
	inSandbox := func(r *fakeRuntime) {
		onePod(r)
		r.containers[0].SandboxID = "web"
	}
	bubble(t, Config{}, inSandbox, func(b *bench) {
		set := func(state pleg.State) {
			b.fake.mu.Lock()
			defer b.fake.mu.Unlock()
			b.fake.sandboxes[0].State = state
		}
		if p := b.podOf(b.fresh(), "web"); !p.Orphaned.IsZero() {
			t.Errorf("orphaned since %v", p.Orphaned)
		}
		set(pleg.Exited)
		s := b.after(time.Second)
		since := b.podOf(s, "web").Orphaned
		b.fake.pod("other", "app")
		if again := b.podOf(b.after(5*time.Second), "web").Orphaned; since.IsZero() || !again.Equal(since) || s.At.Sub(since) > time.Second {
			t.Errorf("orphaned since %v, and later since %v", since, again)
		}
		set(pleg.Running)
		if p := b.podOf(b.after(time.Second), "web"); !p.Orphaned.IsZero() {
			t.Errorf("still orphaned since %v", p.Orphaned)
		}
	})
}

// missing is a look that finds a kubelet, and no process of the container web/app.
func missing(int) *evidence.Report {
	return &evidence.Report{Processes: evidence.Processes{
		Containers: map[string][]evidence.Process{"web/log": {{PID: 7}}}, Daemons: []evidence.Process{{PID: 8, Command: "kubelet"}},
	}}
}

// A check remembers as well as a running engine.
func TestLooksAreRemembered(t *testing.T) {
	two := func(r *fakeRuntime) { r.pod("web", "app", "log") }
	l := &looker{report: missing}
	bubble(t, Config{Look: l.look}, two, func(b *bench) {
		first := b.after(lookPeriod + time.Second)
		s := b.after(lookPeriod)
		m, since := s.Memory, first.Memory.Missed["web/app"]
		if len(m.Missed) != 1 || since.IsZero() || !m.Missed["web/app"].Equal(since) || m.LookBefore != first.Evidence || m.Kubelet.Process.PID != 8 {
			t.Errorf("remembered %+v", m)
		}
	})
	l = &looker{report: missing}
	examineWith(t, Config{Look: l.look}, Examination{}, two, func(t *testing.T, _ *fakeRuntime, s *Snapshot, _ time.Duration) {
		if s.Memory.Kubelet.Process.PID != 8 || s.Memory.IdleSince.IsZero() || len(s.Memory.Status) == 0 || len(s.Memory.Lists) != 1 {
			t.Errorf("a check remembers %+v", s.Memory)
		}
	})
}

// Inspections that failed and succeed by themselves, and how the calls about the whole
// runtime went.
func TestCallsAreRemembered(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.fake.script("Status", behaviour{delay: 300 * time.Millisecond})
		s := b.after(20 * time.Second)
		if m := s.Memory; len(m.Status) != 3 || m.Status[2] != 300*time.Millisecond || len(m.Lists) != 2 || m.Lists[1].Of(call.ListContainers) != 100 || s.At.Sub(m.IdleSince) < 19*time.Second {
			t.Errorf("remembered %+v", m)
		}
		b.fake.behave()
		for i, kind := range []call.Kind{call.ErrOther, call.ErrNotFound, call.ErrUnavailable} {
			b.fake.script("ContainerStatus", behaviour{err: &call.Error{Kind: kind, Code: "Unknown"}})
			b.fake.flip("web/app")
			b.after(3 * time.Second)
			b.fake.behave()
			s = b.after(3 * time.Second)
			if got, want := len(s.Memory.Recoveries), []int{1, 1, 2}[i]; got != want || len(s.Memory.Outages.Times) != 0 {
				t.Errorf("after %v: %d recoveries, want %d; outages %+v", kind, got, want, s.Memory.Outages)
			}
		}
		b.fake.script("ListContainers", behaviour{hang: true})
		if s := b.after(25 * time.Second); !s.Memory.IdleSince.IsZero() {
			t.Errorf("idle since %v while a list hangs", s.Memory.IdleSince)
		}
	})
}

// Calls that find nobody side by side are one outage, and it lasts until a list or Status
// is answered.
func TestOutagesAreRemembered(t *testing.T) {
	away := behaviour{err: &call.Error{Kind: call.ErrUnavailable, Code: "Unavailable"}}
	bubble(t, Config{}, onePod, func(b *bench) {
		b.after(7 * time.Second)
		for i := range 4 {
			for _, op := range []string{"Version", "Status", "ListPodSandbox"} {
				b.fake.script(op, away)
			}
			s := b.after(12 * time.Second)
			if out := s.Memory.Outages; len(out.Times) != i+1 || !out.Away {
				t.Errorf("outages %+v, while the runtime is away for the %d. time", out, i+1)
			}
			b.fake.behave()
			s = b.after(12 * time.Second)
			if out := s.Memory.Outages; out.Away || s.At.Sub(out.ListBack) < 10*time.Second {
				t.Errorf("outages %+v, when it is back", out)
			}
		}
		s := b.fresh()
		if all, since := s.Memory.Outages.Since(time.Minute, s.At); len(all) != 2 || since.Failed < 20 || since.All <= since.Failed {
			t.Errorf("in the last minute %+v: %+v", all, since)
		}
	})
}

// A probe that finds nobody is no outage of its own beside another: until a list or Status
// is answered it is the same one.
func TestOneOutageUntilAnAnswer(t *testing.T) {
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	m := &machine{calls: calls{sums: answers.NewSums(start)}}
	for i, op := range []call.Operation{call.Version, call.Status, call.Status, call.Status} {
		m.now = start.Add(time.Duration(i) * time.Second)
		r := Returned{At: m.now}
		if i != 2 {
			r.Err = &call.Error{Kind: call.ErrUnavailable, Code: "Unavailable"}
		}
		m.calls.sums.Ended(call.Flight{Op: op, Since: m.now}, r.At, r.Trace, r.err())
		m.memory.outages(m)
		m.memory.outages(m)
		if out := m.memory.Read().Outages; len(out.Times) != []int{1, 1, 1, 2}[i] || out.Away != (i != 2) {
			t.Errorf("after %d answers: %+v", i+1, out)
		}
	}
}
