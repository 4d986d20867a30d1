package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A stream that names a pod that is there, and containers of it that never were, fills
// neither the memory nor the list of events, however long no relist comes.
func TestStrangersOfAKnownPodAreBounded(t *testing.T) {
	watch(t, Config{}, ledger.FromCRI, func(w *watching) {
		w.ask(w.Pause)
		g := &w.shell.machine.transitions
		n := 0
		flood := func() {
			for range 3 * ledger.MostUntold / batch {
				for range batch {
					n++
					u := says(pleg.SignalStarted, fmt.Sprint("foreign-", n))
					u.Pod = ref("web")
					w.f.says(u)
				}
				time.Sleep(batchPace)
			}
		}
		flood()
		w.fresh()
		if held := g.Size(); held.Untold > ledger.MostUntold || held.Known > ledger.MostKnown {
			t.Errorf("%+v", held)
		}
		w.ask(w.Resume)
		w.after(10 * time.Second)
		if told := len(w.news()); told != ledger.MostUnseen || w.fresh().UnseenMore != uint64(n-ledger.MostUnseen) {
			t.Errorf("%d told, and %d more of %d", told, w.fresh().UnseenMore, n)
		}
	})
}

// What the first relist finds is no transition, though a source told of it before.
func TestFirstRelistTakesBackWhatItHadMissed(t *testing.T) {
	f := &fakeStream{t: t}
	var stops chan struct{}
	prepare := func(r *fakeRuntime) {
		stops = make(chan struct{})
		r.pod("web", "app")
		r.exit("web/app", 0, "")
		r.script("ListContainers", behaviour{stops: stops})
	}
	bubble(t, Config{Streams: []Stream{{Source: ledger.FromPidfd, On: true, Run: f.Run}}}, prepare, func(b *bench) {
		b.after(time.Second)
		f.says(stopped("web/app"))
		if s := b.after(5 * time.Second); s.Drift[0].MissedByRelist != 1 {
			t.Errorf("while the first lists hang: %+v", s.Drift[0])
		}
		b.fake.behave()
		close(stops)
		if s := b.after(5 * time.Second); s.Drift[0] != (ledger.Drift{Source: ledger.FromPidfd}) {
			t.Errorf("after the first relist: %+v", s.Drift[0])
		}
	})
}

// An id that is used again has sightings of its own.
func TestSightingsOfAnIDThatIsUsedAgain(t *testing.T) {
	watch(t, Config{}, ledger.FromPidfd, func(w *watching) {
		for range 2 {
			w.fake.exit("web/app", 0, "")
			w.f.says(stopped("web/app"))
			w.after(time.Second)
			w.wants("a death", "delivered ContainerDied web/app app pidfd 500ms")
			w.fake.flip("web/app")
			w.after(time.Second)
			w.wants("a start", "delivered ContainerStarted web/app app relist")
		}
		w.drifts(ledger.Drift{Transitions: 2, Both: 2})
	})
}

// What a second source tells of a transition that the relist has missed, it saw, too.
func TestSecondSourceOfWhatTheRelistHasMissed(t *testing.T) {
	f := &fakeStream{t: t}
	c := Config{Streams: []Stream{{Source: ledger.FromCgroup, On: true, Run: f.Run}}}
	watch(t, c, ledger.FromPidfd, func(w *watching) {
		f.says(stopped("web/blink"))
		w.after(5 * time.Second)
		w.f.says(stopped("web/blink"))
		w.drifts(ledger.Drift{Transitions: 1, MissedByRelist: 1})
	})
}

// An event that the relist never had says what the stream has said of it.
func TestUnseenSaysWhatTheStreamSaid(t *testing.T) {
	watch(t, Config{}, ledger.FromCRI, func(w *watching) {
		u := says(pleg.SignalStarted, "web/blink")
		u.Pod = ref("web")
		u.Status = &pleg.PodStatus{PodRef: u.Pod, Containers: []pleg.ContainerStatus{{ID: u.ID, Name: "blink", State: pleg.Running}}}
		w.f.says(u)
		w.after(5 * time.Second)
		w.wants("a start", "unseen ContainerStarted web/blink blink cri")
		u.Signal, u.Status.Containers[0] = pleg.SignalStopped, pleg.ContainerStatus{ID: u.ID, Name: "blink", State: pleg.Exited, ExitCode: 137, Reason: "OOMKilled"}
		w.f.says(u)
		w.after(5 * time.Second)
		kept, _ := w.shell.buffer.ring.between(w.read, w.shell.buffer.ring.last)
		if e := kept[0]; !e.Exited || e.ExitCode != 137 || e.Reason != "OOMKilled" {
			t.Errorf("a death: %+v", e)
		}
	})
}

// A pod that a list leaves out once comes and goes twice, each time seen anew.
func TestSightingsOfAPodThatIsListedAgain(t *testing.T) {
	watch(t, Config{}, ledger.FromPidfd, func(w *watching) {
		for i, by := range []string{"pidfd 500ms", "relist"} {
			w.fake.pod("new")
			w.after(time.Second)
			w.news()
			if i == 0 {
				w.f.says(stopped("new"))
			}
			w.fake.remove("new")
			w.after(time.Second)
			w.wants("it goes", "delivered ContainerDied new "+by, "delivered ContainerRemoved new relist")
		}
	})
}

// Of a pod that cannot be inspected nothing is known: it has its three seconds.
func TestWhatWaitsForThreeSeconds(t *testing.T) {
	watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
		w.fake.script("ContainerStatus web/app", behaviour{err: &call.Error{Op: call.ContainerStatus, Kind: call.ErrOther, Text: "broken"}})
		w.fake.exit("web/app", 1, "Error")
		w.f.says(stopped("web/app"))
		w.after(ledger.Patience - 100*time.Millisecond)
		w.wants("before")
		w.after(200 * time.Millisecond)
		w.wants("after", "unseen ContainerDied web/app app cgroup")
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

// Where relists are rare the stream says whose it is.
func TestContainersOfAnotherRuntimeBesideAStream(t *testing.T) {
	f := &fakeStream{t: t}
	c := Config{Period: time.Minute, Streams: []Stream{{Source: ledger.FromCgroup, On: true, Run: f.Run}}}
	watch(t, c, ledger.FromCRI, func(w *watching) {
		f.says(says(pleg.SignalStarted, "other"), says(pleg.SignalStarted, "blink"))
		w.after(time.Second)
		f.says(stopped("blink"))
		w.after(10 * time.Second)
		f.says(stopped("other"))
		w.after(70 * time.Second)
		w.wants("beside a stream", "unseen ContainerStarted blink cgroup", "unseen ContainerDied blink cgroup")
	})
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

// Of two sources that say when something happened the first one is gone by.
func TestTheFirstToSayWhenIsGoneBy(t *testing.T) {
	f := &fakeStream{t: t}
	watch(t, Config{Streams: []Stream{{Source: ledger.FromCgroup, On: true, Run: f.Run}}}, ledger.FromPidfd, func(w *watching) {
		for i, s := range []*fakeStream{f, w.f} {
			u := stopped("web/blink")
			u.At = time.Now().Add(-time.Duration(100-50*i) * time.Millisecond)
			s.says(u)
			w.after(100 * time.Millisecond)
		}
		w.after(5 * time.Second)
		kept, _ := w.shell.buffer.ring.between(w.read, w.shell.buffer.ring.last)
		if len(kept) != 1 || !kept[0].HasLag || kept[0].Lag != 100*time.Millisecond {
			t.Errorf("%+v", kept)
		}
	})
}

// Who is heard of again is remembered for as long again.
func TestWhoIsHeardOfAgainIsRemembered(t *testing.T) {
	watch(t, Config{}, ledger.FromPidfd, func(w *watching) {
		w.fake.exit("web/app", 0, "")
		for range 4 {
			w.f.says(stopped("web/app"))
			w.after(ledger.Lasts - time.Minute)
		}
		w.drifts(ledger.Drift{Transitions: 1, Both: 1, Duplicates: 3})
	})
}
