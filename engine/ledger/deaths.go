package ledger

import (
	"time"
)

// A Death is the end of a container, as it was reported.
type Death struct {
	Container, ID string
	At            time.Time // by the runtime if it says so, else when it was seen
	Known         bool      // that the container ended by itself, with this code
	ExitCode      int32
	Reason        string // not cleaned
}

// Remember returns the deaths of the containers of one pod with one more, the newest
// first. Their dead remains are soon removed: the kubelet keeps one of each name. What was
// remembered before is not changed.
func Remember(deaths []Death, d Death) []Death {
	all := append(make([]Death, 0, len(deaths)+1), d)
	alike := 1
	for _, was := range deaths {
		if was.Container == d.Container {
			alike++
		}
		if len(all) < deathsOfPod && (was.Container != d.Container || alike <= deathsKept) {
			all = append(all, was)
		}
	}
	return all
}

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
