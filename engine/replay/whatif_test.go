package replay

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/replay/replaytest"
)

// hangs is a night in which a container ends whose status hangs for a quarter of an hour.
func hangs(release pleg.Release) replaytest.Night {
	return replaytest.Night{
		Pods: 3, For: 40 * time.Minute, Segments: 4 * time.Minute, Changes: 7 * time.Minute, Release: release,
		Troubles: []replaytest.Trouble{{Op: call.ContainerStatus, From: 6 * time.Minute, To: 20 * time.Minute}},
	}
}

// asked returns what other releases would have made of a night, and the spells in which PLEG
// was unhealthy as the engine remembered them.
func asked(t *testing.T, n replaytest.Night, releases ...pleg.Release) (WhatIf, []past.Spell) {
	t.Helper()
	recorder, seen := replaytest.Record(t, n)
	w, err := Ask(t.Context(), recorder.Recording(), releases)
	if err != nil || w.Damage != nil {
		t.Fatal(err, w.Damage)
	}
	return w, seen[len(seen)-1].Snapshot.Memory.Spells
}

// alike reports whether spells are the same but for some time.
func alike(a, b []Spell, by time.Duration) bool {
	for i := range a {
		if i >= len(b) || a[i].From.Sub(b[i].From).Abs() > by || (a[i].For-b[i].For).Abs() > by {
			return false
		}
	}
	return len(a) == len(b)
}

// A kubelet up to 1.31 asks twice for a pod whose inspection hangs, so that its PLEG is unhealthy,
// and one from 1.32 on once.
func TestANewerKubeletWouldHaveSavedTheNode(t *testing.T) {
	w, spells := asked(t, hangs(28), 25, 28, 34, 36)
	if len(spells) < 2 || len(w.Recorded.Unhealthy) != len(spells) {
		t.Fatalf("unhealthy %v, and as the engine remembers %v", w.Recorded.Unhealthy, spells)
	}
	if len(w.Recorded.NotReady) == 0 {
		t.Errorf("1.28: the node was never NotReady")
	}
	if w.Recorded.Release != 28 || !alike(w.Recorded.Unhealthy, w.Control.Unhealthy, time.Second) || !alike(w.Recorded.NotReady, w.Control.NotReady, time.Second) {
		t.Errorf("the control gives something else:\n%+v\n%+v", w.Recorded, w.Control)
	}
	for _, a := range w.Others {
		if old := a.Release < 32; old != (len(a.Unhealthy) > 0) || old != (len(a.NotReady) > 0) {
			t.Errorf("%v: unhealthy %v, not ready %v", a.Release, a.Unhealthy, a.NotReady)
		}
		if a.Release >= 32 && (a.Relists <= w.Recorded.Relists || a.Longest >= w.Recorded.Longest) {
			t.Errorf("%v: %d relists up to %v, and recorded are %d up to %v", a.Release, a.Relists, a.Longest, w.Recorded.Relists, w.Recorded.Longest)
		}
	}
}

// So it would have been the other way round.
func TestAnOlderKubeletWouldHaveFailed(t *testing.T) {
	w, spells := asked(t, hangs(36), 28, 36)
	if len(spells) > 0 || len(w.Recorded.Unhealthy) > 0 || len(w.Control.Unhealthy) > 0 || len(w.Others[1].Unhealthy) > 0 {
		t.Errorf("1.36 is unhealthy: %v, %+v", spells, w)
	}
	if len(w.Others[0].Unhealthy) < 2 || len(w.Others[0].NotReady) == 0 {
		t.Errorf("1.28 is healthy: %+v", w.Others[0])
	}
}

// The control gives what was recorded, whatever happens, down to the figures.
func TestTheControlIsWhatWasRecorded(t *testing.T) {
	n := bad
	for _, n.Release = range []pleg.Release{25, 34, 37} {
		w, _ := asked(t, n)
		r, c := w.Recorded, w.Control
		if !alike(r.Unhealthy, c.Unhealthy, time.Second) || !alike(r.NotReady, c.NotReady, time.Second) {
			t.Errorf("%v: spells\n%+v\n%+v", n.Release, r, c)
		}
		differ := func(a, b uint64) bool { return a > b+b/50+1 || b > a+a/50+1 }
		if differ(r.Relists, c.Relists) || differ(r.Inspections, c.Inspections) || differ(r.Events, c.Events) || (r.Longest-c.Longest).Abs() > time.Second {
			t.Errorf("%v: figures\n%+v\n%+v", n.Release, r, c)
		}
	}
}

// What a list would have shown earlier is known by what the runtime dates, so that events of
// other pods are as late as that release's relists are long.
func TestEventsOfAnotherReleaseAreLessLate(t *testing.T) {
	w, _ := asked(t, replaytest.Night{
		Pods: 40, For: 20 * time.Minute, Segments: 4 * time.Minute, Changes: 15 * time.Second, Release: 28,
		Troubles: []replaytest.Trouble{{Op: call.ContainerStatus, ID: "app-000", From: 30 * time.Second, To: 15 * time.Minute}},
	}, 36)
	r, c, n := w.Recorded, w.Control, w.Others[0]
	if (r.LagP50-c.LagP50).Abs() > time.Second || n.LagP99 > 4*time.Minute+5*time.Second || r.LagP99 < 5*time.Minute || n.Events != r.Events {
		t.Errorf("recorded %+v\ncontrol %+v\n1.36 %+v", r, c, n)
	}
}

// A hang begins when it did, whose relist it may be: an object that answered shortly before is not
// taken to have hung already.
func TestAHangIsNotMovedToBeforeItBegan(t *testing.T) {
	for _, incident := range replaytest.Incidents(t, "testdata") {
		if incident.Name != "hung-inspect" && incident.Name != "status-lock" {
			continue
		}
		w, err := Ask(t.Context(), incident.Recording, []pleg.Release{25, 35, 36})
		if err != nil || w.Damage != nil {
			t.Fatal(err, w.Damage)
		}
		for _, a := range w.Others {
			if a.Relists != w.Recorded.Relists || (a.Longest-w.Recorded.Longest).Abs() > 2*time.Second {
				t.Errorf("%s: %v makes %d relists up to %v, and recorded are %d up to %v", incident.Name, a.Release, a.Relists, a.Longest, w.Recorded.Relists, w.Recorded.Longest)
			}
		}
	}
}

// Between an answer and a call that hung it is not known when the hang began.
func TestTheNearestCall(t *testing.T) {
	began := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	made := func(after, took time.Duration) *recorded {
		c := &recorded{Flight: call.Flight{Since: began.Add(after)}}
		if took > 0 {
			c.ended = c.Since.Add(took)
		}
		return c
	}
	answered, hangs := made(0, time.Millisecond), made(20*time.Second, 0)
	late, prompt := made(20*time.Second, time.Minute), made(20*time.Second, time.Millisecond)
	gaveUp := made(0, time.Millisecond)
	gaveUp.with.Err = call.Late(call.ContainerStatus, call.Expired, "context deadline exceeded")
	for _, tt := range []struct {
		what         string
		before, next *recorded
		now          time.Duration
		place        int
		known        bool
	}{
		{"soon after an answer", answered, hangs, time.Second, 0, true},
		{"nearer to the hang", answered, hangs, 15 * time.Second, 0, false},
		{"as soon as another machine may be", answered, hangs, 19500 * time.Millisecond, 1, true},
		{"while it hangs", answered, hangs, 21 * time.Second, 1, true},
		{"before one that is answered late", answered, late, 15 * time.Second, 0, false},
		{"before one that is answered", answered, prompt, 15 * time.Second, 1, true},
		{"between two that hang", gaveUp, hangs, 15 * time.Second, 1, true},
	} {
		place, known := nearest([]*recorded{tt.before, tt.next}, began.Add(tt.now))
		if place != tt.place || known != tt.known {
			t.Errorf("%s: call %d, known %v; want %d, %v", tt.what, place, known, tt.place, tt.known)
		}
	}
}
