package past

import "time"

const (
	// goneKept is how long a sandbox is remembered that is not listed any more: a look at the processes may be
	// 5 s old, and some demos run fifteen times as fast. MostGone is how many are remembered: if more go at
	// once, nobody can say what belongs to what.
	goneKept = 2 * time.Minute
	MostGone = 10_000
	// deathsKept is how many deaths of the containers of one name are remembered, enough for intervals and exit
	// codes. deathsOfPod is how many deaths of one pod are remembered: the runtime may invent names.
	deathsKept  = 8
	deathsOfPod = 64
)

// Left is a sandbox that is not in the lists any more.
type Left struct {
	ID string
	At time.Time // when that was seen
}

// Gone has the sandboxes that have left the lists lately, the oldest first. It is never changed.
type Gone []Left

// Since returns when an id last left the lists; zero if it did not lately.
func (g Gone) Since(id string) time.Time {
	for i := len(g) - 1; i >= 0; i-- {
		if g[i].ID == id {
			return g[i].At
		}
	}
	return time.Time{}
}

// With returns g with one more sandbox. It drops those that are too old.
func (g Gone) With(at time.Time, id string) Gone {
	if g = g.Lately(at); len(g) < MostGone {
		g = append(g, Left{id, at}) // g may share its array with snapshots: no element is ever written twice
	}
	return g
}

// Lately returns the sandboxes that have gone in the last two minutes before a moment.
func (g Gone) Lately(at time.Time) Gone {
	for len(g) > 0 && at.Sub(g[0].At) > goneKept {
		g = g[1:]
	}
	if len(g) == 0 {
		return nil
	}
	return g
}

// A Death is the end of a container that a relist saw.
type Death struct {
	Container, ID string
	At            time.Time // the time that the runtime gives, or else when it was seen
	Known         bool      // the container ended by itself, with this code
	ExitCode      int32
	Reason        string // not cleaned
}

// Remember returns the deaths of the containers of one pod with one more, the newest first. They are kept here
// because the kubelet soon removes dead containers, except one of each name. The old list is not changed.
func Remember(deaths []Death, d Death) []Death {
	all, sameName := []Death{d}, 1
	for _, was := range deaths {
		if was.Container == d.Container {
			sameName++
		}
		if len(all) < deathsOfPod && (was.Container != d.Container || sameName <= deathsKept) {
			all = append(all, was)
		}
	}
	return all
}
