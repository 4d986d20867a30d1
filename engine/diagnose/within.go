package diagnose

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// elsewhere is the text of a headline about a pod that nobody asked for.
const elsewhere = "for a pod of another namespace"

// Within returns u without what is only about other namespaces than these; no namespaces means all. What is about the
// node stays. If the headline is about something that was left out, it keeps its word, but is no worse than the worst
// finding that stays. A headline that only sums up warnings becomes HEALTHY if none of them stays. Within does not
// change u. Pods of other namespaces are still among [Update.Standings].
func (u Update) Within(namespaces []string) Update {
	if len(namespaces) == 0 {
		return u
	}
	if u.speaksElsewhere(namespaces) {
		sums := u.Headline.sumsUp()
		u.Headline.Text, u.Headline.Severity = elsewhere, min(u.Headline.Severity, Worst(onlyIn(u.Findings, namespaces)))
		if sums && u.Headline.Severity == Info {
			u.Headline.Word, u.Headline.Text = Healthy, "" // nobody asked which warnings there are elsewhere
		}
	}
	u.Findings = onlyIn(u.Findings, namespaces)
	u.Ended = narrowed(u.Ended, namespaces, func(e *Ended) *Finding { return &e.Finding })
	u.Turns = narrowed(u.Turns, namespaces, func(t *Turn) *Finding { return &t.Finding })
	return u
}

// speaksElsewhere reports whether the headline is about a finding in another namespace, or names the pod of a call
// there. There may be no finding about that call yet.
func (u Update) speaksElsewhere(namespaces []string) bool {
	found := func(f Finding) bool { return !f.In(namespaces) && u.Headline.speaksOf(f) }
	out := func(f call.Flight) bool {
		return !slices.Contains(namespaces, f.Pod.Namespace) && u.Headline.Names(f.Pod)
	}
	return slices.ContainsFunc(u.Findings, found) || u.Snapshot != nil && slices.ContainsFunc(u.Snapshot.InFlight, out)
}

// narrowed returns the items of all whose findings concern these namespaces, with their findings narrowed to them.
func narrowed[T any](all []T, namespaces []string, of func(*T) *Finding) (kept []T) {
	for _, one := range all {
		if f, in := of(&one).only(namespaces); in {
			*of(&one) = f
			kept = append(kept, one)
		}
	}
	return kept
}

// Worst returns the highest severity among findings; Info if there are none. It is safe for concurrent use.
func Worst(findings []Finding) (s Severity) {
	for _, f := range findings {
		s = max(s, f.Severity)
	}
	return s
}

// sumsUp reports whether a headline is about all warnings, and not about one critical finding.
func (h Headline) sumsUp() bool { return h.Word == Degraded && h.Severity < Critical }

// speaksOf reports whether a headline sums up a finding together with others, or contains its summary, or names its
// pod.
func (h Headline) speaksOf(f Finding) bool {
	return h.sumsUp() && f.Severity > Info || f.Summary != "" && strings.Contains(h.Text, f.Summary) || h.Names(f.Subject.Pod)
}

// Names reports whether the text of a headline contains the name of a pod: with its namespace, and not as a part of
// another name. It is false for a pod without a name.
func (h Headline) Names(p pleg.PodRef) bool {
	if p.Name == "" {
		return false
	}
	inName := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-./", r) }
	name, rest := p.String(), h.Text
	for {
		before, after, found := strings.Cut(rest, name)
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !found || !inName(last) && (next == '/' || !inName(next)) { // the name of a container may follow
			return found
		}
		rest = after
	}
}

// In reports whether a finding concerns any of these namespaces. A finding about the node or the runtime concerns all.
// With no namespaces it returns true.
func (f Finding) In(namespaces []string) bool {
	_, in := f.only(namespaces)
	return in
}

// onlyIn returns the findings that concern any of these namespaces, in their order. From a finding that sums up several
// pods, pods of other namespaces are left out. onlyIn does not change findings; with no namespaces it returns them.
func onlyIn(findings []Finding, namespaces []string) []Finding {
	if len(namespaces) == 0 {
		return findings
	}
	var kept []Finding
	for _, f := range findings {
		if f, in := f.only(namespaces); in {
			kept = append(kept, f)
		}
	}
	toRoots(kept) // a cause that is left out explains nothing
	return kept
}

// only returns what is left of a finding in some namespaces, and whether anything is left.
func (f Finding) only(namespaces []string) (Finding, bool) {
	in := func(s Subject) bool { return slices.Contains(namespaces, s.Pod.Namespace) }
	switch {
	case len(namespaces) == 0:
		return f, true
	case !f.Subject.ofNoPod():
		return f, in(f.Subject)
	case len(f.Members) == 0:
		return f, true
	}
	first := len(f.Evidence) - len(f.Members)
	members, evidence := f.Members, f.Evidence[first:]
	f.Members, f.Evidence = nil, slices.Clone(f.Evidence[:first])
	for i, m := range members {
		if in(m) {
			f.Members, f.Evidence = append(f.Members, m), append(f.Evidence, evidence[i])
		}
	}
	return f, len(f.Members) > 0 || f.Count > len(members) // some of those that are not named may be in the namespaces
}
