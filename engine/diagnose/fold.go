package diagnose

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
)

// hashLetters are the letters of all hashes that Kubernetes puts into names. (apimachinery, util/rand)
const hashLetters = "bcdfghjklmnpqrstvwxz2456789"

// ownerName returns a pod's name without what its owner added. Pods of one namespace with the same owner name are
// taken to be of one owner, which CRI does not name.
func ownerName(pod string) string {
	owner, ofSet := cutPart(pod, hashLetters, 5, 5) // of a ReplicaSet, DaemonSet or Job
	if ofSet {
		if above, cut := cutPart(owner, hashLetters, 6, 10); cut { // of a Deployment's ReplicaSet
			return above
		}
		if above, cut := cutPart(owner, "0123456789", 8, 8); cut { // the minute of a CronJob
			return above
		}
	}
	owner, _ = cutPart(owner, "0123456789", 1, 4) // the ordinal of a StatefulSet, or of an indexed Job
	return owner
}

// cutPart cuts the last part of a name if it consists of some letters alone and has a length between least and
// most. An ordinal has no leading zeros.
func cutPart(name, letters string, least, most int) (string, bool) {
	i := strings.LastIndexByte(name, '-')
	part := name[i+1:]
	if i <= 0 || len(part) < least || len(part) > most || least == 1 && len(part) > 1 && part[0] == '0' {
		return name, false
	}
	for j := range len(part) {
		if strings.IndexByte(letters, part[j]) < 0 {
			return name, false
		}
	}
	return name[:i], true
}

// ownerPath names the owner of a pod with its namespace: shop/api.
func ownerPath(p pleg.PodRef) string { return p.Namespace + "/" + ownerName(p.Name) }

// mostOwned returns the owner of most of some pods, and how many those are. Of several that own as many it is the
// one that had them first.
func mostOwned(pods iter.Seq[pleg.PodRef]) (owner string, most int) {
	owned := make(map[string]int)
	for p := range pods {
		who := ownerPath(p)
		if owned[who]++; owned[who] > most {
			owner, most = who, owned[who]
		}
	}
	return owner, most
}

// An owner is whose trouble a match is. Matches with equal owners are one trouble.
type owner struct{ namespace, name, container, alike string }

// ownerOf returns the owner of an object. An object without the name of its pod is like no other.
func ownerOf(o pleg.ObjectRef, alike string) owner {
	if o.Pod.Name == "" {
		return owner{string(o.Pod.UID), o.ID, o.Container, alike}
	}
	return owner{o.Pod.Namespace, ownerName(o.Pod.Name), o.Container, alike}
}

func (o owner) String() string {
	return strings.TrimRight(o.namespace+"/"+o.name+" "+o.container+" "+o.alike, " ")
}

// fold puts the matches of a rule into groups. The first few of them, as many as it returns, have a finding each, and
// all others have one together; a rest of one group is worth its own finding. Where there are too many, groups that
// have a finding already come first: which of them is the worst may change by the second.
func (f *Facts) fold(r *Rule, all []*Match) (groups [][]*Match, first int) {
	groups = grouped(r, all)
	switch {
	case len(groups) <= r.Most+1:
		return groups, len(groups)
	case !f.told.holdsAny(r.ID):
		return groups, r.Most
	}
	var before, others [][]*Match
	for _, g := range groups {
		if f.told.holds(r.keyOf(g[0])) {
			before = append(before, g)
		} else {
			others = append(others, g)
		}
	}
	return slices.Concat(before, others), r.Most
}

// grouped returns the matches of each owner, in the order of the first of each; for a rule that does not go by owners
// each match alone.
func grouped(r *Rule, all []*Match) (groups [][]*Match) {
	if !r.ByOwner {
		for i := range all {
			groups = append(groups, all[i:i+1])
		}
		return groups
	}
	place, last, n := make(map[owner]int), owner{}, -1
	for _, m := range all {
		if who := m.owner(); n < 0 || who != last { // mostly those of one owner follow each other
			var known bool
			if n, known = place[who]; !known {
				n = len(groups)
				place[who], groups = n, append(groups, nil)
			}
			last = who
		}
		groups[n] = append(groups[n], m)
	}
	return groups
}

// keyOf returns the key that the finding of a group has, by the first of its matches.
func (r *Rule) keyOf(m *Match) Key {
	if r.ByOwner {
		return Key{ID: r.ID, Group: m.owner().String()}
	}
	return Key{ID: r.ID, Subject: m.Subject}
}

// mostAlike returns in what the objects of most owners are alike, if those owners are many, or were and are still
// several: then it is one trouble. It is empty if they are not.
func mostAlike[T any](f *Facts, id ID, all []T, many int, is func(T) (pleg.ObjectRef, string)) (most string) {
	objects, owners := make(map[string]int), make(map[string]int)
	for _, one := range all {
		_, like := is(one)
		objects[like]++
	}
	enough := func(like string, n int) bool {
		return n >= many || n > 1 && f.told.holds(Key{ID: id, Group: like})
	}
	maps.DeleteFunc(objects, func(like string, n int) bool { return !enough(like, n) })
	if len(objects) == 0 {
		return ""
	}
	seen, last := make(map[owner]bool), owner{}
	for _, one := range all {
		object, like := is(one)
		who := ownerOf(object, like)
		if objects[like] == 0 || who == last || seen[who] {
			continue
		}
		seen[who], last = true, who
		if owners[like]++; owners[like] > owners[most] {
			most = like
		}
	}
	if !enough(most, owners[most]) {
		return ""
	}
	return most
}

// namedPods is how many of a group are named in its summary.
const namedPods = 2

// podsOf says how many pods a group has, of which owner, and names the first: "40 pods of shop/api
// (api-7d9f8b6c5d-x2x4z, api-7d9f8b6c5d-zk5qp ...)".
func podsOf(group []*Match) string {
	seen := make(map[string]bool, len(group))
	var names []string
	for _, m := range group {
		pod := m.Subject.Pod.Name
		if len(names) < namedPods && !seen[pod] {
			names = append(names, pod)
		}
		seen[pod] = true
	}
	dots := ""
	if len(seen) > len(names) {
		dots = " ..."
	}
	return fmt.Sprintf("%s of %s (%s%s)", count(len(seen), "pod"), ownerPath(group[0].Subject.Pod), join(names), dots)
}

// namedEnds is how many different ends of several containers are named.
const namedEnds = 4

// endsOf names the different ends of several containers.
func endsOf(all []*Match) string {
	var ends []string
	for _, m := range all {
		if end, _ := m.Values["end"].(string); len(ends) < namedEnds && !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	return strings.Join(ends, " or ")
}
