package diagnose

import (
	"cmp"
	"fmt"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/past"
)

// saysNotReady reports whether the node is NotReady according to the kubelet's rules.
func (f *Facts) saysNotReady() bool { return f.Node.Known && !f.Node.Ready }

// awaitsFirstList reports whether a kubelet that started now would be waiting for its first list. It is for check only.
func (f *Facts) awaitsFirstList() bool {
	return f.once() && !f.Health.Healthy && (f.Failure != nil || f.List() != nil)
}

// verdictValues returns what sentences about the kubelet's verdict on its PLEG need.
func (f *Facts) verdictValues() Values {
	h := &f.Health
	v := Values{"overdue": f.overdue(), "listed": h.ListedAt}
	switch left := f.untilUnhealthy(); {
	case left > 0:
		v["left"] = age(left)
	case f.saysNotReady(): // the sentence about the node contains the verdict
	case f.Node.PLEG != "":
		v["verdict"] = Rounded(f.Node.PLEG)
	case f.unhealthy(), f.once():
		v["verdict"] = "PLEG is not healthy: " + Rounded(h.Verdict)
	}
	switch {
	case h.ListedAt.IsZero():
		v["watched"] = age(f.at().Sub(f.Started))
	case h.Healthy:
		v["old"] = age(h.ListAge(f.at()))
	default:
		v["since"], v["lasted"] = h.Since, age(f.at().Sub(h.Since))
	}
	if p := f.Phase; p.Step == engine.Inspecting {
		v["done"], v["pods"], v["inspecting"] = p.Done, many{p.Total, "pod"}, age(f.at().Sub(p.Began))
	}
	return v
}

// relistsLately returns how many relists of the last minute failed, and how many there were.
func (f *Facts) relistsLately() (failed, all int) {
	for _, r := range f.Relists.History {
		if f.at().Sub(r.At) <= answers.FlakyFor {
			all++
			if r.Failed {
				failed++
			}
		}
	}
	return failed, all
}

// listFailures returns lines that say when lists failed lately, and how.
func (f *Facts) listFailures() (lines []line) {
	for _, e := range f.Memory.Outages.ListsFailed {
		lines = append(lines, lineOf("failed-at", Values{"at": e.At, "operation": e.Op, "error": words(e.Err)}))
	}
	return lines
}

// spellValues returns values that say when PLEG was unhealthy.
func (f *Facts) spellValues(spells []past.Spell) Values {
	var texts []string
	for _, s := range spells {
		texts = append(texts, fmt.Sprintf("%s (%s)", f.clock(s.Began), going(cmp.Or(s.Ended, f.at()).Sub(s.Began))))
	}
	return Values{
		"times": many{len(spells), "time"}, "period": age(f.at().Sub(spells[0].Began)), "spells": texts,
		"threshold": f.Threshold, "listAge": age(f.Health.ListAge(f.at())),
	}
}
