package diagnose

import (
	"iter"
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
)

// hashLetters are the letters of all hashes that Kubernetes puts into names. (apimachinery, util/rand)
const hashLetters = "bcdfghjklmnpqrstvwxz2456789"

// ownerName returns a pod's name without the parts that its owner added. Pods of one namespace with the same owner name
// count as pods of one owner, because CRI does not name the owner.
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

// cutPart cuts the last part of a name, if that part has only these letters, and a length between least and most. An
// ordinal has no leading zeros. It reports whether it has cut.
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

// ownerPath returns the owner of a pod with its namespace: shop/api.
func ownerPath(p pleg.PodRef) string { return p.Namespace + "/" + ownerName(p.Name) }

// mostOwned returns the owner of most of some pods, and how many it owns. If several owners have as many, it returns
// the one that reached that number first.
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

// An owner identifies whose trouble a match is. Matches with equal owners are one trouble.
type owner struct{ namespace, name, container, alike string }

// ownerOf returns the owner of an object. An object whose pod has no known name equals no other object.
func ownerOf(o pleg.ObjectRef, alike string) owner {
	if o.Pod.Name == "" {
		return owner{string(o.Pod.UID), o.ID, o.Container, alike}
	}
	return owner{o.Pod.Namespace, ownerName(o.Pod.Name), o.Container, alike}
}

func (o owner) String() string {
	return strings.TrimRight(o.namespace+"/"+o.name+" "+o.container+" "+o.alike, " ")
}

// mostAlike returns what the objects of most owners have in common, if these owners are at least many. Then it is one
// trouble. If the trouble already has a finding, two owners are enough. Otherwise it returns an empty string.
func mostAlike[T any](f *Facts, id ID, all []T, many int, is func(T) (pleg.ObjectRef, string)) (most string) {
	type tally struct{ objects, owners int }
	tallies := make(map[string]*tally)
	for _, one := range all {
		_, like := is(one)
		if tallies[like] == nil {
			tallies[like] = new(tally)
		}
		tallies[like].objects++
	}
	enough := func(like string, n int) bool {
		return n >= many || n > 1 && f.told.holds(Key{ID: id, Group: like})
	}
	seen, last, best := make(map[owner]bool), owner{}, 0
	for _, one := range all {
		object, like := is(one)
		t := tallies[like]
		if !enough(like, t.objects) {
			continue
		}
		if who := ownerOf(object, like); who != last && !seen[who] {
			seen[who], last = true, who
			t.owners++
		}
		if t.owners > best {
			most, best = like, t.owners
		}
	}
	if !enough(most, best) {
		return ""
	}
	return most
}
