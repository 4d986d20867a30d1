package ledger

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
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

// An UnseenDeath is the end of a container or sandbox that only an event source has seen:
// the lists are from before it.
type UnseenDeath struct {
	pleg.ObjectRef
	At time.Time // when it was seen
	By Source
}

// Dead is whose end an event source saw, and no relist yet. It is never changed once it
// is made; nil has nobody.
type Dead struct {
	All  []UnseenDeath // oldest first, at most 1,000
	More uint64        // containers that there was no room for
	byID map[string]*UnseenDeath
}

// NewDead returns the dead, oldest first, and so many containers more.
func NewDead(all []UnseenDeath, more uint64) *Dead {
	if len(all) == 0 {
		return nil
	}
	d := &Dead{All: all, More: more, byID: make(map[string]*UnseenDeath, len(all))}
	for i := range all {
		d.byID[all[i].ID] = &all[i]
	}
	return d
}

// Equal reports whether both have the same dead.
func (d *Dead) Equal(other *Dead) bool {
	if d == nil || other == nil {
		return d == other
	}
	return d.More == other.More && slices.EqualFunc(d.All, other.All, func(a, b UnseenDeath) bool {
		return a.ObjectRef == b.ObjectRef && a.By == b.By && a.At.Equal(b.At)
	})
}

// Of returns the death of an id; nil if it is not among them.
func (d *Dead) Of(id string) *UnseenDeath {
	if d == nil {
		return nil
	}
	return d.byID[id]
}

// unseenDeaths is the source of one [Dead].
type unseenDeaths struct {
	all   []UnseenDeath
	more  uint64
	made  *Dead
	stale bool // and is out of date
}

// Died takes in a death that is reported, and whether no relist has seen it.
func (l *Ledger) Died(d UnseenDeath, unseen bool) {
	switch l := &l.dead; {
	case !unseen:
		l.drop(func(was UnseenDeath) bool { return was.ID == d.ID })
	case len(l.all) < mostDead:
		l.all, l.stale = append(l.all, d), true
	case !d.Sandbox:
		l.more, l.stale = l.more+1, true
	}
}

// bury forgets deaths that a relist which went well has seen, as it sees all.
func (l *Ledger) bury(f *Facts) {
	if len(l.dead.all) > 0 && !f.Settled.Before(f.Listed) {
		l.dead.drop(func(was UnseenDeath) bool { return was.At.Before(f.Listed) })
	}
}

func (u *unseenDeaths) drop(which func(UnseenDeath) bool) {
	n := len(u.all)
	u.all = slices.DeleteFunc(u.all, which)
	u.stale = u.stale || len(u.all) < n
	if len(u.all) == 0 {
		u.more = 0
	}
}

// Dead returns whose end an event source saw, and no relist yet.
func (l *Ledger) Dead() *Dead {
	if u := &l.dead; u.stale {
		u.made, u.stale = NewDead(slices.Clone(u.all), u.more), false
	}
	return l.dead.made
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
