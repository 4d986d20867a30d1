package diagnose

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

// listFailsTwice is how many lists in a row must fail: the next relist is a
// second away, and the one after it would do.
const listFailsTwice = 2

// plegUnhealthy reports the kubelet's verdict on its PLEG, and a list that fails
// with an error of the runtime's own, which leads to that verdict. Whether
// something explains it is not decided here.
func plegUnhealthy(in Input) []Finding {
	s := in.Snapshot
	failed := listFails(s)
	switch {
	case s.Paused && s.Health.Healthy:
		return nil
	case s.Paused:
		return []Finding{pausedFinding(s)}
	case s.Health.Healthy && !failed:
		return nil
	case s.Health.ListedAt.IsZero() && s.Failure == nil && !anyLate(s):
		return nil // the first relist has only just begun
	}
	return []Finding{in.unhealthyFinding(failed)}
}

// listFails reports whether the list of all pods fails with an error that no
// other rule speaks of. While an engine runs, one failure is not enough: the
// next relist is a second away.
func listFails(s *engine.Snapshot) bool {
	f, r := s.Failure, reading{Snapshot: s}
	if f == nil || !r.ownError(f.Err, r.lasted(f)) || tooLarge(f.Err) {
		return false
	}
	return f.InRow >= listFailsTwice || s.Health.ListedAt.IsZero()
}

// anyLate reports whether a list hangs.
func anyLate(s *engine.Snapshot) bool {
	r := read(s)
	_, hangs := r.list()
	return hangs
}

func (in Input) unhealthyFinding(failed bool) Finding {
	s := in.Snapshot
	f := Finding{
		ID: PLEGUnhealthy, Severity: Critical,
		Summary: overdue(s),
		Next:    in.runtimeSteps(Step{Text: "the kubelet's own words", Command: `journalctl -u kubelet --since -10min --no-pager | grep -e PLEG -e "Skipping pod synchronization"`}),
	}
	if s.Health.ListedAt.IsZero() && s.Failure == nil {
		f.Severity = Warning // the first list is still out
	}
	if s.Health.Healthy {
		f.Summary = fmt.Sprintf("no list succeeds: %s until the threshold", span((s.Threshold - s.Health.ListAge(s.At)).Round(time.Second)))
	}
	if failed {
		f.Summary = fmt.Sprintf("%v fails: %s", s.Failure.Op, excerpt(words(s.Failure.Err)))
		f.Subject.Operation = s.Failure.Op.String()
		f.Next = append([]Step{
			{Text: "the same question by crictl", Command: in.crictl(listVerb(s.Failure.Op))},
			{Text: "what the runtime says", Command: in.logs()},
		}, f.Next...)
	}
	said := verdictLine(s)
	node := nodeLine(s)
	if s.Health.Verdict != "" && strings.Contains(node, s.Health.Verdict) {
		said = "" // the node's message has it
	}
	f.Evidence = lines(said, sinceLine(s), failureLine(s), node, busyLine(s))
	return f
}

// overdue says what the verdict goes by. The kubelet's own words, which the
// evidence has, change with each millisecond.
func overdue(s *engine.Snapshot) string {
	if s.Health.ListedAt.IsZero() {
		return "no list has succeeded yet"
	}
	return fmt.Sprintf("no relist has listed the pods for %s; the threshold is %s", going(s.Health.ListAge(s.At)), span(s.Threshold))
}

func listVerb(op call.Operation) string {
	if op == call.ListPodSandbox {
		return "pods"
	}
	return "ps -a"
}

func verdictLine(s *engine.Snapshot) string {
	if s.Health.Verdict == "" {
		return fmt.Sprintf("unhealthy in %s unless a list succeeds", span((s.Threshold - s.Health.ListAge(s.At)).Round(time.Second)))
	}
	return "the kubelet says: PLEG is not healthy: " + s.Health.Verdict
}

// sinceLine says when the verdict began and how old the last good list is.
func sinceLine(s *engine.Snapshot) string {
	switch {
	case s.Health.ListedAt.IsZero():
		return fmt.Sprintf("no list has succeeded in the %s since plegtop began", going(s.At.Sub(s.Started)))
	case s.Health.Healthy:
		return fmt.Sprintf("the last good list began at %s, %s ago", clock(s.Health.ListedAt), going(s.Health.ListAge(s.At)))
	}
	return fmt.Sprintf("unhealthy for %s since %s; the last good list began at %s", going(s.At.Sub(s.Health.Since)), clock(s.Health.Since), clock(s.Health.ListedAt))
}

func failureLine(s *engine.Snapshot) string {
	if s.Failure == nil {
		return ""
	}
	return refusal(s, *s.Failure)
}

func nodeLine(s *engine.Snapshot) string {
	if !s.Node.Known || s.Node.Ready {
		return ""
	}
	return "node not ready, " + s.Node.Reason + ": " + s.Node.Message
}

// busyLine says what the relist does meanwhile.
func busyLine(s *engine.Snapshot) string {
	if s.Phase.Step != engine.Inspecting {
		return ""
	}
	return fmt.Sprintf("the relist under way has inspected %d of %s in %s", s.Phase.Done, count(s.Phase.Total, "pod"), going(s.At.Sub(s.Phase.Began)))
}

// pausedFinding is about a verdict that plegtop itself brought about.
func pausedFinding(s *engine.Snapshot) Finding {
	return Finding{
		ID: PLEGUnhealthy, Severity: Info,
		Summary:  fmt.Sprintf("relists are paused here: the last list is %s old, which says nothing of the node", going(s.Health.ListAge(s.At))),
		Evidence: lines(s.Health.Verdict),
		Next:     []Step{{Text: "press p to go on"}},
	}
}

// aboutSize are the words of gRPC and of runtimes for a message over its limit.
// The same code comes where calls or threads are what has run out.
var aboutSize = []string{"larger than max", "message size", "exceeds", "too large"}

// tooLarge reports whether an error says that a list is over the limit of a
// message.
func tooLarge(err error) bool {
	if !errors.Is(err, call.ErrTooLarge) && call.Code(err) != "ResourceExhausted" {
		return false
	}
	text := strings.ToLower(words(err))
	return slices.ContainsFunc(aboutSize, func(s string) bool { return strings.Contains(text, s) })
}
