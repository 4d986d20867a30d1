package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// While no relist comes to its end, what waits for one has a bound: those that wait no
// more go first, then the oldest.
func TestWhatIsNotJudgedIsBounded(t *testing.T) {
	l, x := &Ledger{}, &entry{ObjectRef: pleg.ObjectRef{ID: "a"}}
	for i := range 2*MostKnown + 1 {
		l.unjudged = append(l.unjudged, &transition{of: x, missed: i%4 == 0})
	}
	last := l.unjudged[2*MostKnown-1]
	l.touch(&Facts{}, x)
	if n := len(l.unjudged); n != MostKnown || !l.unjudged[0].waits() || l.unjudged[n-1] != last {
		t.Errorf("%d are not judged", n)
	}
}

// Who was told of gives his room to others, though no relist comes to say that it missed him.
func TestStrangersThatWereToldMakeRoom(t *testing.T) {
	l := &Ledger{byID: make(map[string]*entry)}
	x := &entry{ObjectRef: pleg.ObjectRef{ID: "a"}, stranger: true}
	x.step(pleg.Started).told = true
	l.byID["a"], l.strangers = x, []*entry{x}
	if !l.evictStranger() || len(l.byID) != 0 {
		t.Error("it keeps its room")
	}
}

// What was heard of since it got its place in the order is forgotten after what was not.
func TestSightingsAreForgottenInTheirOrder(t *testing.T) {
	start := time.Unix(1, 0)
	first, second := &entry{ObjectRef: pleg.ObjectRef{ID: "first"}, touched: start}, &entry{ObjectRef: pleg.ObjectRef{ID: "second"}, touched: start}
	l := &Ledger{byID: map[string]*entry{"first": first, "second": second}}
	l.keep(first, start)
	l.keep(second, start)
	first.touched = start.Add(1)
	l.evict()
	if len(l.byID) != 2 || len(l.kept) != 2 || l.kept[1].x != first {
		t.Fatalf("%d ids, order %+v, want the first after the second", len(l.byID), l.kept)
	}
	l.evict()
	if l.byID["first"] == nil || len(l.byID) != 1 {
		t.Errorf("%v, want the first alone", l.byID)
	}
}

// A runtime that makes sandboxes without end makes nothing grow without end; those that
// came last are known.
func TestWhatHasComeIsBounded(t *testing.T) {
	var l Ledger
	for i := range 10 * mostCome {
		if id := fmt.Sprint(i); !l.Comes(id) || l.Comes(id) {
			t.Fatalf("%s comes never, or twice", id)
		}
	}
	if len(l.come) > mostCome || len(l.before) > mostCome {
		t.Errorf("%d and %d are remembered", len(l.come), len(l.before))
	}
}
