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

// unseenDeaths remembers the containers whose end an event source saw, and no relist yet.
type unseenDeaths struct {
	all  []unseenDeath // oldest first
	more uint64        // that there was no room for
}

type unseenDeath struct {
	id, name string
	at       time.Time
}

func (d *unseenDeaths) add(u engine.Update) {
	for i := range u.Events {
		e := &u.Events[i]
		switch {
		case e.Kind != pleg.Died || e.Sandbox:
		case e.Delivery == pleg.Unseen && len(d.all) >= unseenKept:
			d.more++
		case e.Delivery == pleg.Unseen:
			name := objectName(e.Pod, e.Container)
			if e.Pod.Name == "" || e.Container == "" {
				name = strings.TrimSpace(e.Pod.String() + " " + shortID(e.ID))
			}
			d.all = append(d.all, unseenDeath{e.ID, name, e.SeenAt})
		case len(d.all) > 0:
			d.all = slices.DeleteFunc(d.all, func(was unseenDeath) bool { return was.id == e.ID })
		}
	}
	if h := u.Snapshot.Health; !h.SettledAt.Before(h.ListedAt) && len(d.all) > 0 { // a whole relist went well: it sees what there is to be seen
		d.all = slices.DeleteFunc(d.all, func(was unseenDeath) bool { return was.at.Before(h.ListedAt) })
	}
	if len(d.all) == 0 {
		d.more = 0
	}
}

// unseen says who has died since a finding began, of whom the kubelet cannot know.
func (v *view) unseen(f *Finding) []string {
	since := v.Health.ListedAt
	if !f.Since.IsZero() && f.Since.Before(since) {
		since = f.Since
	}
	var names []string
	for _, d := range v.past.unseen.all {
		if !d.at.Before(since) {
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
