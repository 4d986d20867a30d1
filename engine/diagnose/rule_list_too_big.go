package diagnose

import (
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// ListTooBig is a list that is near or over the largest size that a kubelet takes.
const ListTooBig ID = "list-too-big"

const (
	// listLimit is the largest answer that a kubelet takes, in bytes. (cri-client, maxMsgSize; crictl has the same)
	listLimit = 16 << 20
	// A list is too big when it has nearLimit of listLimit: the rest is a few thousand containers, and a broken CronJob
	// makes these in a day.
	nearLimit = 0.8
	// streamsFrom is the first kubelet with the feature gate CRIListStreaming. The gate is off by default in all known
	// kubelets.
	streamsFrom pleg.Release = 36
)

// A list is over the limit of a message, and its error says so; or it is near the limit.
var listTooBig = Rule{
	ID: ListTooBig, Needs: Unpaused, Warned: AtRisk,
	Find: func(f *Facts, report func(Match)) {
		if e := f.Failure; e != nil && answers.IsTooLarge(e.Err) {
			// First the pods are listed one by one, because that shows who owns the containers. It takes some seconds.
			if f.Partial != "" || f.Beside != nil || f.at().Sub(e.First) >= f.Snapshot.Policy.Bounds().OwnersWait {
				report(f.overLimit(e))
			}
			return
		}
		for _, op := range []call.Operation{call.ListContainers, call.ListPodSandbox} {
			if n := f.Sums(op).LastResponseBytes; float64(n) > nearLimit*listLimit {
				m := f.tooBig(op, n, listLimit)
				m.Variant, m.Severity = "near", Warning
				report(m)
			}
		}
	},
}

// overLimit returns a match about a list that failed because of its size.
func (f *Facts) overLimit(e *answers.Failure) Match {
	got, limit := sizesIn(words(e.Err))
	m := f.tooBig(e.Op, got, limit)
	m.Severity, m.Since = Critical, e.First
	if limit == 0 {
		m.Variant, m.Values["error"] = "no-size", extract(words(e.Err))
	}
	if left := f.untilUnhealthy(); left > 0 {
		m.Values["left"] = age(left)
	}
	m.Lines = map[string][]line{"refusals": {f.refusal(e)}}
	return m
}

// tooBig returns a match about the size of a list, with the owner of most of its objects.
func (f *Facts) tooBig(op call.Operation, got, limit uint64) Match {
	v := Values{
		"operation": op, "got": bytes(got), "limit": bytes(limit), "gotBytes": got, "limitBytes": limit,
		"share": wholeNumber(100 * float64(got) / float64(max(limit, 1))), "streams": f.Release >= streamsFrom, "unseen": f.Partial,
	}.with(f.holdings(op))
	shorten := "list.too-big-containers"
	if op == call.ListPodSandbox {
		shorten = "list.too-big-sandboxes"
	}
	return Match{Subject: Subject{Operation: op.String()}, Values: v, Steps: map[string][]Step{"+shorten": f.advise(shorten, v)}}
}
