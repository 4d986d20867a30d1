package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// unseenKept is how many deaths are remembered that no relist has seen: as many as a
	// node has containers.
	unseenKept = 1000
	// unseenTold is how many of them are told by name.
	unseenTold = 3
)

// A Death is the end of a container or sandbox that only an event source has seen: the
// lists are from before it.
type Death struct {
	At time.Time // when it was seen
	By engine.Source
}

// unseenDeaths remembers whose end an event source saw, and no relist yet.
type unseenDeaths struct {
	all  []unseenDeath    // oldest first
	more uint64           // containers that there was no room for
	byID map[string]Death // all of them; never written to, for views have it
}

type unseenDeath struct {
	Death
	id, name string
	sandbox  bool
}

func (d *unseenDeaths) add(u engine.Update) {
	changed := false
	for i := range u.Events {
		e := &u.Events[i]
		switch {
		case e.Kind != pleg.Died:
		case e.Delivery != pleg.Unseen:
			changed = d.drop(func(was unseenDeath) bool { return was.id == e.ID }) || changed
		case len(d.all) < unseenKept:
			by, _ := e.Seen.First()
			d.all, changed = append(d.all, unseenDeath{Death{e.SeenAt, by}, e.ID, nameOf(e), e.Sandbox}), true
		case !e.Sandbox:
			d.more++
		}
	}
	if h := u.Snapshot.Health; !h.SettledAt.Before(h.ListedAt) { // a whole relist went well: it sees what there is to be seen
		changed = d.drop(func(was unseenDeath) bool { return was.At.Before(h.ListedAt) }) || changed
	}
	if len(d.all) == 0 {
		d.more = 0
	}
	if changed {
		d.byID = make(map[string]Death, len(d.all))
		for i := range d.all {
			d.byID[d.all[i].id] = d.all[i].Death
		}
	}
}

// drop forgets some, and reports whether there were any.
func (d *unseenDeaths) drop(which func(unseenDeath) bool) bool {
	n := len(d.all)
	d.all = slices.DeleteFunc(d.all, which)
	return len(d.all) < n
}

// nameOf names what an event is about, as far as that is known.
func nameOf(e *engine.Event) string {
	if e.Pod.Name == "" || e.Container == "" {
		return strings.TrimSpace(e.Pod.String() + " " + shortID(e.ID))
	}
	return objectName(e.Pod, e.Container)
}

// unseen says who has died since a finding began, of whom the kubelet cannot know.
func (v *view) unseen(f *Finding) []string {
	since := v.Health.ListedAt
	if !f.Since.IsZero() && f.Since.Before(since) {
		since = f.Since
	}
	var names []string
	for _, d := range v.past.unseen.all {
		if !d.sandbox && !d.At.Before(since) {
			names = append(names, d.name)
		}
	}
	n := uint64(len(names)) + v.past.unseen.more
	if len(names) == 0 {
		return nil
	}
	have := " have"
	if n == 1 {
		have = " has"
	}
	said := fmt.Sprintf("%s%s died since, which the kubelet cannot see: %s", count(n, "container"), have, join(names[:min(len(names), unseenTold)]))
	if left := n - min(n, unseenTold); left > 0 {
		said += fmt.Sprintf(" and %s more", thousands(left))
	}
	return []string{said}
}
