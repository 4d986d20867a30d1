package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

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
	words:    []nodeWord{(*view).unseen},
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
		left = fmt.Sprintf("unhealthy in %s if no list returns", span(until.Round(time.Second)))
	}
	found := v.sizeFinding(Critical, f.Op, summary, v.refusal(f), bytes, left, v.lastSize(f.Op))
	found.Since = f.First
	return found
}

// sizeFinding is about the size of a list, with who owns what is in it.
func (v *view) sizeFinding(severity Severity, op call.Operation, summary string, figures ...string) Finding {
	owners, exited := v.owners()
	f := Finding{ID: ListTooBig, Severity: severity, Summary: summary, Subject: Subject{Operation: op.String()}, Next: v.sizeSteps(op, exited)}
	f.say(figures...)
	if v.Release >= streamsFrom && severity > Info {
		f.say("the kubelet's gate CRIListStreaming is taken to be off, as by default; where it is on, and the runtime streams its lists, there is no such limit")
	}
	f.say(owners...)
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

// owners says who owns the exited containers, or, where hardly any is, all of them:
// exited is false then.
func (v *view) owners() (said []string, exited bool) {
	all, facts := v.Pods, v.pods
	if v.Beside != nil {
		var beside podTable
		beside.update(&engine.Snapshot{At: v.At, Pods: v.Beside})
		all, facts = v.Beside, beside.Values
	}
	if len(all) == 0 {
		return []string{"who owns the containers is not known: no list has succeeded"}, true
	}
	listed, sandboxes, ended, dead := 0, 0, 0, 0
	for i, p := range all { // figures of one moment, which the counts of the last whole list may not be
		listed, sandboxes = listed+len(seen(p).Containers), sandboxes+len(seen(p).Sandboxes)
		ended, dead = ended+facts[i].exited, dead+facts[i].dead
	}
	exited = ended*exitedShare >= listed
	var namespaces, pods owners
	for i, p := range all {
		n := facts[i].exited
		if !exited {
			n = len(seen(p).Containers)
		}
		if n > 0 {
			namespaces.add(pleg.PodRef{Namespace: p.Namespace}, n)
			pods.add(pleg.PodRef{Namespace: p.Namespace, Name: cmp.Or(p.Name, string(p.UID))}, n)
		}
	}
	what := "containers"
	if exited {
		what = "exited containers"
	}
	partial := ""
	if v.Partial != "" {
		partial = "not all was seen: " + v.Partial
	}
	return []string{
		partial,
		fmt.Sprintf("%s of %s have exited, %s of %s are not ready", thousands(ended), count(listed, "container"), thousands(dead), count(sandboxes, "sandbox")),
		namespaces.line(what + " by namespace"), pods.line(what + " by pod"),
	}, exited
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
		name := one.Namespace
		if one.Name != "" {
			name = one.PodRef.String()
		}
		names = append(names, name+" "+thousands(one.containers))
	}
	if len(names) == 0 {
		return ""
	}
	return by + ": " + join(names)
}

// sizeSteps returns what to do about a long list: about exited containers only where these
// make it long, and else about large ones, as labels and annotations are listed with each.
func (v *view) sizeSteps(op call.Operation, exited bool) []Step {
	if op == call.ListPodSandbox {
		return []Step{
			{Text: "how many sandboxes each pod has; with more than 16 MiB crictl fails, too", Command: v.crictl("pods -o json") + " | grep io.kubernetes.pod.name | sort | uniq -c | sort -n | tail"},
			{Text: "find what leaves them behind: jobs that end, a pod that starts again and again; or whose annotations are large"},
			{Text: "removes the sandboxes of one namespace that are not ready, with their containers", Command: v.crictl("rmp") + ` $(` + v.crictl("pods -q --state NotReady --namespace=NAMESPACE") + `)`, Risky: true},
		}
	}
	if !exited {
		return []Step{
			{Text: "which containers take the most room: their labels and annotations are listed with them", Command: v.crictl("ps -a -o json") + ` | jq -r '.containers[] | "\(tostring | length) \(.labels["io.kubernetes.pod.namespace"])/\(.labels["io.kubernetes.pod.name"])"' | sort -n | tail`},
			{Text: "find who makes so many pods for one node, or such large annotations"},
		}
	}
	steps := []Step{{Text: "how many there are of each pod; with more than 16 MiB crictl fails, too", Command: v.crictl("ps -a --state Exited -o json") + " | grep io.kubernetes.pod.name | sort | uniq -c | sort -n | tail"}}
	if slices.Equal(v.units(), []string{"containerd"}) { // first, as it works in any case
		steps = slices.Insert(steps, 0, Step{Text: "counts them in containerd's own store, which that limit does not cut off", Command: "ctr -n k8s.io containers list -q | wc -l"})
	}
	return append(steps,
		Step{Text: "find what leaves them behind: a CronJob without history limits, a crash loop, a kubelet that does not collect garbage"},
		Step{Text: "removes the exited containers of one namespace; their logs go with them", Command: v.crictl("rm") + ` $(` + v.crictl("ps -a -q --state Exited --label io.kubernetes.pod.namespace=NAMESPACE") + `)`, Risky: true},
	)
}
