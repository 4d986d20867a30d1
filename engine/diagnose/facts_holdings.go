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
	// endedShare is the part of a list, one in so many, from which on ended objects make it long. The kubelet's garbage
	// collection leaves far fewer than a quarter.
	endedShare = 4
	// namedHoldings is how many pods are named.
	namedHoldings = 5
)

// holdings returns values about the owners of what makes a list long: its ended objects, or all if hardly any has
// ended. It returns none if no list is known.
func (f *Facts) holdings(op call.Operation) Values {
	pods, facts := f.Pods, f.pods
	if f.Beside != nil { // they are all of one moment
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
	byEnded := ended*endedShare >= all
	if byEnded {
		counts, v["what"], v["total"] = endedCounts, v["whatEnded"], ended
		maps.DeleteFunc(counts, func(_ pleg.PodRef, n int) bool { return n == 0 })
	}
	fullest := slices.SortedFunc(maps.Keys(counts), func(a, b pleg.PodRef) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), a.Compare(b))
	})
	owner, owned := "", make(map[string]int)
	for _, p := range fullest {
		who := ownerPath(p)
		if owned[who] += counts[p]; owned[who] > owned[owner] {
			owner = who
		}
	}
	var texts, names []string
	ofNamed := 0
	for _, p := range fullest[:min(len(fullest), namedHoldings)] {
		texts = append(texts, p.String()+" "+thousands(counts[p]))
		if ownerPath(p) == owner {
			names, ofNamed = append(names, p.Name), ofNamed+counts[p]
		}
	}
	v["fullest"], v["owner"], v["owned"] = texts, owner, owned[owner]
	if byEnded || owned[owner]*2 > all {
		v["most"] = f.say(lineOf("holdings.most", v))
	}
	if byEnded { // what runs must not be removed
		v["namespace"], _, _ = strings.Cut(owner, "/")
	}
	if byEnded && !sample && ofNamed*2 >= owned[owner] { // a few of thousands of pods would be no help
		v["podName"] = names
	}
	return v
}
