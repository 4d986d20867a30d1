package ledger

import (
	"testing"
	"time"
)

// What went wrong long ago is in no window, and few samples are kept for that.
func TestWindow(t *testing.T) {
	var l Ledger
	most := 0
	for s := range 901 {
		if s == 60 {
			l.drift[FromCRI].tally[missedBySource] = 50
			l.Lost(FromCRI, 7)
		}
		l.drift[FromCRI].tally[seenByBoth]++
		l.Sample(after(s))
		most = max(most, len(l.samples))
		w := l.Window(FromCRI, after(s))
		lately := s >= 60 && s <= 60+int(driftWindow/time.Second)
		if (w.MissedBySource == 50 && w.Lost == 7) != lately && (s < 60 || s > 75+int(driftWindow/time.Second)) {
			t.Fatalf("after %ds: %+v", s, w)
		}
		if want := min(time.Duration(s)*time.Second, driftWindow); w.Lasted < want || w.Lasted > want+driftStep || w.Both > uint64(w.Lasted/time.Second) || w.Source != FromCRI {
			t.Fatalf("after %ds: %+v", s, w)
		}
	}
	if most > int(driftWindow/driftStep)+2 {
		t.Errorf("%d samples", most)
	}
	if w := l.Window(FromCgroup, after(900)); w.Transitions != 0 || w.Unknown != 0 || w.Lost != 0 {
		t.Errorf("another source: %+v", w)
	}
}
