package say

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// HeadlineLook returns how a headline is shown: as good only if the node is sound, and as bad only
// if it may become NotReady, and in any case if that comes soon.
func HeadlineLook(t *theme.Theme, h diagnose.Headline) (symbol string, st theme.Style) {
	switch {
	case h.Sound():
		return t.Symbols.Good, t.Good
	case h.StaysReady():
		return SeverityLook(t, diagnose.Warning)
	case h.NotReadySoon():
		return SeverityLook(t, diagnose.Critical)
	case h.Severity > diagnose.Info:
		return SeverityLook(t, h.Severity)
	}
	return t.Symbols.Unknown, t.Warn
}

// Countdown says what comes next by itself; empty if nothing does, or if it would only say of a
// node that it becomes what it is.
func Countdown(h diagnose.Headline) string {
	if h.Clock.What == "" || h.Node == diagnose.NodeNotReady && (h.Clock.What == "NotReady" || h.Clock.What == "PLEG unhealthy") {
		return ""
	}
	from, to, held := text.Age(h.Clock.In), text.Age(h.Clock.To), theme.When(h.Clock.Held, " (when Version gives up)", "")
	switch what := h.Clock.What; what {
	case "PLEG unhealthy":
		return "node NotReady in " + from + " (PLEG)"
	case "NotReady", "Ready":
		h.Clock.What = "node " + what
	}
	switch {
	case h.Clock.To <= h.Clock.In || from == to:
		return h.Clock.What + " in " + from + held
	case h.Clock.In <= 0:
		return h.Clock.What + " within " + to + held
	}
	return h.Clock.What + " in " + from + " to " + to + held
}

// Clauses joins what a headline says beside its word.
func Clauses(h diagnose.Headline) string {
	all := []string{Countdown(h), text.After(h.Word, h.Text)}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "; ")
}

// Checked returns h for a look that was made once: where all is well and h has
// nothing to add to that, its text says how the node of s was.
func Checked(h diagnose.Headline, s *engine.Snapshot) diagnose.Headline {
	if h.Sound() && h.Text == "" {
		h.Text = Fine(s)
	}
	return h
}

// Fine says in a sentence how a node without a finding was.
func Fine(s *engine.Snapshot) string {
	var count, errors uint64
	var slowest time.Duration
	for _, c := range s.Calls {
		count, errors, slowest = count+c.Count, errors+c.Errors, max(slowest, c.Max)
	}
	said := "every call answered"
	if errors > 0 {
		said = fmt.Sprintf("%d of %d calls failed", errors, count)
	}
	return fmt.Sprintf("%s, %s: %s, slowest %s", Plural(s.Counts.Pods, "pod"), Plural(s.Counts.Containers, "container"), said, text.Took(slowest))
}

// Plural returns "1 pod", "2 pods", "2 sandboxes".
func Plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "x"):
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}
