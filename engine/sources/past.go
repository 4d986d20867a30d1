package sources

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

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
	// deathBetween is how far apart two lists may be, besides the period, for a death between
	// them to be of the present.
	deathBetween = 20 * time.Second
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

// Leaves takes in that no pod lists a sandbox any more.
func (o *Observer) Leaves(at time.Time, id string) {
	if o.Left = o.Gone(at); len(o.Left) < MostGone {
		o.Left = append(o.Left, Left{id, at}) // a snapshot shares the array: no element is ever written twice
	}
}

// Gone returns what has left the lists in the last two minutes.
func (o *Observer) Gone(at time.Time) Gone {
	n := 0
	for n < len(o.Left) && at.Sub(o.Left[n].At) > goneKept {
		n++
	}
	if n == len(o.Left) {
		return nil
	}
	return o.Left[n:]
}

// A Death is the end of a container that a relist saw.
type Death struct {
	Container, ID string
	At            time.Time // by the runtime if it says so, else when it was seen
	Known         bool      // the container ended by itself, with this code
	ExitCode      int32
	Reason        string // not cleaned
}

// DeathOf returns the death that an event of the kubelet's PLEG reports; nil if it reports none
// or its time is not known. Happened is zero where the runtime's stamps do not say. Gap is how
// much longer than the period nobody had listed. A container that was first seen dead may have
// been dead for days, and one that died in a long gap may have died at any time in it.
func DeathOf(e pleg.Event, seen, happened time.Time, reason string, gap time.Duration) *Death {
	if e.Kind != pleg.Died || e.Sandbox || e.Delivery == pleg.Unseen || happened.IsZero() && (e.From == pleg.Absent || gap > deathBetween) {
		return nil
	}
	d := Death{Container: e.Container, ID: e.ID, At: seen, Known: e.Exited, ExitCode: e.ExitCode, Reason: reason}
	if !happened.IsZero() {
		d.At = happened
	}
	return &d
}

// Remember returns the deaths of the containers of one pod with one more, the newest first. The
// kubelet soon removes dead containers: it keeps one of each name. The old list is not changed.
func Remember(deaths []Death, d Death) []Death {
	all := append(make([]Death, 0, len(deaths)+1), d)
	sameName := 1
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
