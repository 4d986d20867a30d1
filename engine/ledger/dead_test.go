package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func unseen(id string, seconds int) UnseenDeath {
	return UnseenDeath{ObjectRef: pleg.ObjectRef{ID: id}, At: after(seconds), By: FromPidfd}
}

// Who has died is told until a relist sees it, or one that went well could have, and what
// a view has of it is never changed.
func TestDeadUntilARelistSeesThem(t *testing.T) {
	var l Ledger
	was, had := l.Dead(), []string(nil)
	for _, tt := range []struct {
		name string
		do   func()
		want []string
	}{
		{"nobody", func() {}, nil},
		{"one", func() { l.Died(unseen("a", 1), true) }, []string{"a"}},
		{"two more", func() { l.Died(unseen("b", 2), true); l.Died(unseen("c", 3), true) }, []string{"a", "b", "c"}},
		{"a relist sees one", func() { l.Died(unseen("b", 4), false) }, []string{"a", "c"}},
		{"a relist fails", func() { l.Advance(&Facts{Now: after(6), Listed: after(2), Settled: after(1)}) }, []string{"a", "c"}},
		{"one went well that began between them", func() { l.Advance(&Facts{Now: after(6), Listed: after(2), Settled: after(5)}) }, []string{"c"}},
		{"one went well", func() { l.Advance(&Facts{Now: after(8), Listed: after(7), Settled: after(8)}) }, nil},
	} {
		tt.do()
		now := l.Dead()
		if diff := cmp.Diff(tt.want, idsOf(now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if !cmp.Equal(idsOf(was), had) || (was == now) != cmp.Equal(had, tt.want) {
			t.Errorf("%s: what a view had was changed, or made again for nothing", tt.name)
		}
		was, had = now, tt.want
	}
}

func idsOf(d *Dead) (ids []string) {
	if d != nil {
		for _, one := range d.All {
			if found := d.Of(one.ID); found == nil || found.By != FromPidfd {
				return []string{one.ID + " is not found"}
			}
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// Of more dead than there is room for containers are counted, until nobody is left.
func TestDeadAreBounded(t *testing.T) {
	var l Ledger
	for i := range mostDead + 50 {
		l.Died(unseen(fmt.Sprint(i), 1), true)
	}
	l.Died(UnseenDeath{ObjectRef: pleg.ObjectRef{Sandbox: true}}, true)
	if d := l.Dead(); len(d.All) != mostDead || d.More != 50 {
		t.Errorf("%d, and %d more", len(d.All), d.More)
	}
	l.Advance(&Facts{Listed: after(2), Settled: after(2)})
	if l.Died(unseen("new", 3), true); l.Dead().More != 0 || len(l.Dead().All) != 1 {
		t.Errorf("after a good relist: %+v", l.Dead())
	}
}

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
