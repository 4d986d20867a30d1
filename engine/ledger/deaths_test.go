package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// Deaths of one name crowd out no other, and those of one pod have a bound.
func TestRemember(t *testing.T) {
	var deaths []Death
	for i := range 3 * deathsKept {
		before := append([]Death(nil), deaths...)
		next := Remember(deaths, Death{Container: "app", ID: fmt.Sprint(i), At: after(i)})
		if i == 1 {
			next = Remember(next, Death{Container: "log", ID: "other"})
		}
		if !cmp.Equal(before, deaths) {
			t.Fatal("what was remembered is changed")
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

// What has left the lists is remembered for a while, with a bound; the last time counts.
func TestGone(t *testing.T) {
	var l Ledger
	l.Leaves("a", after(0))
	l.Leaves("b", after(10))
	had := l.Gone(after(20))
	l.Leaves("a", after(30))
	if g := l.Gone(after(60)); len(had) != 2 || len(g) != 3 || !g.Since("a").Equal(after(30)) || !g.Since("b").Equal(after(10)) || !g.Since("c").IsZero() {
		t.Errorf("%+v after %+v", g, had)
	}
	if g := l.Gone(after(140)); len(g) != 1 || g[0].ID != "a" {
		t.Errorf("later: %+v", g)
	}
	if g := l.Gone(after(1000)); g != nil {
		t.Errorf("at last: %+v", g)
	}
	for range 2 * MostGone {
		l.Leaves("c", after(1000))
	}
	if n := len(l.Gone(after(1001))); n != MostGone {
		t.Errorf("%d have gone", n)
	}
}
