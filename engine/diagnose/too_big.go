package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// ListTooBig is a list near or over what a kubelet takes.
const ListTooBig ID = "list-too-big"

var listTooBigKind = &kind{
	id: ListTooBig, find: listTooBig,
	needs: unpaused, is: delays, because: silences,
	warned:   Headline{Word: "AT RISK"},
	severity: "critical", scenario: "`list-too-big`",
	when: "a list is over the 16 MiB that a kubelet takes, and the error says so; a warning from 80 % of it; info from 1,000 exited containers, far more than " +
		"the kubelet's garbage collection leaves",
}

const (
	// listLimit is the largest answer that a kubelet takes: its
	// maxMsgSize, and that of crictl.
	listLimit = 16 << 20
	// nearLimit is the share of it from which on a list is too big: what is left
	// of it is a few thousand containers, which a broken CronJob makes in a day.
	nearLimit = 0.8
	// manyExited is how many exited containers are worth a word: the kubelet keeps
	// one of each container of a pod that is there, so that thousands mean that its
	// garbage collection does not work.
	manyExited = 1000
	// exitedShare says from which part of all on exited containers are what makes a list
	// long: a quarter is far more than garbage collection leaves.
	exitedShare = 4
	// streamsFrom is the first kubelet with the gate CRIListStreaming, which is off by
	// default in all that are known.
	streamsFrom pleg.Release = 36
	// ownersTold is how many namespaces and pods are named.
	ownersTold = 5
	// fewOf is the part of the most that a pod must have for its containers to be worth a removal.
	fewOf = 10
)

// listTooBig finds list answers near or over the limit of a message.
func listTooBig(v *view) []Finding {
	if f := v.Failure; f != nil && answers.IsTooLarge(f.Err) {
		if v.Partial == "" && v.Beside == nil && v.At.Sub(f.First) < v.Policy.Bounds().OwnersWait {
			return nil
		}
		return []Finding{v.overLimit(*f)}
	}
	var findings []Finding
	for _, op := range []call.Operation{call.ListContainers, call.ListPodSandbox} {
		if n := v.Sums(op).LastResponseBytes; float64(n) > nearLimit*listLimit {
			summary := fmt.Sprintf("%v answers with %s, %.0f%% of the %s that the kubelet takes", op, size(n), 100*float64(n)/listLimit, size(listLimit))
			findings = append(findings, v.sizeFinding(Warning, op, summary,
				fmt.Sprintf("%s bytes of %s", thousands(n), thousands(listLimit)), v.forecast(op, n)))
		}
	}
	if len(findings) == 0 && v.Counts.Exited >= manyExited { // far from the limit, and on the way there
		op := call.ListContainers
		n := v.Sums(op).LastResponseBytes
		summary := fmt.Sprintf("%s that have exited are still listed: %v answers with %s of %s", count(v.Counts.Exited, "container"), op, size(n), size(listLimit))
		return []Finding{v.sizeFinding(Info, op, summary,
			fmt.Sprintf("%s bytes of %s, %.1f%%", thousands(n), thousands(listLimit), 100*float64(n)/listLimit), v.forecast(op, n))}
	}
	return findings
}

func (v *view) overLimit(f answers.Failure) Finding {
	summary, bytes, left := fmt.Sprintf("%v answers with more than is taken: %s", f.Op, excerpt(words(f.Err))), "", ""
	if got, limit, ok := sizes(words(f.Err)); ok {
		summary = fmt.Sprintf("%v answers with %s, and the kubelet takes at most %s", f.Op, size(got), size(limit))
		bytes = fmt.Sprintf("%s bytes of %s, %.0f%%", thousands(got), thousands(limit), 100*float64(got)/float64(max(limit, 1)))
	}
	if until := v.untilUnhealthy(); until > 0 {
		left = fmt.Sprintf("unhealthy in %s if no list returns", going(until))
	}
	found := v.sizeFinding(Critical, f.Op, summary, v.refusal(f), bytes, left, v.lastSize(f.Op))
	found.Since = f.First
	return found
}

// sizeFinding is about the size of a list, with who owns what is in it: that is its cause.
func (v *view) sizeFinding(severity Severity, op call.Operation, summary string, figures ...string) Finding {
	h := v.holdings(op)
	f := Finding{ID: ListTooBig, Severity: severity, Summary: summary + h.most(), Subject: Subject{Operation: op.String()}, Next: v.sizeSteps(op, h)}
	f.say(h.lines...) // the cause: what the error says is in the headline
	f.say(figures...)
	if v.Release >= streamsFrom && severity > Info {
		f.say("the kubelet's gate CRIListStreaming is taken to be off, as by default; where it is on, and the runtime streams its lists, there is no such limit")
	}
	return f
}

// bothSizes finds what gRPC says of a message over its limit.
var bothSizes = regexp.MustCompile(`\((\d+) vs\.? (\d+)\)`)

// sizes returns the two sizes that the error names.
func sizes(text string) (got, limit uint64, ok bool) {
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
	what   string // what is counted: "exited containers"
	exited bool   // it is they that make the list long, or nothing is known
	total  int    // of what is counted; 0 where nothing is known
	owner  owner  // who owns the most of them, by what its pods are called; zero where nothing is known
	pods   owners
	part   string // of how many pods it is known, where that is a sample; else empty
	lines  []string
}

// most says whose most of it is, with a colon before it; empty where that is not known.
func (h *holdings) most() string {
	n := h.owner.containers
	switch {
	case n == 0:
		return ""
	case n == h.total:
		return fmt.Sprintf(": %s %s of %s", thousands(n), h.what, h.owner.name()) + h.part
	case n*2 > h.total:
		return fmt.Sprintf(": %s of %s %s are of %s", thousands(n), thousands(h.total), h.what, h.owner.name()) + h.part
	case !h.exited: // it is nobody's alone
		return ""
	}
	return fmt.Sprintf(": %s %s, most of %s (%s)", thousands(h.total), h.what, h.owner.name(), thousands(n)) + h.part
}

// holdings returns who owns the exited containers, or of a list of sandboxes those that are not
// ready; where hardly any is, who owns all of them.
func (v *view) holdings(op call.Operation) holdings {
	all, facts := v.Pods, v.pods
	if v.Beside != nil {
		var beside podTable
		beside.update(&engine.Snapshot{At: v.At, Pods: v.Beside})
		all, facts = v.Beside, beside.Values
	}
	if len(all) == 0 {
		return holdings{exited: true, lines: []string{"who owns the containers is not known: no list has succeeded"}}
	}
	listed, sandboxes, ended, dead, asked := 0, 0, 0, 0, 0
	for i, p := range all { // figures of one moment, which the counts of the last whole list may not be
		asked += min(len(seen(p).Containers), 1)
		listed, sandboxes = listed+len(seen(p).Containers), sandboxes+len(seen(p).Sandboxes)
		ended, dead = ended+facts[i].exited, dead+facts[i].dead
	}
	h, of := holdings{}, func(i int) int { return len(seen(all[i]).Containers) }
	switch h.what = "containers"; {
	case op == call.ListPodSandbox && dead*exitedShare >= sandboxes:
		h.what, h.exited, of = "sandboxes that are not ready", true, func(i int) int { return facts[i].dead }
	case op == call.ListPodSandbox:
		h.what, of = "sandboxes", func(i int) int { return len(seen(all[i]).Sandboxes) }
	case ended*exitedShare >= listed:
		h.what, h.exited, of = "exited containers", true, func(i int) int { return facts[i].exited }
	}
	if asked*2 < len(all) && op == call.ListContainers {
		h.part = fmt.Sprintf(" in %s of %s", thousands(asked), count(len(all), "pod"))
	}
	var namespaces owners
	byOwner := make(map[pleg.PodRef]int) // their pods need not be neighbours
	for i, p := range all {
		if n := of(i); n > 0 {
			h.total += n
			namespaces.add(pleg.PodRef{Namespace: p.Namespace}, n)
			h.pods.add(pleg.PodRef{Namespace: p.Namespace, Name: cmp.Or(p.Name, string(p.UID))}, n)
			byOwner[pleg.PodRef{Namespace: p.Namespace, Name: ownerName(cmp.Or(p.Name, string(p.UID)))}] += n
		}
	}
	for who, n := range byOwner {
		if cmp.Or(cmp.Compare(n, h.owner.containers), who.Compare(h.owner.PodRef)) > 0 {
			h.owner = owner{who, n}
		}
	}
	h.lines = append(h.lines,
		fmt.Sprintf("%s of %s have exited, %s of %s are not ready", thousands(ended), count(listed, "container"), thousands(dead), count(sandboxes, "sandbox")),
		h.pods.line(h.what+" by pod"), namespaces.line(h.what+" by namespace"))
	if v.Partial != "" {
		h.lines = append(h.lines, "not all was seen: "+v.Partial)
	}
	return h
}

// owners is who owns the most containers, told one after the other in their
// order.
type owners struct {
	most []owner // the first have the most
	last owner   // not among them yet
}

// An owner is a pod, or a namespace if that has no name.
type owner struct {
	pleg.PodRef
	containers int
}

func (o owner) name() string {
	if o.Name == "" {
		return o.Namespace
	}
	return o.PodRef.String()
}

func (o *owners) add(who pleg.PodRef, containers int) {
	if who != o.last.PodRef {
		o.end()
		o.last = owner{PodRef: who}
	}
	o.last.containers += containers
}

// end counts the last one as whole.
func (o *owners) end() {
	i := len(o.most)
	for i > 0 && o.most[i-1].containers < o.last.containers {
		i--
	}
	if o.last.containers > 0 && i < ownersTold {
		o.most = slices.Insert(o.most, i, o.last)
		o.most = o.most[:min(len(o.most), ownersTold)]
	}
}

// line names them.
func (o *owners) line(by string) string {
	o.end()
	var names []string
	for _, one := range o.most {
		names = append(names, one.name()+" "+thousands(one.containers))
	}
	if len(names) == 0 {
		return ""
	}
	return by + ": " + join(names)
}

// sizeSteps returns what to do about a long list: about what is dead only where that makes it
// long, and else about large entries, as labels and annotations are listed with each.
func (v *view) sizeSteps(op call.Operation, h holdings) []Step {
	culprit, values := "list.too-big-containers", Values{"owner": one(h.owner.name())}
	if op == call.ListPodSandbox {
		culprit = "list.too-big-sandboxes"
	}
	if h.exited && h.total > 0 {
		values["namespace"], values["podName"] = one(h.owner.Namespace), h.fullest()
	}
	return v.advise(culprit, values)
}

// fullest returns the names of the owner's pods that have most of what fills a list; nothing where
// thousands of pods have a few each.
func (h holdings) fullest() (names []string) {
	held := 0
	for _, p := range h.pods.most {
		worth := p.containers*fewOf >= h.pods.most[0].containers
		if worth && p.Namespace == h.owner.Namespace && ownerName(p.Name) == h.owner.Name {
			names = append(names, p.Name)
			held += p.containers
		}
	}
	if h.part != "" || held*2 < h.owner.containers {
		return nil
	}
	return names
}
