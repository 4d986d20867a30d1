package ledger

import (
	"fmt"
	"testing"

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
