package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// ListTooBig is a list near or over the size that a kubelet takes.
const ListTooBig ID = "list-too-big"

const (
	// listLimit is the largest answer that a kubelet takes. (cri-client, maxMsgSize; crictl has the same)
	listLimit = 16 << 20
	// nearLimit is the share of it from which a list is too big: the rest is a few thousand containers, which a broken
	// CronJob makes in a day.
	nearLimit = 0.8
	// exitedShare is the part of all, one in so many, from which on exited containers make a list long. Garbage collection
	// leaves far fewer than a quarter.
	exitedShare = 4
	// namedHoldings is how many pods are named.
	namedHoldings = 5
	// streamsFrom is the first kubelet with the gate CRIListStreaming, which is off by default in all known ones.
	streamsFrom pleg.Release = 36
	// worthRemoval is the part of the fullest pod, one in so many, that a pod must have to be worth a command.
	worthRemoval = 10
)

// A list is over the limit of a message, and its error says so; or it is near the limit.
var listTooBig = Rule{
	ID: ListTooBig, Needs: Unpaused, Warned: AtRisk,
	Find: func(f *Facts, report func(Match)) {
		if e := f.Failure; e != nil && answers.IsTooLarge(e.Err) {
			if f.Partial != "" || f.Beside != nil || f.at().Sub(e.First) >= f.Snapshot.Policy.Bounds().OwnersWait { // who owns what is listed pod by pod
				report(f.overLimit(e))
			}
			return
		}
		near := false
		for _, op := range []call.Operation{call.ListContainers, call.ListPodSandbox} {
			if n := f.Sums(op).LastResponseBytes; float64(n) > nearLimit*listLimit {
				near = true
				report(f.tooBig("near", Warning, op, n, listLimit))
			}
		}
		if !near && f.Counts.Exited >= manyExited { // far from the limit, and on the way there
			m := f.tooBig("many-exited", Info, call.ListContainers, f.Sums(call.ListContainers).LastResponseBytes, listLimit)
			m.Values["exited"] = many{f.Counts.Exited, "container"}
			report(m)
		}
	},
}

// overLimit is about a list that failed because of its size.
func (f *Facts) overLimit(e *answers.Failure) Match {
	got, limit, known := sizesIn(words(e.Err))
	m := f.tooBig("", Critical, e.Op, got, limit)
	if !known {
		m.Variant, m.Values["error"] = "no-size", extract(words(e.Err))
	}
	if left := f.untilUnhealthy(); left > 0 {
		m.Values["left"] = age(left)
	}
	m.Since, m.Lines["refusals"] = e.First, []line{f.refusal(e)}
	return m
}

// tooBig is about the size of a list, with who owns what is in it.
func (f *Facts) tooBig(variant string, severity Severity, op call.Operation, got, limit uint64) Match {
	h := f.holdings(op)
	share, decimals := 100*float64(got)/float64(max(limit, 1)), 0
	if severity == Info { // far from the limit a whole number is mostly 0
		decimals = 1
	}
	v := Values{
		"operation": op, "got": bytes(got), "limit": bytes(limit), "gotBytes": got, "limitBytes": limit,
		"share": fmt.Sprintf("%.*f%%", decimals, share), "most": h.most(), "owner": h.ownerName(),
		"unseen": f.Partial, "streams": f.Release >= streamsFrom && severity > Info,
	}
	if h.dead && h.total > 0 {
		v["namespace"], v["podName"] = h.owner.Namespace, h.fullest()
	}
	m := Match{Variant: variant, Severity: severity, Subject: Subject{Operation: op.String()}, Values: v, Lines: map[string][]line{"holdings": h.lines}}
	m.Steps = map[string][]Step{"+shorten": f.advise("list.too-big-containers", v)}
	if op == call.ListPodSandbox {
		m.Steps["+shorten"] = f.advise("list.too-big-sandboxes", v)
	}
	return m
}

// bothSizes finds what gRPC says of a message over its limit.
var bothSizes = regexp.MustCompile(`\((\d+) vs\.? (\d+)\)`)

func sizesIn(text string) (got, limit uint64, known bool) {
	m := bothSizes.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	got, tooLong := strconv.ParseUint(m[1], 10, 64)
	limit, err := strconv.ParseUint(m[2], 10, 64)
	return got, limit, errors.Join(tooLong, err) == nil
}

// Holdings are who owns what makes a list long.
type holdings struct {
	what   string // is counted: "exited containers"
	dead   bool   // it is dead objects that make the list long, or nothing is known
	total  int    // of what is counted
	owner  pleg.PodRef
	owned  int           // by that owner
	sample string        // of how many pods it is known, if not of all
	pods   []*engine.Pod // the fullest first
	of     map[*engine.Pod]int
	lines  []line
}

// holdings returns who owns the exited containers, or of a list of sandboxes those that are not ready. If hardly any
// is, it returns who owns all of them.
func (f *Facts) holdings(op call.Operation) holdings {
	all := f.Pods
	if f.Beside != nil {
		all = f.Beside
	}
	if len(all) == 0 {
		return holdings{dead: true, lines: []line{lineOf("holdings.unknown", nil)}}
	}
	containers, sandboxes, exited, dead, asked := 0, 0, 0, 0, 0
	facts := f.pods
	if f.Beside != nil {
		facts = make([]podFacts, len(all))
		for i, p := range all {
			facts[i] = podFactsOf(p, f.at())
		}
	}
	for i, p := range all {
		containers, sandboxes = containers+len(seenOf(p).Containers), sandboxes+len(seenOf(p).Sandboxes)
		exited, dead, asked = exited+facts[i].exited, dead+facts[i].dead, asked+min(len(seenOf(p).Containers), 1)
	}
	h := holdings{what: "containers", of: make(map[*engine.Pod]int)}
	counted := func(i int) int { return len(seenOf(all[i]).Containers) }
	switch {
	case op == call.ListPodSandbox && dead*exitedShare >= sandboxes:
		h.what, h.dead, counted = "sandboxes that are not ready", true, func(i int) int { return facts[i].dead }
	case op == call.ListPodSandbox:
		h.what, counted = "sandboxes", func(i int) int { return len(seenOf(all[i]).Sandboxes) }
	case exited*exitedShare >= containers:
		h.what, h.dead, counted = "exited containers", true, func(i int) int { return facts[i].exited }
	}
	if asked*2 < len(all) && op == call.ListContainers {
		h.sample = fmt.Sprintf(" in %s of %s", thousands(asked), count(len(all), "pod"))
	}
	owned := make(map[pleg.PodRef]int)
	for i, p := range all {
		if n := counted(i); n > 0 {
			h.total += n
			h.pods, h.of[p] = append(h.pods, p), n
			owned[pleg.PodRef{Namespace: p.Namespace, Name: ownerName(cmp.Or(p.Name, string(p.UID)))}] += n
		}
	}
	slices.SortStableFunc(h.pods, func(a, b *engine.Pod) int { return cmp.Compare(h.of[b], h.of[a]) })
	for _, who := range slices.SortedFunc(maps.Keys(owned), pleg.PodRef.Compare) {
		if owned[who] >= h.owned {
			h.owner, h.owned = who, owned[who]
		}
	}
	var names []string
	for _, p := range h.pods[:min(len(h.pods), namedHoldings)] {
		names = append(names, cmp.Or(p.PodRef.String(), string(p.UID))+" "+thousands(h.of[p]))
	}
	h.lines = []line{
		lineOf("holdings", Values{"exited": exited, "containers": many{containers, "container"}, "dead": dead, "sandboxes": many{sandboxes, "sandbox"}}),
		lineOf("holdings.pods", Values{"what": h.what, "pods": names}),
	}
	return h
}

// most says who owns most of it; empty if that is not known, or if it is nobody's alone.
func (h *holdings) most() string {
	switch {
	case h.owned == 0:
		return ""
	case h.owned == h.total:
		return fmt.Sprintf("%s %s of %s%s", thousands(h.owned), h.what, h.ownerName(), h.sample)
	case h.owned*2 > h.total:
		return fmt.Sprintf("%s of %s %s are of %s%s", thousands(h.owned), thousands(h.total), h.what, h.ownerName(), h.sample)
	case !h.dead:
		return ""
	}
	return fmt.Sprintf("%s %s, most of %s (%s)%s", thousands(h.total), h.what, h.ownerName(), thousands(h.owned), h.sample)
}

func (h *holdings) ownerName() string {
	if h.owner.Name == "" {
		return h.owner.Namespace
	}
	return h.owner.String()
}

// fullest returns the names of the owner's pods that have most of it; nil if thousands of pods have a few each.
func (h *holdings) fullest() (names []string) {
	held := 0
	for _, p := range h.pods[:min(len(h.pods), namedHoldings)] {
		n := h.of[p]
		if n*worthRemoval >= h.of[h.pods[0]] && p.Namespace == h.owner.Namespace && ownerName(p.Name) == h.owner.Name {
			names, held = append(names, p.Name), held+n
		}
	}
	if h.sample != "" || held*2 < h.owned {
		return nil
	}
	return names
}
