package past

import (
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

func after(seconds int) time.Time {
	return time.Date(2026, 6, 1, 12, 0, seconds, 0, time.UTC)
}

// The deaths of one name do not push out those of another, and the deaths of one pod have a limit.
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

// Sandboxes that have left the lists are remembered for a while, up to a limit. The last time counts.
func TestGone(t *testing.T) {
	had := Gone(nil).With(after(0), "a").With(after(10), "b")
	now := had.With(after(30), "a")
	if g := now.Lately(after(60)); len(had) != 2 || len(g) != 3 || !g.Since("a").Equal(after(30)) || !g.Since("b").Equal(after(10)) || !g.Since("c").IsZero() {
		t.Errorf("%+v after %+v", g, had)
	}
	if g := now.Lately(after(140)); len(g) != 1 || g[0].ID != "a" {
		t.Errorf("later: %+v", g)
	}
	if g := now.Lately(after(1000)); g != nil {
		t.Errorf("at last: %+v", g)
	}
	for range 2 * MostGone {
		now = now.With(after(1000), "c")
	}
	if n := len(now.Lately(after(1001))); n != MostGone {
		t.Errorf("%d have gone", n)
	}
}
