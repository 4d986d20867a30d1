package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// Ended objects are what makes a list long if they are at least 1/endedShare of it. The kubelet's garbage
	// collection leaves far fewer than a quarter.
	endedShare = 4
	// namedHoldings is how many pods are named.
	namedHoldings = 5
)

// holdings returns values about the owners of the objects that make a list long: the ended objects, or all objects if
// few have ended. It returns nil if no list is known.
func (f *Facts) holdings(op call.Operation) Values {
	pods, facts := f.Pods, f.pods
	if f.Beside != nil { // pods and facts must be from one moment
		pods, facts = f.Beside, nil
		for _, p := range f.Beside {
			facts = append(facts, podFactsOf(p, f.at()))
		}
	}
	counts, endedCounts := make(map[pleg.PodRef]int), make(map[pleg.PodRef]int)
	all, ended := 0, 0
	for i, p := range pods {
		n, over := len(seenOf(p).Containers), facts[i].exited
		if op == call.ListPodSandbox {
			n, over = len(seenOf(p).Sandboxes), facts[i].dead
		}
		if n > 0 {
			counts[p.PodRef], endedCounts[p.PodRef] = n, over
			all, ended = all+n, ended+over
		}
	}
	if all == 0 {
		return nil
	}
	v := Values{"what": "containers", "whatEnded": "exited containers", "all": all, "ended": ended, "total": all}
	if op == call.ListPodSandbox {
		v["what"], v["whatEnded"] = "sandboxes", "sandboxes that are not ready"
	}
	sample := len(counts)*2 < len(pods) // the other pods could not be listed
	if sample {
		v["seen"], v["pods"] = len(counts), many{len(pods), "pod"}
	}
	if ended*endedShare < all {
		f.addOwner(v, counts, all)
		return v
	}
	maps.DeleteFunc(endedCounts, func(_ pleg.PodRef, n int) bool { return n == 0 })
	v["what"], v["total"] = v["whatEnded"], ended
	owner, names, mostNamed := f.addOwner(v, endedCounts, 0)
	v["namespace"], _, _ = strings.Cut(owner, "/") // only what has ended may be removed
	if !sample && mostNamed {                      // a few of thousands of pods would be no help
		v["podName"] = names
	}
	return v
}

// addOwner adds the pods with the most objects to v, and the owner of the most objects if it has more than half of all.
// It returns that owner, the names of those of its pods that are named, and whether these pods have at least half of
// the owner's objects.
func (f *Facts) addOwner(v Values, counts map[pleg.PodRef]int, all int) (owner string, names []string, mostNamed bool) {
	fullest := slices.SortedFunc(maps.Keys(counts), func(a, b pleg.PodRef) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), a.Compare(b))
	})
	owned := make(map[string]int)
	for _, p := range fullest {
		who := ownerPath(p)
		if owned[who] += counts[p]; owned[who] > owned[owner] {
			owner = who
		}
	}
	var texts []string
	ofNamed := 0
	for _, p := range fullest[:min(len(fullest), namedHoldings)] {
		texts = append(texts, p.String()+" "+thousands(counts[p]))
		if ownerPath(p) == owner {
			names, ofNamed = append(names, p.Name), ofNamed+counts[p]
		}
	}
	v["fullest"], v["owner"], v["owned"] = texts, owner, owned[owner]
	if owned[owner]*2 > all {
		v["most"] = f.say(lineOf("holdings.most", v))
	}
	return owner, names, ofNamed*2 >= owned[owner]
}
