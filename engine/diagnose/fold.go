package diagnose

import (
	"fmt"
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

// groupName names what is one trouble: of one owner, and alike.
func groupName(pod pleg.PodRef, like ...string) string {
	return pod.Namespace + "/" + ownerName(pod.Name) + " " + strings.Join(like, " ")
}

// groupBy returns those of one key together, in the order of the first of each, as
// long as opens lets that one begin a group, and all that are in none.
func groupBy[T any, K comparable](all []T, key func(T) K, opens func(T) bool) (groups [][]T, rest []T) {
	place := make(map[K]int)
	for _, one := range all {
		k := key(one)
		i, known := place[k]
		switch {
		case !known && !opens(one):
			rest = append(rest, one)
			continue
		case !known:
			i = len(groups)
			place[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], one)
	}
	return groups, rest
}

// namesTold is how many of a group are named in its summary.
const namesTold = 2

// podsOf says how many pods a group has, of which owner, and names the first:
// "40 pods of shop/api (api-7d9f8b6c5d-x2x4z, api-7d9f8b6c5d-zk5qp ...)".
func podsOf[T any](group []T, subject func(T) Subject) string {
	seen := make(map[string]bool, len(group))
	var names []string
	for _, one := range group {
		pod := subject(one).Pod.Name
		if len(names) < namesTold && !seen[pod] {
			names = append(names, pod)
		}
		seen[pod] = true
	}
	first := subject(group[0]).Pod
	dots := ""
	if len(seen) > len(names) {
		dots = " ..."
	}
	return fmt.Sprintf("%s of %s/%s (%s%s)", count(len(seen), "pod"), first.Namespace, ownerName(first.Name), join(names), dots)
}
