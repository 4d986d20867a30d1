package lines

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// causeOfWorst returns what stands behind the worst finding. There must be one at
// least.
func causeOfWorst(findings []diagnose.Finding) diagnose.Finding {
	at := slices.IndexFunc(findings, func(f diagnose.Finding) bool { return f.Severity == worst(findings) })
	for range findings { // a chain has no more links; the count ends a circle
		i := causeOf(findings, findings[at])
		if i < 0 {
			break
		}
		at = i
	}
	return findings[at]
}

// causeOf returns the index of the finding that explains f, -1 if there is none.
func causeOf(findings []diagnose.Finding, f diagnose.Finding) int {
	return slices.IndexFunc(findings, func(c diagnose.Finding) bool { return f.Cause != "" && f.Cause == c.ID })
}

// fine says in a sentence how a node without a finding was.
func fine(s *engine.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s: ", plural(s.Counts.Pods, "pod"), plural(s.Counts.Containers, "container"))
	if count, errors := calls(s); errors == 0 {
		b.WriteString("every call answered")
	} else {
		fmt.Fprintf(&b, "%d of %d calls failed", errors, count)
	}
	fmt.Fprintf(&b, ", slowest %s", text.Took(slowest(s)))
	if why := unfinished(s.Sweep); why != "" {
		fmt.Fprintf(&b, "; not all were asked: %s", why)
	}
	return b.String()
}

// calls returns how many calls have returned, and how many of them failed.
func calls(s *engine.Snapshot) (count, errors uint64) {
	for _, c := range s.Calls {
		count, errors = count+c.Count, errors+c.Errors
	}
	return count, errors
}

func slowest(s *engine.Snapshot) (most time.Duration) {
	for _, c := range s.Calls {
		most = max(most, c.Max)
	}
	return most
}

// unfinished returns why s did not ask for every object; empty if it did.
func unfinished(s *engine.Sweep) string {
	switch {
	case s == nil:
		return "nothing was asked for"
	case s.Refused != "":
		return s.Refused
	case s.GivenUp != "":
		return "given up: " + s.GivenUp
	case s.CutOff:
		return "cut off by the deadline"
	case s.Canceled:
		return "canceled"
	}
	return ""
}

// sweepTook returns how long the sweep of s took, so far if it is under way.
func sweepTook(s *engine.Snapshot) time.Duration {
	switch w := s.Sweep; {
	case w == nil || w.Began.IsZero():
		return 0
	case w.Ended.IsZero():
		return s.At.Sub(w.Began)
	default:
		return w.Ended.Sub(w.Began)
	}
}

// plural returns "1 pod", "2 pods", "2 sandboxes".
func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "x"):
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// name returns the parts of a subject that a person looks for; empty if it is
// about nothing in particular. It is not cleaned.
func name(on diagnose.Subject) string { return words(on.Operation, podName(on), on.Container) }

// podName returns namespace/name, or empty where there is no pod.
func podName(on diagnose.Subject) string {
	if on.Pod == (pleg.PodRef{}) {
		return ""
	}
	return on.Pod.String()
}

// words joins those of all that are not empty with a space.
func words(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(w string) bool { return w == "" }), " ")
}
