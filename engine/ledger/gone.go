package ledger

import "time"

// Left is a sandbox that the lists have no more.
type Left struct {
	ID string
	At time.Time // when that was seen
}

// Gone is what has left the lists lately, the oldest first. It is never changed.
type Gone []Left

// Since returns when an id left the lists last; zero if it did not lately.
func (g Gone) Since(id string) time.Time {
	for i := len(g) - 1; i >= 0; i-- {
		if g[i].ID == id {
			return g[i].At
		}
	}
	return time.Time{}
}

// Leaves takes in that a sandbox is listed no more.
func (l *Ledger) Leaves(id string, now time.Time) {
	if len(l.gone) < MostGone {
		l.gone = append(l.gone, Left{id, now}) // never written to where a snapshot can see it
	}
}

// Gone returns what has left the lists in the last two minutes.
func (l *Ledger) Gone(now time.Time) Gone {
	n := 0
	for n < len(l.gone) && now.Sub(l.gone[n].At) > goneKept {
		n++
	}
	if l.gone = l.gone[n:]; len(l.gone) == 0 {
		l.gone = nil
	}
	return l.gone
}
