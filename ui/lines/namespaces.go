package lines

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/finding"
)

// within returns u without what is only about other namespaces than these; none
// stands for all. What is about the node stays. A headline that speaks of what was
// left out keeps its word alone, and is no worse than the worst finding that stays.
func within(u diagnose.Update, namespaces []string) diagnose.Update {
	if len(namespaces) == 0 {
		return u
	}
	for _, f := range u.Findings {
		if h := &u.Headline; !f.In(namespaces) && (finding.Sound(*h) || strings.Contains(h.Text, f.Summary) || strings.Contains(h.Text, f.Subject.Pod.Name)) {
			h.Text = ""
		}
	}
	u.Findings = diagnose.OnlyIn(u.Findings, namespaces)
	u.Turns = slices.DeleteFunc(slices.Clone(u.Turns), func(t diagnose.Turn) bool { return !t.Finding.In(namespaces) })
	if u.Headline.Text == "" {
		u.Headline.Severity = min(u.Headline.Severity, finding.Worst(u.Findings))
	}
	return u
}
