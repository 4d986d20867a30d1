package sources

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

// Each transition is seen twice: the event says who was first, and by how much.
func TestWhoSawItFirst(t *testing.T) {
	p := watching(t, FromCgroup)
	p.sends(FromCgroup, stopped("web/app"), stopped("web/app"))
	p.pass(500 * time.Millisecond)
	seen := p.sees(pleg.Died, "web/app")
	by, at := seen.First()
	lead, ok := seen.Lead(FromCgroup)
	if by != FromCgroup || !at.Equal(p.now.Add(-500*time.Millisecond)) || lead != 500*time.Millisecond || !ok {
		t.Errorf("%v at %v, lead %v", by, at, lead)
	}
	if _, ok := seen.Lead(FromCRI); ok {
		t.Error("a source that does not look has a lead")
	}
	p.pass(2 * Patience)
	d := p.wantDrift(Drift{Both: 1, Duplicates: 1})
	if half := 500 * time.Millisecond; d.LeadP50 < half || d.LeadP50 > half+10*time.Millisecond || d.LeadP99 != d.LeadP50 {
		t.Errorf("leads %v and %v", d.LeadP50, d.LeadP99)
	}
	if by, at := (*Sightings)(nil).First(); by != FromRelist || !at.IsZero() {
		t.Errorf("nobody: %v, %v", by, at)
	}
	if seen := newPlay(t, Config{}).sees(pleg.Died, "web/app"); seen != nil {
		t.Errorf("without a source: %+v", seen)
	}
}

// Half of the leads are as long as LeadP50 or longer, and 99 of 100 as long as LeadP99.
func TestLeads(t *testing.T) {
	p := watching(t, FromCgroup)
	for i := range 100 {
		id, lead := fmt.Sprint("id-", i), time.Duration(i-10)*time.Millisecond
		if lead < 0 {
			p.sees(pleg.Started, id)
			p.pass(-lead)
			p.sends(FromCgroup, started(id))
		} else {
			p.sends(FromCgroup, started(id))
			p.pass(lead)
			p.sees(pleg.Started, id)
		}
	}
	p.pass(2 * Patience)
	d := p.wantDrift(Drift{Both: 100, Late: 10})
	if d.LeadP50.Round(time.Millisecond) != 39*time.Millisecond || d.LeadP99.Round(time.Millisecond) != -10*time.Millisecond {
		t.Errorf("leads %v and %v", d.LeadP50, d.LeadP99)
	}
}

// What began and ended between two relists is reported all the same, once and in its order: right
// before the event of a later step, or when the relist has had its time.
func TestWhatIsTooShortForTheRelist(t *testing.T) {
	p := watching(t, FromCgroup)
	end := stopped("web/job")
	end.At = p.now.Add(-time.Millisecond)
	end.Pod = pleg.PodRef{Namespace: "default", Name: "web", UID: "uid"}
	end.Status = &pleg.PodStatus{Containers: []pleg.ContainerStatus{{ID: "web/job", Name: "job", State: pleg.Exited, ExitCode: 137, Reason: "OOMKilled"}}}
	p.sends(FromCgroup, started("web/job"), end, started("web/blink"), stopped("web/blink"))
	p.pass(time.Second)
	p.wantUnseen("before the relist")
	p.sees(pleg.Removed, "web/job")
	u := p.o.Unseen()
	if len(u) != 2 || u[0].Kind != pleg.Started || u[0].Container != "of-web/job" {
		t.Fatalf("%+v", u)
	}
	want := Unseen{
		Event:    pleg.Event{Kind: pleg.Died, Delivery: pleg.Unseen, ObjectRef: pleg.ObjectRef{ID: "web/job", Container: "of-web/job"}, From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: 137},
		Seen:     u[1].Seen,
		Happened: end.At, Reason: "OOMKilled",
	}
	if diff := gocmp.Diff(want, u[1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.pass(Patience)
	p.wantUnseen("the relist sees nothing", "ContainerStarted web/blink by cgroup", "ContainerDied web/blink by cgroup")
	p.pass(time.Hour)
	p.wantUnseen("later")
	p.wantDrift(Drift{MissedByRelist: 4})
	if s := p.state(FromCgroup); s.Unknown != 2 || s.Received != 4 {
		t.Errorf("%+v", s)
	}
}

// The event of an id that no relist has says what the source says of it.
func TestUnseenEventOfAnUnknownID(t *testing.T) {
	p := watching(t, FromCRI)
	pod := pleg.PodRef{Namespace: "default", Name: "web", UID: "uid"}
	status := &pleg.PodStatus{PodRef: pod, Sandboxes: []pleg.SandboxStatus{{ID: "sandbox"}}, Containers: []pleg.ContainerStatus{{ID: "blink", Name: "job", State: pleg.Exited, ExitCode: 3}}}
	p.sends(FromCRI, pleg.Upstream{Signal: pleg.SignalStarted, ID: "sandbox", Pod: pod, Status: status})
	p.sends(FromCRI, pleg.Upstream{Signal: pleg.SignalStopped, ID: "blink", Pod: pod, Status: status})
	p.sends(FromCRI, pleg.Upstream{Signal: pleg.SignalDeleted, ID: "blink"}, pleg.Upstream{Signal: pleg.SignalCreated, ID: "made"})
	p.pass(2 * Patience)
	var got []pleg.Event
	for _, u := range p.o.Unseen() {
		got = append(got, u.Event)
	}
	want := []pleg.Event{
		{Delivery: pleg.Unseen, ObjectRef: pleg.ObjectRef{ID: "sandbox", Pod: pod, Sandbox: true}, From: pleg.Absent, To: pleg.Running},
		{Kind: pleg.Died, Delivery: pleg.Unseen, ObjectRef: pleg.ObjectRef{ID: "blink", Pod: pod, Container: "job"}, From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: 3},
		{Kind: pleg.Removed, Delivery: pleg.Unseen, ObjectRef: pleg.ObjectRef{ID: "blink"}, From: pleg.Exited, To: pleg.Absent},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// While every call hangs, a death is reported as unseen. When lists are answered the ordinary
// event follows, and says who saw it first.
func TestDeathWhileEveryCallHangs(t *testing.T) {
	p := watching(t, FromCgroup)
	p.sends(FromCgroup, stopped("web/app"))
	p.pass(Patience - time.Millisecond)
	p.wantUnseen("before the relist had its time")
	p.pass(time.Millisecond)
	p.wantUnseen("while calls hang", "ContainerDied web/app by cgroup")
	p.pass(time.Second)
	if lead, ok := p.sees(pleg.Died, "web/app").Lead(FromCgroup); !ok || lead != 4*time.Second {
		t.Errorf("lead %v, %v", lead, ok)
	}
	p.pass(time.Minute)
	p.wantUnseen("afterwards")
	p.wantDrift(Drift{MissedByRelist: 1})
}

// The relist has the time that it needs: to list, also what the runtime lists late; with a
// long period; and after a pause.
func TestRelistHasItsTime(t *testing.T) {
	p := watching(t, FromCgroup)
	p.f.UsualLists = 60 * time.Millisecond
	for _, tt := range []struct {
		name   string
		period time.Duration
		pause  time.Duration
		sees   time.Duration
	}{
		{"lists take time", time.Second, 0, Patience + 110*time.Millisecond},
		{"a long period", 20 * time.Second, 0, 22 * time.Second},
		{"a pause", time.Second, 5 * time.Minute, Patience},
	} {
		p.f.Period = tt.period
		p.f.Paused = tt.pause > 0
		p.sends(FromCgroup, stopped("web/app"))
		p.pass(tt.pause)
		if p.f.Paused {
			p.f.Paused, p.f.Resumed = false, p.now
		}
		p.pass(tt.sees)
		p.sees(pleg.Died, "web/app")
		p.wantUnseen(tt.name)
		p.sees(pleg.Started, "web/app") // anew
	}
}

// What the relist sees and a source does not is missed after three seconds. What comes after
// the relist is late, and never an event of its own.
func TestSourceThatIsLateOrMissesThings(t *testing.T) {
	p := watching(t, FromCgroup)
	p.sees(pleg.Died, "web/app")
	p.sees(pleg.Died, "web/log")
	p.sees(pleg.Removed, "web/other") // which the kernel does not show
	p.pass(500 * time.Millisecond)
	p.sends(FromCgroup, stopped("web/app"))
	p.pass(2 * Patience)
	d := p.wantDrift(Drift{Both: 1, MissedBySource: 1, Late: 1})
	if d.LeadP50 > -490*time.Millisecond || d.LeadP50 < -510*time.Millisecond {
		t.Errorf("lead %v", d.LeadP50)
	}
	p.sends(FromCgroup, stopped("web/log"))
	p.pass(Lasts + time.Minute)
	p.sends(FromCgroup, stopped("web/log")) // it is forgotten, but the relist has settled it
	p.pass(time.Minute)
	p.wantDrift(Drift{Both: 1, MissedBySource: 1, Late: 3})
	p.wantUnseen("late events")
}

// A source has missed what happened while it watched, and nothing else. That its stream was
// lost for a while is no excuse.
func TestASourceMissesOnlyWhatItWasThereFor(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(p *play) (happened time.Time, ran bool)
		by   Source
		want uint64
	}{
		"while it watched":    {func(p *play) (time.Time, bool) { return p.now, true }, FromCgroup, 1},
		"nobody says when":    {func(*play) (time.Time, bool) { return time.Time{}, true }, FromCgroup, 1},
		"it has never run":    {func(p *play) (time.Time, bool) { return p.now, false }, FromCgroup, 0},
		"before it watched":   {func(*play) (time.Time, bool) { return noon, true }, FromCRI, 0},
		"in the relist of it": {func(p *play) (time.Time, bool) { p.f.ListedBefore = noon; return time.Time{}, true }, FromCRI, 0},
		"after it was lost":   {func(p *play) (time.Time, bool) { p.snap(FromCRI, errSnapped); return p.now, true }, FromCRI, 1},
		"after it was closed": {func(p *play) (time.Time, bool) { p.o.Want(p.now, nil); p.pass(0); return p.now, true }, FromCRI, 0},
		"just opened anew": {func(p *play) (time.Time, bool) {
			p.o.Suspended = true
			p.pass(0)
			p.o.Suspended = false
			p.pass(0)
			return p.now, true
		}, FromCgroup, 0},
	} {
		p := watching(t, tt.by)
		p.relist()
		happened, ran := tt.play(p)
		e := pleg.Event{Kind: pleg.Died, ObjectRef: pleg.ObjectRef{ID: "web/app"}, From: pleg.Running, To: pleg.Exited}
		p.o.Released(p.now, e, false, happened, ran, p.f)
		p.pass(time.Minute)
		if d, _ := p.o.Drifts(p.now); d[0].MissedBySource != tt.want || d[0].MissedByRelist != 0 {
			t.Errorf("%s: %+v", name, d[0])
		}
	}
}

// What the first relist finds was there before: it is no transition, and nothing to compare.
func TestWhatTheFirstRelistFinds(t *testing.T) {
	p := watching(t, FromCgroup)
	delete(p.states, "web/app")
	p.sends(FromCgroup, started("web/app"))
	e := pleg.Event{Kind: pleg.Died, ObjectRef: pleg.ObjectRef{ID: "web/app"}, From: pleg.Absent, To: pleg.Exited}
	if seen := p.o.Released(p.now, e, true, time.Time{}, true, p.f); seen != nil {
		t.Errorf("%+v", seen)
	}
	p.states["web/app"] = pleg.Exited
	p.sends(FromCgroup, stopped("web/app"), stopped("web/log"))
	e.ID = "web/log"
	p.o.Released(p.now, e, true, time.Time{}, true, p.f)
	p.pass(time.Minute)
	d := p.wantDrift(Drift{Late: 1, MissedByRelist: 1}) // only the start, which is of the time before
	if unseen := p.unseen(); len(unseen) != 1 || !strings.HasPrefix(unseen[0], "ContainerStarted") {
		t.Errorf("%q, %+v", unseen, d)
	}
}

// A list that leaves a pod out once does not make nonsense of what comes later.
func TestAnIDThatIsListedAnew(t *testing.T) {
	p := watching(t, FromCgroup)
	for range 3 {
		p.sees(pleg.Died, "web/app")
		p.sees(pleg.Removed, "web/app")
		p.pass(time.Second)
		p.sees(pleg.Started, "web/app")
		p.pass(time.Minute)
	}
	p.sends(FromCgroup, stopped("web/app"))
	p.pass(500 * time.Millisecond)
	if lead, ok := p.sees(pleg.Died, "web/app").Lead(FromCgroup); lead != 500*time.Millisecond || !ok {
		t.Errorf("lead %v, %v", lead, ok)
	}
	p.pass(time.Minute)
	all, _ := p.o.Drifts(p.now)
	if d := all[0]; d.Both != 1 || d.Duplicates+d.Late > 0 || d.LeadP99 < 490*time.Millisecond {
		t.Errorf("%+v", d)
	}
}

// What a stream sends of the past is counted, and is nothing that anybody sees now.
func TestBacklog(t *testing.T) {
	p := newPlay(t, Config{Streams: []Stream{{Source: FromCRI, On: true, Forced: true}}})
	u := stopped("long-gone")
	u.At = p.now.Add(-time.Minute)
	p.sends(FromCRI, u, u, u)
	p.pass(backlogFor)
	p.sends(FromCRI, u) // too late to be one
	p.pass(time.Minute)
	p.wantUnseen("a backlog", "ContainerDied long-gone by cri")
	if s := p.state(FromCRI); s.Backlog != 3 || s.Received != 4 || s.BadClock != "" {
		t.Errorf("%+v", s)
	}
}

// The times of a clock that makes no sense are not used; leads are by our own clock. The first
// reason stays.
func TestClockThatMakesNoSense(t *testing.T) {
	for _, tt := range []struct {
		name string
		off  []time.Duration
		want string
	}{
		{"right", []time.Duration{-time.Millisecond, -time.Second, -500 * time.Millisecond}, ""},
		{"rounds", []time.Duration{2 * time.Second, 0, 2 * time.Second}, ""},
		{"ahead", []time.Duration{time.Hour}, "its clock is 1h0m0s ahead of this one"},
		{"behind", []time.Duration{-time.Hour}, "its clock is 1h0m0s behind this one"},
		{"backwards", []time.Duration{0, -time.Minute}, "its clock has gone back by 1m0s"},
		{"the first stays", []time.Duration{time.Hour, 0, -time.Hour}, "its clock is 1h0m0s ahead of this one"},
	} {
		p := watching(t, FromCgroup)
		p.pass(10 * time.Second)
		for i, off := range tt.off {
			u := stopped(fmt.Sprint("id-", i))
			u.At = p.now.Add(off)
			p.sends(FromCgroup, u)
		}
		p.pass(100 * time.Millisecond)
		p.sees(pleg.Died, "id-0")
		p.pass(time.Minute)
		if s := p.state(FromCgroup); s.BadClock != tt.want || s.Backlog != 0 {
			t.Errorf("%s: %+v, want %q", tt.name, s, tt.want)
		}
		if all, _ := p.o.Drifts(p.now); all[0].LeadP50.Round(10*time.Millisecond) != 100*time.Millisecond {
			t.Errorf("%s: %+v", tt.name, all[0])
		}
		unseen := p.o.Unseen()
		if n := len(unseen); n != len(tt.off)-1 || n > 0 && unseen[n-1].Happened.IsZero() != (tt.want != "") {
			t.Errorf("%s: %+v", tt.name, unseen)
		}
	}
}

// A source that makes ids up fills neither the list of events nor the memory, and keeps nobody
// from seeing the rest. All is forgotten in the end.
func TestStrangersAreBounded(t *testing.T) {
	p := watching(t, FromCgroup)
	const n = MostIDs + 100
	for i := range n {
		p.sends(FromCgroup, stopped(fmt.Sprint("made-up-", i)))
	}
	p.sends(FromCgroup, stopped(strings.Repeat("x", LongestID+1)), stopped("web/app"))
	p.pass(100 * time.Millisecond)
	if lead, ok := p.sees(pleg.Died, "web/app").Lead(FromCgroup); !ok || lead != 100*time.Millisecond {
		t.Errorf("a container of the node is crowded out: %v, %v", lead, ok)
	}
	if len(p.o.IDs) > MostIDs || len(p.o.Waits) > 3*MostIDs {
		t.Errorf("%d ids, %d waits", len(p.o.IDs), len(p.o.Waits))
	}
	p.pass(2 * Patience)
	s := p.state(FromCgroup)
	if unseen := p.unseen(); len(unseen) != MostUnseen || p.o.Uncounted != n+1-MostUnseen || s.Received != n+2 || s.Unknown != n+1 {
		t.Errorf("%d unseen, %d more: %+v", len(unseen), p.o.Uncounted, s)
	}
	for i := range n {
		p.sees(pleg.Died, fmt.Sprint("real-", i))
	}
	if len(p.o.IDs) > MostIDs {
		t.Errorf("%d ids of the relist", len(p.o.IDs))
	}
	p.pass(2 * Lasts)
	if len(p.o.IDs)+len(p.o.Waits) > 0 {
		t.Errorf("%d ids and %d waits are never forgotten", len(p.o.IDs), len(p.o.Waits))
	}
}

// What went wrong long ago is in no window, and few samples are kept for that.
func TestWindow(t *testing.T) {
	p := watching(t, FromCRI)
	for s := range 900 {
		if s == 60 {
			for i := range 50 {
				p.sends(FromCRI, stopped(fmt.Sprint("blink-", i)))
			}
			p.o.Heard(p.now, FromCRI, nil, 7, p.f)
		}
		p.pass(time.Second)
		_, windows := p.o.Drifts(p.now)
		w := windows[0]
		lately := s > 66 && s < 350
		if has := w.MissedByRelist == 50 && w.Lost == 7 && w.Unknown == 50; has != lately && (s < 60 || s > 66 && s < 350 || s > 380) {
			t.Fatalf("after %ds: %+v", s, w)
		}
		if want := min(p.now.Sub(noon), windowOf); w.Lasted < want-sampleEvery || w.Lasted > want+sampleEvery || w.Source != FromCRI {
			t.Fatalf("after %ds: %+v", s, w)
		}
	}
	if n := len(p.o.Samples); n > int(windowOf/sampleEvery)+2 {
		t.Errorf("%d samples", n)
	}
}
