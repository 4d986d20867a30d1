package past

import "time"

const (
	// goneKept is how long sandboxes are remembered that are listed no more: a look at the
	// processes may be 5 s old, and some demos run fifteen times as fast. MostGone is how many
	// are: where more go at once, nobody can say what belongs to whom.
	goneKept = 2 * time.Minute
	MostGone = 10_000
	// deathsKept is how many deaths of the containers of one name are remembered, enough for
	// intervals and exit codes. deathsOfPod is how many of one pod: the runtime may make names up.
	deathsKept  = 8
	deathsOfPod = 64
)

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

// With returns what has gone with one sandbox more.
func (g Gone) With(at time.Time, id string) Gone {
	if g = g.Lately(at); len(g) < MostGone {
		g = append(g, Left{id, at}) // g may share its array with snapshots: no element is ever written twice
	}
	return g
}

// Lately returns what has gone in the last two minutes.
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
	At            time.Time // by the runtime if it says so, else when it was seen
	Known         bool      // the container ended by itself, with this code
	ExitCode      int32
	Reason        string // not cleaned
}

// Remember returns the deaths of the containers of one pod with one more, the newest first. The
// kubelet soon removes dead containers: it keeps one of each name. The old list is not changed.
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
