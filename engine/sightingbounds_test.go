package engine

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// An id that is used again has sightings of its own.
func TestSightingsOfAnIDThatIsUsedAgain(t *testing.T) {
	watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
		for range 2 {
			w.fake.exit("web/app", 0, "")
			w.f.says(stopped("web/app"))
			w.after(time.Second)
			w.wants("a death", "delivered ContainerDied web/app app cgroup 500ms")
			w.fake.flip("web/app")
			w.after(time.Second)
			w.wants("a start", "delivered ContainerStarted web/app app relist")
		}
		w.drifts(ledger.Drift{Transitions: 2, Both: 2})
	})
}

// What runs beside this runtime's containers on the machine is another's: it is told by
// the kernel alone, and the relist has missed nothing. What was over before a relist may
// have been this one's, and so may what runs while the lists hang.
func TestContainersOfAnotherRuntime(t *testing.T) {
	started := says(pleg.SignalStarted, "other")
	ends := func(ran time.Duration) pleg.Upstream {
		u := stopped("other")
		u.Ran = ran
		return u
	}
	for name, tt := range map[string]struct {
		play func(*watching)
		want []string
	}{
		"it runs":                    {func(w *watching) { w.f.says(started) }, nil},
		"it ends later":              {func(w *watching) { w.f.says(started); w.after(3100 * time.Millisecond); w.f.says(stopped("other")) }, nil},
		"it ran before the source":   {func(w *watching) { w.f.says(ends(time.Hour)) }, nil},
		"it ran for the first lists": {func(w *watching) { w.f.says(ends(ledger.Patience)) }, nil},
		"it ends soon": {func(w *watching) {
			w.f.says(started)
			w.after(2900 * time.Millisecond)
			w.f.says(ends(2900 * time.Millisecond))
		},
			[]string{"unseen ContainerStarted other cgroup", "unseen ContainerDied other cgroup"}},
		"nobody says how long": {func(w *watching) { w.f.says(stopped("other")) }, []string{"unseen ContainerDied other cgroup"}},
		"the lists hang": {func(w *watching) {
			w.fake.script("ListContainers", behaviour{hang: true})
			w.after(time.Second)
			w.f.says(started)
		}, []string{"unseen ContainerStarted other cgroup"}},
		"it is listed at last": {func(w *watching) {
			w.f.says(says(pleg.SignalStarted, "late"))
			w.after(5 * time.Second)
			w.fake.pod("late")
		}, []string{"delivered ContainerStarted late cgroup 5.5s", "derived NetworkSetUp late relist"}},
	} {
		t.Run(name, func(t *testing.T) {
			watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
				w.after(time.Second)
				tt.play(w)
				w.after(10 * time.Second)
				w.wants(name, tt.want...)
				want := ledger.Drift{}
				if tt.want != nil && tt.want[0][0] == 'd' {
					want = ledger.Drift{Transitions: 1, Both: 1}
				} else if n := uint64(len(tt.want)); n > 0 {
					want = ledger.Drift{Transitions: n, MissedByRelist: n}
				}
				w.drifts(want)
			})
		})
	}
}

// A source has missed what happened while it watched, and nothing else: what an inspection
// says happened before, or may have, it could not see.
func TestASourceHasMissedOnlyWhatItWasThereFor(t *testing.T) {
	broken := &call.Error{Op: call.ContainerStatus, Kind: call.ErrOther, Text: "broken"}
	for name, tt := range map[string]struct {
		period time.Duration
		play   func(*watching)
		missed uint64
	}{
		"before it watched, in the same relist": {20 * time.Second, func(w *watching) {
			w.ask(func() { w.SetStreams() })
			w.after(time.Second)
			w.fake.down("web") // when, nobody says
			w.ask(func() { w.SetStreams(ledger.FromCgroup) })
		}, 0},
		"before it watched, and inspected late": {time.Second, func(w *watching) {
			w.fake.script("ContainerStatus web/app", behaviour{err: broken})
			w.ask(func() { w.SetStreams() })
			w.fake.exit("web/app", 0, "")
			w.ask(func() { w.SetStreams(ledger.FromCgroup) })
			w.after(10 * time.Second)
			w.fake.behave()
		}, 0},
		"relisted alone, after a list that it watched": {20 * time.Second, func(w *watching) {
			w.ask(func() { w.SetStreams() })
			w.after(time.Second)
			w.ask(func() { w.SetStreams(ledger.FromCgroup) })
			w.after(25 * time.Second)
			w.fake.exit("web/app", 0, "")
			w.ask(func() { w.Reinspect("uid-web") })
		}, 1},
		"while it watched": {time.Second, func(w *watching) { w.fake.exit("web/app", 0, "") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			watch(t, Config{Period: tt.period}, ledger.FromCgroup, func(w *watching) {
				tt.play(w)
				w.after(40 * time.Second)
				w.drifts(ledger.Drift{Transitions: tt.missed, MissedBySource: tt.missed})
			})
		})
	}
}
