package sources

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A source has missed what happened while it watched, and nothing else. That its stream was
// lost for a while is no excuse.
func TestASourceMissesOnlyWhatItWasThereFor(t *testing.T) {
	for name, tt := range map[string]struct {
		by   Source
		kind pleg.Kind
		ran  bool
		play func(p *play)
		want uint64
	}{
		"while it watched":                {FromCgroup, pleg.Died, true, func(*play) {}, 1},
		"it has never run":                {FromCgroup, pleg.Died, false, func(*play) {}, 0},
		"removed, and the kernel watches": {FromCgroup, pleg.Removed, true, func(*play) {}, 0},
		"removed":                         {FromCRI, pleg.Removed, true, func(*play) {}, 1},
		"listed before it watched":        {FromCRI, pleg.Died, true, func(p *play) { p.f.ListedBefore = noon }, 0},
		"after it was lost":               {FromCRI, pleg.Died, true, func(p *play) { p.snap(FromCRI, errSnapped) }, 1},
		"after it was closed":             {FromCRI, pleg.Died, true, func(p *play) { p.o.Want(p.now, nil); p.pass(0) }, 0},
		"just opened anew": {FromCgroup, pleg.Died, true, func(p *play) {
			p.o.Suspended = true
			p.pass(0)
			p.o.Suspended = false
			p.pass(0)
		}, 0},
	} {
		p := watching(t, tt.by)
		p.relist()
		tt.play(p)
		p.release(pleg.Event{Kind: tt.kind, ObjectRef: pleg.ObjectRef{ID: "web/app"}, From: pleg.Running, To: pleg.Exited}, false, tt.ran)
		p.pass(time.Minute)
		if d := p.o.Drifts(); d[0].MissedBySource != tt.want || d[0].MissedByRelist != 0 {
			t.Errorf("%s: %+v", name, d[0])
		}
	}
}

// A late source is late whenever it comes, and sees nothing new. What it had not reported after
// three seconds it has missed all the same. What the relist sees late it has not missed.
func TestLate(t *testing.T) {
	p := watching(t, FromCgroup)
	p.sees(pleg.Died, "web/app")
	p.pass(500 * time.Millisecond)
	p.sends(FromCgroup, stopped("web/app"), started("web/log"))
	p.wantDrift(Drift{Both: 1, Late: 2})
	p.sees(pleg.Died, "web/log")
	for _, d := range []time.Duration{Patience, Lasts + time.Minute} { // then it is forgotten, but the relist has settled it
		p.pass(d)
		p.sends(FromCgroup, stopped("web/log"))
	}
	p.wantDrift(Drift{Both: 1, MissedBySource: 1, Late: 4})
	p.wantUnseen("late events")

	p.sends(FromCgroup, started("new"))
	p.f.Listed = noon
	p.pass(Patience)
	p.wantUnseen("while calls hang", "ContainerStarted new by cgroup")
	p.wantDrift(Drift{Both: 1, MissedBySource: 1, MissedByRelist: 1, Late: 4})
	p.pass(time.Second)
	if lead, ok := p.sees(pleg.Started, "new").Lead(FromCgroup); !ok || lead != 4*time.Second {
		t.Errorf("lead %v, %v", lead, ok)
	}
	p.wantDrift(Drift{Both: 2, MissedBySource: 1, Late: 4})
}

// What the first relist finds was there before: it is no transition, and nothing to compare. What
// happened after it is.
func TestWhatTheFirstRelistFinds(t *testing.T) {
	p := watching(t, FromCgroup)
	delete(p.states, "web/app")
	p.sends(FromCgroup, started("web/app"), stopped("web/app"))
	if seen := p.release(pleg.Event{ObjectRef: pleg.ObjectRef{ID: "web/app"}, From: pleg.Absent, To: pleg.Running}, true, true); seen != nil {
		t.Errorf("%+v", seen)
	}
	p.release(pleg.Event{Kind: pleg.Died, ObjectRef: pleg.ObjectRef{ID: "web/log"}, From: pleg.Absent, To: pleg.Exited}, true, true)
	p.states["web/app"], p.states["web/log"] = pleg.Running, pleg.Exited
	p.sends(FromCgroup, stopped("web/log"))
	p.pass(500 * time.Millisecond)
	p.sees(pleg.Died, "web/app")
	p.pass(time.Minute)
	p.wantUnseen("the first relist")
	p.wantDrift(Drift{Both: 1, Late: 1})
}

// The control groups show the containers of another runtime. What the lists should have by now and
// have not is none of ours, unless the runtime has reported it or a list has it at last.
func TestAnotherRuntime(t *testing.T) {
	run := func(id string, ran time.Duration) pleg.Upstream {
		return pleg.Upstream{Signal: pleg.SignalStopped, ID: id, Ran: ran}
	}
	began := "ContainerStarted x by cgroup"
	for _, tt := range []struct {
		name string
		play func(p *play)
		want []string
	}{
		{"it runs on, and ends", func(p *play) { p.pass(time.Minute); p.sends(FromCgroup, run("x", time.Minute)) }, nil},
		{"it ends soon", func(p *play) { p.sends(FromCgroup, run("x", 0)) }, []string{began, "ContainerDied x by cgroup"}},
		{"lists hang", func(p *play) { p.f.Listed = noon }, []string{began}},
		{"the runtime has reported it", func(p *play) { p.sends(FromCRI, started("x")) }, []string{"ContainerStarted x by cri"}},
		{"it ran before", func(p *play) { p.sends(FromCgroup, run("y", time.Minute)) }, nil},
		{"it ran before, and lists hang", func(p *play) { p.f.Listed = noon; p.sends(FromCgroup, run("y", 2*time.Second)) }, []string{began, "ContainerDied y by cgroup"}},
		{"listed late", func(p *play) { p.pass(time.Minute); p.sees(pleg.Died, "x") }, []string{began}},
	} {
		p := newPlay(t, Config{Streams: []Stream{{Source: FromCgroup, On: true}, {Source: FromCRI, On: true, Forced: true}}})
		p.pass(10 * time.Second)
		p.sends(FromCgroup, started("x"))
		p.f.Listed = p.now.Add(settling)
		tt.play(p)
		p.pass(time.Minute)
		p.wantUnseen(tt.name, tt.want...)
		if d := p.o.Drifts(); d[0].MissedByRelist != uint64(len(tt.want)) {
			t.Errorf("%s: %+v", tt.name, d[0])
		}
	}
}

// The times of a clock that makes no sense are not used. The first reason stays.
func TestClockThatMakesNoSense(t *testing.T) {
	for _, tt := range []struct {
		name string
		off  []time.Duration
		want string
	}{
		{"right", []time.Duration{-time.Millisecond, -time.Second, -500 * time.Millisecond}, ""},
		{"rounds", []time.Duration{2 * time.Second, 0, 2 * time.Second}, ""},
		{"behind", []time.Duration{-time.Hour}, "its clock is 1h0m0s behind this one"},
		{"the first stays", []time.Duration{time.Hour, 0, -time.Hour}, "its clock is 1h0m0s ahead of this one"},
	} {
		p := watching(t, FromCgroup)
		p.pass(10 * time.Second)
		for i, off := range tt.off {
			u := stopped(fmt.Sprint("id-", i))
			u.At = p.now.Add(off)
			p.sends(FromCgroup, u)
		}
		p.pass(time.Minute)
		if s := p.state(FromCgroup); s.BadClock != tt.want || s.Backlog != 0 {
			t.Errorf("%s: %+v, want %q", tt.name, s, tt.want)
		}
		unseen := p.take()
		if n := len(unseen); n != len(tt.off) || unseen[n-1].Happened.IsZero() != (tt.want != "") {
			t.Errorf("%s: %+v", tt.name, unseen)
		}
	}
}
