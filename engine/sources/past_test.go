package sources

import (
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// Deaths of one name crowd out no other, and those of one pod have a bound.
func TestRemember(t *testing.T) {
	var deaths []Death
	for i := range 3 * deathsKept {
		before := slices.Clone(deaths)
		next := Remember(deaths, Death{Container: "app", ID: fmt.Sprint(i), At: after(i)})
		if i == 1 {
			next = Remember(next, Death{Container: "log", ID: "other"})
		}
		if !gocmp.Equal(before, deaths) {
			t.Fatal("the old list is changed")
		}
		deaths = next
	}
	if n := len(deaths); n != deathsKept+1 || deaths[0].ID != fmt.Sprint(3*deathsKept-1) || deaths[n-1].ID != "other" {
		t.Errorf("%d deaths: %+v", n, deaths)
	}
	for i := range 3 * deathsOfPod {
		deaths = Remember(deaths, Death{Container: fmt.Sprint("made-up-", i)})
	}
	if len(deaths) != deathsOfPod {
		t.Errorf("%d deaths of one pod", len(deaths))
	}
}

// What happened while nobody listed has no time of its own, and what only a source saw the
// relist will report.
func TestWhichDeathsAreOfThePresent(t *testing.T) {
	died := pleg.Event{Kind: pleg.Died, From: pleg.Running, ObjectRef: pleg.ObjectRef{Container: "app", ID: "a"}, Exited: true, ExitCode: 137}
	change := func(f func(*pleg.Event)) pleg.Event { e := died; f(&e); return e }
	for _, tt := range []struct {
		name     string
		e        pleg.Event
		happened time.Time
		gap      time.Duration
		want     time.Time
	}{
		{"between two relists", died, time.Time{}, 0, after(5)},
		{"in a gap", died, time.Time{}, 3 * time.Minute, time.Time{}},
		{"in a gap, and the runtime says when", died, after(4), 3 * time.Minute, after(4)},
		{"first seen dead", change(func(e *pleg.Event) { e.From = pleg.Absent }), time.Time{}, 0, time.Time{}},
		{"a sandbox", change(func(e *pleg.Event) { e.Sandbox = true }), after(4), 0, time.Time{}},
		{"unseen", change(func(e *pleg.Event) { e.Delivery = pleg.Unseen }), after(4), 0, time.Time{}},
		{"a start", change(func(e *pleg.Event) { e.Kind = pleg.Started }), after(4), 0, time.Time{}},
	} {
		var want *Death
		if !tt.want.IsZero() {
			want = &Death{Container: "app", ID: "a", At: tt.want, Known: true, ExitCode: 137, Reason: "OOMKilled"}
		}
		if diff := gocmp.Diff(want, DeathOf(tt.e, after(5), tt.happened, "OOMKilled", tt.gap)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What has left the lists is remembered for a while, with a bound; the last time counts.
func TestGone(t *testing.T) {
	var o Observer
	o.Leaves(after(0), "a")
	o.Leaves(after(10), "b")
	had := o.Gone(after(20))
	o.Leaves(after(30), "a")
	if g := o.Gone(after(60)); len(had) != 2 || len(g) != 3 || !g.Since("a").Equal(after(30)) || !g.Since("b").Equal(after(10)) || !g.Since("c").IsZero() {
		t.Errorf("%+v after %+v", g, had)
	}
	if g := o.Gone(after(140)); len(g) != 1 || g[0].ID != "a" {
		t.Errorf("later: %+v", g)
	}
	if g := o.Gone(after(1000)); g != nil {
		t.Errorf("at last: %+v", g)
	}
	for range 2 * MostGone {
		o.Leaves(after(1000), "c")
	}
	if n := len(o.Gone(after(1001))); n != MostGone {
		t.Errorf("%d have gone", n)
	}
}
