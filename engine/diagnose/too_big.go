package diagnose

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

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
	// owners is how many namespaces and pods are named.
	owners = 5
)

// listTooBig finds list answers near or over the limit of a message.
func listTooBig(v *view) []Finding {
	s := v.Snapshot
	if f := s.Failure; f != nil && tooLarge(f.Err) {
		return []Finding{v.overLimit(*f)}
	}
	var findings []Finding
	for _, op := range []call.Operation{call.ListContainers, call.ListPodSandbox} {
		if n := sums(s, op).LastResponseBytes; float64(n) > nearLimit*listLimit {
			findings = append(findings, v.nearLimit(op, n))
		}
	}
	if len(findings) == 0 && s.Counts.Exited >= manyExited {
		return []Finding{v.piledUp()}
	}
	return findings
}

// piledUp is about a list that is far from its limit, and on its way there.
func (v *view) piledUp() Finding {
	s := v.Snapshot
	n := sums(s, call.ListContainers).LastResponseBytes
	f := Finding{
		ID: ListTooBig, Severity: Info,
		Summary:  fmt.Sprintf("%s that have exited are still listed: ListContainers answers with %s of %s", count(s.Counts.Exited, "container"), size(n), size(listLimit)),
		Subject:  Subject{Operation: call.ListContainers.String()},
		Evidence: []string{fmt.Sprintf("%s bytes of %s, %.1f%%", thousands(n), thousands(listLimit), 100*float64(n)/listLimit)},
		Next:     v.sizeSteps(),
	}
	f.Evidence = append(f.Evidence, lines(v.past.growth.forecast(call.ListContainers, n, s.At))...)
	f.Evidence = append(f.Evidence, ownerLines(s)...)
	return f
}

func (v *view) overLimit(f engine.Failure) Finding {
	s := v.Snapshot
	found := Finding{
		ID: ListTooBig, Severity: Critical, Since: f.First,
		Summary:  fmt.Sprintf("%v answers with more than the kubelet takes: %s", f.Op, excerpt(words(f.Err))),
		Subject:  Subject{Operation: f.Op.String()},
		Evidence: []string{v.refusal(f)},
		Next:     v.sizeSteps(),
	}
	if got, limit, ok := sizes(words(f.Err)); ok {
		found.Summary = fmt.Sprintf("%v answers with %s, and the kubelet takes at most %s", f.Op, size(got), size(limit))
		found.Evidence = append(found.Evidence, fmt.Sprintf("%s bytes of %s, %.0f%%", thousands(got), thousands(limit), 100*float64(got)/float64(max(limit, 1))))
	}
	if left := v.untilUnhealthy(); left > 0 {
		found.Evidence = append(found.Evidence, fmt.Sprintf("unhealthy in %s if no list returns", span(left.Round(time.Second))))
	}
	found.Evidence = append(found.Evidence, lines(v.past.growth.last(f.Op))...)
	found.Evidence = append(found.Evidence, ownerLines(s)...)
	return found
}

func (v *view) nearLimit(op call.Operation, n uint64) Finding {
	s := v.Snapshot
	f := Finding{
		ID: ListTooBig, Severity: Warning,
		Summary:  fmt.Sprintf("%v answers with %s, %.0f%% of the %s that the kubelet takes", op, size(n), 100*float64(n)/listLimit, size(listLimit)),
		Subject:  Subject{Operation: op.String()},
		Evidence: []string{fmt.Sprintf("%s bytes of %s", thousands(n), thousands(listLimit))},
		Next:     v.sizeSteps(),
	}
	f.Evidence = append(f.Evidence, lines(v.past.growth.forecast(op, n, s.At))...)
	f.Evidence = append(f.Evidence, ownerLines(s)...)
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
	got, err := strconv.ParseUint(m[1], 10, 64)
	if err != nil {
		return 0, 0, false
	}
	limit, err = strconv.ParseUint(m[2], 10, 64)
	return got, limit, err == nil
}

// An owner is a namespace or a pod with the exited containers that it has.
type owner struct {
	name   string
	exited int
}

// ownerLines says who owns the exited containers.
func ownerLines(s *engine.Snapshot) []string {
	if len(s.Pods) == 0 {
		return []string{"who owns the containers is not known: no list has succeeded"}
	}
	namespaces, pods, exited := exitedOwners(s.Pods)
	partial := ""
	if s.Partial != "" {
		partial = "not all was seen: " + s.Partial
	}
	return lines(
		partial,
		fmt.Sprintf("%s of %s have exited, %s of %s are not ready", thousands(exited), count(max(s.Counts.Containers, exited), "container"), thousands(deadSandboxes(s.Pods)), count(s.Counts.Sandboxes, "sandbox")),
		top("by namespace", namespaces), top("by pod", pods),
	)
}

func exitedOwners(all []*engine.Pod) (namespaces, pods []owner, exited int) {
	perNamespace := make(map[string]int)
	for _, p := range all {
		n := exitedIn(p.Seen())
		if n == 0 {
			continue
		}
		exited += n
		perNamespace[p.Namespace] += n
		pods = append(pods, owner{p.String(), n})
	}
	for name, n := range perNamespace {
		namespaces = append(namespaces, owner{name, n})
	}
	return namespaces, pods, exited
}

func exitedIn(p *pleg.Pod) int {
	n := 0
	if p != nil {
		for i := range p.Containers {
			if p.Containers[i].State == pleg.Exited {
				n++
			}
		}
	}
	return n
}

func deadSandboxes(all []*engine.Pod) int {
	n := 0
	for _, p := range all {
		if p.Seen() == nil {
			continue
		}
		for _, s := range p.Seen().Sandboxes {
			if s.State == pleg.Exited {
				n++
			}
		}
	}
	return n
}

// top names the owners with the most exited containers, as one line.
func top(by string, all []owner) string {
	slices.SortFunc(all, func(a, b owner) int {
		return cmp.Or(cmp.Compare(b.exited, a.exited), cmp.Compare(a.name, b.name))
	})
	var named []string
	for _, o := range all[:min(len(all), owners)] {
		named = append(named, o.name+" "+thousands(o.exited))
	}
	if len(named) == 0 {
		return ""
	}
	return "exited containers " + by + ": " + join(named)
}

func (v *view) sizeSteps() []Step {
	steps := []Step{{Text: "how many there are of each pod; with more than 16 MiB crictl fails, too", Command: v.crictl("ps -a --state Exited -o json") + " | grep io.kubernetes.pod.name | sort | uniq -c | sort -n | tail"}}
	if slices.Equal(v.units(), []string{"containerd"}) {
		steps = append(steps, Step{Text: "counts them in containerd's own store, which that limit does not cut off", Command: "ctr -n k8s.io containers list -q | wc -l"})
	}
	return append(steps,
		Step{Text: "find what leaves them behind: a CronJob without history limits, a crash loop, a kubelet that does not collect garbage"},
		Step{Text: "removes the exited containers of one namespace; their logs go with them", Command: v.crictl("rm") + ` $(` + v.crictl("ps -a -q --state Exited --label io.kubernetes.pod.namespace=NAMESPACE") + `)`, Risky: true},
	)
}
