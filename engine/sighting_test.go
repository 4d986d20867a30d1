package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A watching is an engine with one event source beside the relist, on a runtime with the
// pod web, whose containers app and log run.
type watching struct {
	*bench
	f    *fakeStream
	read uint64 // the last event that news has returned
}

func watch(t *testing.T, c Config, source ledger.Source, test func(*watching)) {
	f := &fakeStream{t: t}
	c.Streams = append(c.Streams, Stream{Source: source, On: true, Run: f.Run})
	prepare := func(r *fakeRuntime) { r.pod("web", "app", "log") }
	bubble(t, c, prepare, func(b *bench) {
		w := &watching{bench: b, f: f}
		b.after(2500 * time.Millisecond) // half way between two relists
		w.news()
		test(w)
	})
}

// news returns the events since the last time, with who saw them.
func (w *watching) news() []string {
	w.shell.buffer.mu.Lock()
	defer w.shell.buffer.mu.Unlock()
	r := &w.shell.buffer.ring
	events, _ := r.between(w.read, r.last)
	w.read = r.last
	var lines []string
	for _, e := range events {
		line := fmt.Sprintf("%v %v %v", e.Delivery, e.Kind, e.ID)
		if e.Pod.UID != "" && e.Container != "" {
			line += " " + e.Container
		}
		by, _ := e.Seen.First()
		line += " " + by.String()
		if lead, ok := e.Seen.Lead(by); ok && by != ledger.FromRelist {
			line += " " + lead.String()
		}
		lines = append(lines, line)
	}
	return lines
}

func (w *watching) wants(what string, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.news()); diff != "" {
		w.t.Errorf("%s: events (-want +got):\n%s", what, diff)
	}
}

// drifts compares what the drift is in a second, but for the leads.
func (w *watching) drifts(want ledger.Drift) ledger.Drift {
	w.t.Helper()
	s := w.after(heartbeat)
	got := s.Drift[len(s.Drift)-1]
	want.Source, want.LeadP50, want.LeadP99 = got.Source, got.LeadP50, got.LeadP99
	if got != want {
		w.t.Errorf("drift is %+v\nwant     %+v", got, want)
	}
	return got
}

func says(signal pleg.Signal, id string) pleg.Upstream { return pleg.Upstream{Signal: signal, ID: id} }

// Each transition is seen twice: the event says who was first, and by how much.
func TestEventSaysWhoSawItFirst(t *testing.T) {
	watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
		w.fake.exit("web/app", 0, "Completed")
		w.f.says(stopped("web/app"), stopped("web/app"))
		w.after(time.Second)
		w.wants("a death that both saw", "delivered ContainerDied web/app app cgroup 500ms")
		d := w.drifts(ledger.Drift{Transitions: 1, Both: 1, Duplicates: 1})
		if half := 500 * time.Millisecond; d.LeadP50 < half || d.LeadP50 > half+10*time.Millisecond || d.LeadP99 != d.LeadP50 {
			t.Errorf("leads %v and %v", d.LeadP50, d.LeadP99)
		}
		kept, _ := w.shell.buffer.ring.between(0, w.read)
		e := kept[len(kept)-1]
		if _, first := e.Seen.First(); !e.SeenAt.Equal(first) || !e.HasLag || e.Lag != 0 {
			t.Errorf("seen at %v, lag %v: %+v", e.SeenAt, e.Lag, e.Seen)
		}
	})
}

func TestEventsOfAnEngineWithoutSourcesSayNobody(t *testing.T) {
	bubble(t, Config{}, func(r *fakeRuntime) { r.pod("web", "app") }, func(b *bench) {
		b.after(time.Second)
		b.fake.exit("web/app", 0, "")
		s := b.after(2 * time.Second)
		kept, _ := b.shell.buffer.ring.between(0, b.shell.buffer.ring.last)
		if e := kept[len(kept)-1]; e.Kind != pleg.Died || e.Seen != nil || s.Drift != nil || s.Sources != nil {
			t.Errorf("%+v, drift %+v", e, s.Drift)
		}
	})
}

// What began and ended between two relists is told all the same, in its order.
func TestWhatIsTooShortForTheRelistIsToldAsUnseen(t *testing.T) {
	watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
		w.f.says(says(pleg.SignalStarted, "web/job"), stopped("web/job"))
		w.fake.mu.Lock()
		w.fake.containers = append(w.fake.containers, pleg.ListedContainer{
			Pod: ref("web"), Container: pleg.Container{ID: "web/job", Name: "job", State: pleg.Exited, CreatedAt: time.Now()},
		})
		w.fake.mu.Unlock()
		w.f.says(says(pleg.SignalStarted, "web/blink"), stopped("web/blink"))
		w.after(time.Second)
		w.wants("the relist sees but an end",
			"unseen ContainerStarted web/job job cgroup", "delivered ContainerDied web/job job cgroup 500ms")
		w.after(3 * time.Second)
		w.wants("the relist sees nothing", "unseen ContainerStarted web/blink cgroup", "unseen ContainerDied web/blink cgroup")
		w.drifts(ledger.Drift{Transitions: 4, Both: 1, MissedByRelist: 3})
		if s := w.fresh(); s.Sources[0].Unknown != 2 || s.Sources[0].Received != 4 {
			t.Errorf("%+v", s.Sources[0])
		}
	})
}

// While every call hangs, a death is told as what the kubelet cannot see. When the lists
// are answered again the ordinary event follows, and the relist has missed nothing.
func TestDeathWhileEveryCallHangs(t *testing.T) {
	watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
		stops := make(chan struct{})
		for _, op := range []string{"ListPodSandbox", "ListContainers", "Version", "Status"} {
			w.fake.script(op, behaviour{stops: stops})
		}
		w.after(2 * time.Second)
		w.fake.exit("web/app", 137, "OOMKilled")
		w.f.says(stopped("web/app"))
		w.after(ledger.Patience - time.Millisecond)
		w.wants("before the relist had its time")
		w.after(time.Millisecond)
		w.wants("while calls hang", "unseen ContainerDied web/app app cgroup")
		w.drifts(ledger.Drift{Transitions: 1, MissedByRelist: 1})
		w.fake.behave()
		close(stops)
		w.after(1100 * time.Millisecond)
		if news := w.news(); len(news) != 1 || news[0] != "delivered ContainerDied web/app app cgroup 4s" {
			t.Errorf("afterwards: %q", news)
		}
		w.drifts(ledger.Drift{Transitions: 1, Both: 1})
	})
}

// What the relist sees and a source does not is missed after three seconds; what comes
// after the relist is late.
func TestSourceThatIsLateOrMissesThings(t *testing.T) {
	watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
		w.fake.exit("web/app", 0, "")
		w.fake.exit("web/log", 0, "")
		w.after(time.Second)
		w.f.says(stopped("web/app"))
		w.drifts(ledger.Drift{Transitions: 1, Both: 1, Late: 1})
		w.after(ledger.Patience)
		d := w.drifts(ledger.Drift{Transitions: 2, Both: 1, MissedBySource: 1, Late: 1})
		if d.LeadP50 > -490*time.Millisecond || d.LeadP50 < -510*time.Millisecond {
			t.Errorf("lead %v", d.LeadP50)
		}
		w.f.says(stopped("web/log"))
		w.drifts(ledger.Drift{Transitions: 2, Both: 1, MissedBySource: 1, Late: 2})
		w.news()
		w.after(ledger.Lasts + time.Minute)
		w.f.says(stopped("web/log")) // nobody remembers, but the record has it
		w.drifts(ledger.Drift{Transitions: 2, Both: 1, MissedBySource: 1, Late: 3})
		w.after(2 * ledger.Patience)
		w.wants("late news is none")
	})
}

func TestStrangersAreToldUpToABound(t *testing.T) {
	watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
		const n = 4 * ledger.MostStrangers
		for i := range n {
			w.f.says(stopped(fmt.Sprint("foreign-", i)))
			if i%64 == 0 {
				time.Sleep(batchPace)
			}
		}
		w.fake.exit("web/app", 0, "")
		w.f.says(stopped("web/app"))
		w.after(10 * time.Second)
		unseen, known := 0, 0
		for _, line := range w.news() {
			if line[:6] == "unseen" {
				unseen++
			} else {
				known++
			}
		}
		s := w.fresh()
		if state := s.Sources[0]; unseen != ledger.MostUnseen || known != 1 || s.UnseenMore != n-ledger.MostUnseen || state.Unknown != n || state.Received != n+1 {
			t.Errorf("%d unseen, %d more, %d known: %+v", unseen, s.UnseenMore, known, state)
		}
		g := &w.shell.machine.transitions
		if held := g.Size(); held.IDs > ledger.MostStrangers+2 || held.Untold+held.Unjudged+held.Owed > 0 {
			t.Errorf("%+v", held)
		}
		w.ask(w.Resume) // nothing, but the engine goes on only after what was read
		w.after(ledger.Lasts + time.Second)
		w.f.says(stopped("web/log"))
		w.after(time.Second)
		if n := g.Size().IDs; n > 1 {
			t.Errorf("%d ids are kept though nothing was heard of them", n)
		}
	})
}

// What a stream tells of the past is counted. It is told of a container that is still
// there and has changed, with no word on how far ahead that was.
func TestBacklogIsRecognised(t *testing.T) {
	watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
		w.fake.exit("web/app", 0, "")
		w.after(time.Second)
		w.news()
		w.ask(func() { w.SetStreams() })
		w.ask(func() { w.SetStreams(ledger.FromCgroup) })
		past := func(u pleg.Upstream) pleg.Upstream {
			u.At = time.Now().Add(-time.Minute)
			return u
		}
		w.f.says(past(says(pleg.SignalStarted, "long-gone")), past(stopped("long-gone")), past(says(pleg.SignalStarted, "web/log")))
		w.fake.exit("web/log", 0, "")
		w.f.says(past(stopped("web/log")))
		w.after(10 * time.Second)
		w.wants("a backlog", "delivered ContainerDied web/log log cgroup 500ms")
		d := w.drifts(ledger.Drift{Transitions: 1, Both: 1})
		if s := w.fresh().Sources[0]; s.Backlog != 4 || s.BadClock != "" || d.LeadP50 != 0 {
			t.Errorf("%+v, lead %v", s, d.LeadP50)
		}
	})
}

func TestClockThatMakesNoSenseIsNotGoneBy(t *testing.T) {
	for _, tt := range []struct {
		name string
		off  []time.Duration
		want string
	}{
		{"right", []time.Duration{-time.Millisecond, -time.Second, -500 * time.Millisecond}, ""},
		{"ahead", []time.Duration{time.Hour}, "its clock is 1h0m0s ahead of this one"},
		{"behind", []time.Duration{-time.Hour}, "its clock is 1h0m0s behind this one"},
		{"backwards", []time.Duration{0, -time.Minute}, "its clock has gone back by 1m0s"},
		{"told once", []time.Duration{time.Hour, 0, -time.Hour}, "its clock is 1h0m0s ahead of this one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
				w.after(time.Second)
				for i, off := range tt.off {
					u := stopped(fmt.Sprint("foreign", i))
					u.At = time.Now().Add(off)
					w.f.says(u)
				}
				s := w.after(10 * time.Second)
				if got := s.Sources[0]; got.BadClock != tt.want || got.Backlog != 0 {
					t.Errorf("%+v, want %q", got, tt.want)
				}
				kept, _ := w.shell.buffer.ring.between(w.read, w.shell.buffer.ring.last)
				if e := kept[0]; e.HasLag != (tt.want == "" || tt.name == "backwards") {
					t.Errorf("lag %v, %v", e.Lag, e.HasLag)
				}
			})
		})
	}
}

// A long period is no reason to tell what the next relist will see; neither is a pause.
func TestRelistHasItsTime(t *testing.T) {
	watch(t, Config{Period: 20 * time.Second}, ledger.FromCgroup, func(w *watching) {
		w.fake.exit("web/app", 0, "")
		w.f.says(stopped("web/app"))
		w.after(19 * time.Second)
		w.wants("a long period", "delivered ContainerDied web/app app cgroup 17.5s")
		w.ask(w.Pause)
		w.fake.exit("web/log", 0, "")
		w.f.says(stopped("web/log"))
		w.after(5 * time.Minute)
		w.wants("a pause")
		w.ask(w.Resume)
		w.after(time.Second)
		w.wants("after a pause", "delivered ContainerDied web/log log cgroup 5m0s")
	})
}

// A runtime that lists an end two seconds after the kernel told it is late, and no relist
// has missed anything: there is one event, whenever the relists come, and nothing unseen.
func TestRuntimeThatIsLateIsWaitedFor(t *testing.T) {
	for phase := time.Duration(0); phase < time.Second; phase += 90 * time.Millisecond {
		watch(t, Config{}, ledger.FromCgroup, func(w *watching) {
			w.fake.script("ListContainers", behaviour{delay: 60 * time.Millisecond})
			w.after(phase)
			w.f.says(stopped("web/app"))
			w.after(2 * time.Second)
			w.fake.exit("web/app", 0, "")
			w.after(10 * time.Second)
			if news := w.news(); len(news) != 1 || !strings.HasPrefix(news[0], "delivered ContainerDied web/app app cgroup") {
				t.Errorf("after %v: %q", phase, news)
			}
			w.drifts(ledger.Drift{Transitions: 1, Both: 1})
		})
	}
}
