package engine

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

func TestLagAndReason(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.fresh()
		if u, _ := b.Feed().Next(b.t.Context()); u.Events[0].HasLag {
			t.Errorf("an event of the first relist has a lag: %+v", u.Events[0])
		}
		b.after(200 * time.Millisecond)
		b.fake.exit("web/app", 137, "OOMKilled")
		b.fake.pod("new", "app")
		b.after(time.Second)
		e := b.podOf(b.fresh(), "web").LastEvent
		if e.Kind != pleg.Died || e.ExitCode != 137 || e.Reason != "OOMKilled" || !e.HasLag || e.Lag != 700*time.Millisecond {
			t.Errorf("last event of web = %+v, want its death, seen 700 ms late", e)
		}
		e = b.podOf(b.fresh(), "new").LastEvent
		if !e.Sandbox || e.Kind != pleg.Started || !e.HasLag || e.Lag != 700*time.Millisecond {
			t.Errorf("last event of new = %+v, want its sandbox, seen 700 ms late", e)
		}
	})
}

func TestAtStart(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	bubble(t, Config{}, onePod, func(b *bench) {
		b.fresh()
		u, _ := b.Feed().Next(b.t.Context())
		for _, e := range u.Events {
			if !e.AtStart {
				t.Errorf("not at the start, though the first relist found it: %+v", e)
			}
		}
		b.fake.pod("new", "app")
		b.after(time.Second)
		if e := b.podOf(b.fresh(), "new").LastEvent; e.AtStart {
			t.Errorf("at the start, though it came later: %+v", e)
		}
	})

	// A pod that was there, and whose inspection failed at first.
	m := machine{relists: relists{first: time.Now()}}
	seen := m.relists.first.Add(time.Minute)
	for _, tt := range []struct {
		name string
		from pleg.State
		at   time.Time
		want bool
	}{
		{"there before", pleg.Absent, old, true},
		{"another state before", pleg.Running, old, false},
		{"came since", pleg.Absent, seen.Add(-time.Second), false},
		{"nobody knows since when", pleg.Absent, time.Time{}, false},
	} {
		e := Event{SeenAt: seen, Event: pleg.Event{From: tt.from}}
		if m.date(&e, tt.at); e.AtStart != tt.want {
			t.Errorf("%s: at the start is %v", tt.name, e.AtStart)
		}
	}
}

func TestLagIsNoNonsense(t *testing.T) {
	first := time.Unix(10_000, 0)
	seen := first.Add(time.Minute)
	tests := []struct {
		name string
		at   time.Time
		want time.Duration
		ok   bool
	}{
		{"plain", seen.Add(-time.Second), time.Second, true},
		{"no stamp", time.Time{}, 0, false},
		{"a little in the future", seen.Add(skew), 0, true},
		{"far in the future", seen.Add(skew + 1), 0, false},
		{"before we looked", first.Add(-1), 0, false},
		{"as we began to look", first, time.Minute, true},
	}
	for _, tt := range tests {
		if got, ok := lag(tt.at, seen, first); got != tt.want || ok != tt.ok {
			t.Errorf("%s: lag = %v, %v, want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestHappened(t *testing.T) {
	created, started, finished := time.Unix(1, 0), time.Unix(2, 0), time.Unix(3, 0)
	st := &pleg.PodStatus{
		Sandboxes: []pleg.SandboxStatus{{ID: "s", CreatedAt: created}},
		Containers: []pleg.ContainerStatus{
			{ID: "c", CreatedAt: created, StartedAt: started, FinishedAt: finished},
			{ID: "n", CreatedAt: created, State: pleg.Created},
		},
	}
	tests := []struct {
		name  string
		event pleg.Event
		want  time.Time
	}{
		{"started", pleg.Event{ObjectRef: pleg.ObjectRef{ID: "c"}, Kind: pleg.Started}, started},
		{"died", pleg.Event{ObjectRef: pleg.ObjectRef{ID: "c"}, Kind: pleg.Died, To: pleg.Exited}, finished},
		{"vanished", pleg.Event{ObjectRef: pleg.ObjectRef{ID: "c"}, Kind: pleg.Died, To: pleg.Absent}, time.Time{}},
		{"created", pleg.Event{ObjectRef: pleg.ObjectRef{ID: "n"}, Kind: pleg.Changed, To: pleg.Unknown}, created},
		{"unknown", pleg.Event{ObjectRef: pleg.ObjectRef{ID: "c"}, Kind: pleg.Changed, To: pleg.Unknown}, time.Time{}},
		{"removed", pleg.Event{ObjectRef: pleg.ObjectRef{ID: "c"}, Kind: pleg.Removed}, time.Time{}},
		{"other container", pleg.Event{ObjectRef: pleg.ObjectRef{ID: "d"}, Kind: pleg.Started}, time.Time{}},
		{"sandbox ready", pleg.Event{ObjectRef: pleg.ObjectRef{ID: "s", Sandbox: true}, Kind: pleg.Started}, created},
		{"sandbox ready again", pleg.Event{ObjectRef: pleg.ObjectRef{ID: "s", Sandbox: true}, Kind: pleg.Started, From: pleg.Exited}, time.Time{}},
		{"sandbox died", pleg.Event{ObjectRef: pleg.ObjectRef{ID: "s", Sandbox: true}, Kind: pleg.Died, To: pleg.Exited}, time.Time{}},
	}
	for _, tt := range tests {
		if got := happened(tt.event, st, containerOf(tt.event, st.Lookup())); !got.Equal(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestUnchangedPodKeepsItsPointer(t *testing.T) {
	two := func(r *fakeRuntime) {
		r.pod("a", "app")
		r.pod("b", "app")
	}
	bubble(t, Config{}, two, func(b *bench) {
		was := b.after(5 * time.Second)
		b.fake.flip("b/app")
		now := b.after(5 * time.Second)
		if was.Pods[0] != now.Pods[0] || was.Pods[1] == now.Pods[1] {
			t.Error("want a's pointer kept and b's changed")
		}
		if was.Pods[1].Old.Containers[0].State != pleg.Running || now.Pods[1].Old.Containers[0].State != pleg.Exited {
			t.Error("an old snapshot changed, or the new one did not")
		}
		if p := now.Pods[0]; p.Current != p.Old {
			t.Error("both ends of a quiet pod's record take memory")
		}
		later := b.after(5 * time.Second)
		if &now.Pods[0] != &later.Pods[0] {
			t.Error("a list without a change was made again")
		}
	})
}

// Some runtimes list in another order each time: that is no change.
func TestPodListedInAnotherOrderKeepsItsPointer(t *testing.T) {
	bubble(t, Config{}, pairs(2), func(b *bench) {
		was := b.after(5 * time.Second)
		b.fake.mu.Lock()
		slices.Reverse(b.fake.containers)
		b.fake.mu.Unlock()
		if now := b.after(5 * time.Second); was.Pods[0] != now.Pods[0] || &was.Pods[0] != &now.Pods[0] || now.Relists.Count <= was.Relists.Count {
			t.Error("a list in another order makes other pods")
		}
		b.fake.set("p000/app", pleg.Created)
		made := b.after(5 * time.Second)
		b.fake.set("p000/app", pleg.Unknown)
		if now := b.after(5 * time.Second); made.Pods[0] == now.Pods[0] || now.Counts.Unknown != 1 {
			t.Errorf("created and unknown are shown as one: %+v", now.Counts)
		}
	})
}

func TestPodsAreSortedByNamespaceAndName(t *testing.T) {
	mixed := func(r *fakeRuntime) {
		for _, name := range []string{"c", "a", "b"} {
			r.pod(name, "app")
		}
	}
	bubble(t, Config{}, mixed, func(b *bench) {
		b.fresh()
		b.fake.remove("b")
		b.fake.pod("aa", "app")
		var got string
		for _, p := range b.after(2 * time.Second).Pods {
			got += p.Name + " "
		}
		if got != "a aa c " {
			t.Errorf("pods = %s", got)
		}
	})
}

func TestLeakedRecordsAreNotShown(t *testing.T) {
	bubble(t, Config{Release: 28}, onePod, func(b *bench) {
		b.fake.pod("doomed", "app")
		b.fake.script("ContainerStatus doomed/app", behaviour{err: unavailable(0)})
		b.after(2 * time.Second)
		b.fake.remove("doomed")
		s := b.after(4 * time.Second)
		if len(s.Pods) != 1 || s.Pods[0].Name != "web" {
			t.Errorf("pods = %v, want only web", s.Pods)
		}
		if _, _, kept := b.shell.machine.core.Record("uid-doomed"); kept || b.shell.machine.core.Cache().Len() != 1 {
			t.Error("the leaked record is still kept")
		}
	})
}

// More than a hundred changes a second must not make the engine grow, whether or not
// somebody reads.
func TestMemoryIsBounded(t *testing.T) {
	const pods = 90
	bubble(t, Config{Events: 1000}, crowd(pods), func(b *bench) {
		churn := func(seconds int) {
			for i := range seconds {
				for p := range pods {
					b.fake.flip(fmt.Sprintf("p%d/app", p))
				}
				b.fake.remove(fmt.Sprint("extra", i-1))
				b.fake.pod(fmt.Sprint("extra", i), "a", "b", "c")
				b.fake.made()
				b.after(time.Second)
			}
		}
		churn(60)
		before, from := heap(), b.last()
		churn(historyLength - 50)
		if n := b.last() - from; n < 100*(historyLength-50) {
			t.Errorf("only %d events in %d s", n, historyLength-50)
		}
		if grown := heap() - before; grown > 300_000 {
			t.Errorf("%d bytes more after another minute", grown)
		}
		if n := b.shell.machine.core.Cache().Len(); n != pods+1 {
			t.Errorf("%d pods in the cache, want %d", n, pods+1)
		}
		if n := len(b.shell.buffer.newest().Relists.History); n != historyLength {
			t.Errorf("%d relists in the history", n)
		}
		b.shell.buffer.mu.Lock()
		defer b.shell.buffer.mu.Unlock()
		if n := len(b.shell.buffer.ring.events); n != 1000 {
			t.Errorf("%d events kept", n)
		}
	})
}

// last returns how many events there were.
func (b *bench) last() uint64 {
	b.shell.buffer.mu.Lock()
	defer b.shell.buffer.mu.Unlock()
	return b.shell.buffer.ring.last
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
