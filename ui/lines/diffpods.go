package lines

import (
	"cmp"
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A standing container is the newest of its name, or for no name the newest sandbox of its pod.
type standing struct {
	id    string
	state string
}

// A named pod is the newest of its name, with what it has by the name of the container.
type named struct {
	uid  pleg.UID
	made int64
	has  map[string]standing
}

// byName returns the pods of some namespaces, none for all.
func byName(pods []*engine.Pod, namespaces []string) map[pleg.PodRef]named {
	all := map[pleg.PodRef]named{}
	for _, p := range pods {
		seen := p.Seen()
		if seen == nil || len(namespaces) > 0 && !slices.Contains(namespaces, p.Namespace) {
			continue
		}
		n := named{uid: p.UID, has: map[string]standing{}}
		newest := map[string]int64{}
		take := func(name, id, state string, made int64) {
			if at, had := newest[name]; !had || made > at {
				newest[name], n.has[name] = made, standing{id, state}
			}
		}
		for _, s := range seen.Sandboxes {
			n.made = max(n.made, s.CreatedAt.UnixNano())
			take("", s.ID, state(s.State, true), s.CreatedAt.UnixNano())
		}
		for _, c := range seen.Containers {
			take(c.Name, c.ID, state(c.State, false), c.CreatedAt.UnixNano())
		}
		key := pleg.PodRef{Namespace: p.Namespace, Name: p.Name}
		if other, had := all[key]; !had || n.made >= other.made {
			all[key] = n
		}
	}
	return all
}

// podsChanged returns what differs between the pods of two moments, by name. Of a pod that came
// or went its containers are not named.
func podsChanged(was, now []*engine.Pod, namespaces []string) (all []changed) {
	a, b := byName(was, namespaces), byName(now, namespaces)
	for ref, p := range a {
		next, stays := b[ref]
		if !stays {
			all = append(all, changed{How: "went", Namespace: ref.Namespace, Pod: ref.Name, Was: p.has[""].state})
			continue
		}
		for name, s := range p.has {
			if t, is := next.has[name]; is && s != t {
				all = append(all, changed{How: how(s, t), Namespace: ref.Namespace, Pod: ref.Name, Container: name, Was: s.state, Now: t.state})
			} else if !is {
				all = append(all, changed{How: "went", Namespace: ref.Namespace, Pod: ref.Name, Container: name, Was: s.state})
			}
		}
		for name, t := range next.has {
			if _, was := p.has[name]; !was {
				all = append(all, changed{How: "came", Namespace: ref.Namespace, Pod: ref.Name, Container: name, Now: t.state})
			}
		}
	}
	for ref, p := range b {
		if _, was := a[ref]; !was {
			all = append(all, changed{How: "came", Namespace: ref.Namespace, Pod: ref.Name, Now: p.has[""].state})
		}
	}
	slices.SortFunc(all, func(x, y changed) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Pod, y.Pod), cmp.Compare(x.Container, y.Container))
	})
	return all
}

// how says how a container of a name differs.
func how(was, now standing) string {
	if was.id != now.id {
		return "replaced"
	}
	return "changed"
}
