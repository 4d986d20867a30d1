package diagnose

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
)

// hashLetters are all that Kubernetes makes the hashes in names of.
const hashLetters = "bcdfghjklmnpqrstvwxz2456789"

// ownerName returns what is left of a pod's name without what its owner added: pods
// of one namespace for which it is the same are taken to be of one owner, which CRI
// does not name.
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

// ownerOf names the owner of a pod with its namespace: shop/api.
func ownerOf(p pleg.PodRef) string { return p.Namespace + "/" + ownerName(p.Name) }

// mostOwned returns who owns the most of some pods, and how many: of several that own as many,
// who had them first.
func mostOwned(pods iter.Seq[pleg.PodRef]) (owner string, most int) {
	owned := make(map[string]int)
	for p := range pods {
		who := ownerOf(p)
		if owned[who]++; owned[who] > most {
			owner, most = who, owned[who]
		}
	}
	return owner, most
}

// cutPart cuts the last part of a name if it consists of some letters alone and is
// of a length. An ordinal has no zeros before it.
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

// A group names what is one trouble: of one owner, and alike. It is put into words
// only for what is told.
type group struct {
	namespace, owner, container string
	manner
}

// A manner is how calls fail: of which operation, and with which code.
type manner struct{ op, code string }

func (m manner) String() string { return m.op + " " + m.code }

// groupOf returns the group of an object. One whose pod's name is not known is alike with
// nobody.
func groupOf(o pleg.ObjectRef, like manner) group {
	if o.Pod.Name == "" {
		return group{string(o.Pod.UID), o.ID, o.Container, like}
	}
	return group{o.Pod.Namespace, ownerName(o.Pod.Name), o.Container, like}
}

func (g group) String() string {
	return strings.TrimRight(g.namespace+"/"+g.owner+" "+g.container+" "+g.manner.String(), " ")
}

// folded returns a finding for each of the first few groups of one name, in the
// order of the first of each, which its name is known by; and one for all others,
// what rest returns. Where there are too many, those that were told before come
// first: which of them is the worst may change by the second.
func folded[T any](v *view, id ID, all []T, most int, name func(T) group, one func([]T) Finding, rest func([]T) Finding) (findings []Finding) {
	groups := grouped(all, name)
	if len(groups) <= most+1 { // a rest of one is worth its own finding
		most = len(groups)
	} else if v.told != nil {
		var told, others [][]T
		for _, g := range groups {
			if v.told.holds(Key{ID: id, Group: name(g[0]).String()}) {
				told = append(told, g)
			} else {
				others = append(others, g)
			}
		}
		groups = slices.Concat(told, others)
	}
	for _, g := range groups[:most] {
		f := one(g)
		now := name(g[0]).String()
		if f.Group = v.told.group(f, now); f.Group != now && slices.ContainsFunc(groups, func(g []T) bool { return name(g[0]).String() == f.Group }) {
			f.Group = now
		}
		findings = append(findings, f)
	}
	if left := slices.Concat(groups[most:]...); len(left) > 0 {
		findings = append(findings, rest(left))
	}
	return findings
}

// grouped returns the members of each group, in the order of the first of each.
func grouped[T any](all []T, name func(T) group) (groups [][]T) {
	place, of, sizes := make(map[group]int), make([]int, len(all)), []int(nil)
	for i, o := range all {
		g := name(o)
		n, known := place[g]
		if !known {
			n, place[g] = len(groups), len(groups)
			groups, sizes = append(groups, nil), append(sizes, 0)
		}
		of[i] = n
		sizes[n]++
	}
	room := make([]T, len(all)) // for all of them, as there may be ten thousand groups
	for n, size := range sizes {
		groups[n], room = room[:0:size], room[size:]
	}
	for i, o := range all {
		groups[of[i]] = append(groups[of[i]], o)
	}
	return groups
}

// namesTold is how many of a group are named in its summary.
const namesTold = 2

// podsOf says how many pods a group has, of which owner, and names the first:
// "40 pods of shop/api (api-7d9f8b6c5d-x2x4z, api-7d9f8b6c5d-zk5qp ...)".
func podsOf[T problem](group []T) string {
	seen := make(map[string]bool, len(group))
	var names []string
	for _, one := range group {
		pod := one.subject().Pod.Name
		if len(names) < namesTold && !seen[pod] {
			names = append(names, pod)
		}
		seen[pod] = true
	}
	first := group[0].subject().Pod
	dots := ""
	if len(seen) > len(names) {
		dots = " ..."
	}
	return fmt.Sprintf("%s of %s (%s%s)", count(len(seen), "pod"), ownerOf(first), join(names), dots)
}
