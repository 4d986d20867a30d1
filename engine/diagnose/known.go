package diagnose

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/waits"
)

// anyWord stands for every runtime and every version.
const anyWord = "any"

// looksLike names the known bugs that this looks like, each in a line of evidence. None
// is a finding: two bugs may look the same.
func (v *view) looksLike() (lines []string) {
	for _, b := range knowledge.Bugs() {
		if mayBeIn(b, v.Version.RuntimeName, v.Version.RuntimeVersion) && v.matches(b.Signature) {
			lines = append(lines, fmt.Sprintf("looks like %s: %s; fixed in %s: %s", b.ID, b.What, b.Fixed, b.Source))
		}
	}
	return lines
}

// sayKnown tells the first finding of something that hangs which known bugs it looks
// like.
func (v *view) sayKnown(findings []Finding) {
	i := slices.IndexFunc(findings, func(f Finding) bool { return kindOf(f.ID).hangs })
	if i < 0 {
		return
	}
	f := &findings[i]
	place := min(bugPlace, len(f.Evidence)-len(f.Members)) // the members' lines are the last
	f.Evidence = slices.Insert(slices.Clone(f.Evidence), place, v.looksLike()...)
}

// bugPlace is how many lines of evidence stand before those about known bugs: what hangs,
// and who holds the lock.
const bugPlace = 2

// mayBeIn reports whether a runtime of a version may have a bug. One that does not tell a
// version may have any.
func mayBeIn(b knowledge.Bug, runtime, version string) bool {
	if b.Runtime != anyWord && !strings.EqualFold(b.Runtime, runtime) {
		return false
	}
	v, err := parseVersion(version)
	return err != nil || slices.ContainsFunc(b.Versions, func(r string) bool { in, err := inRange(v, r); return in && err == nil })
}

func (v *view) matches(s knowledge.Signature) bool {
	for _, words := range s.Stacks {
		if !v.hasStack(words) {
			return false
		}
	}
	return (s.Calls == nil || slices.ContainsFunc(s.Calls, v.callHangs)) &&
		(s.Helpers == nil || slices.ContainsFunc(s.Helpers, v.hasHelper)) &&
		(s.Kernel == nil || slices.ContainsFunc(s.Kernel, v.inFunction)) &&
		!slices.ContainsFunc(s.Without.Helpers, v.hasHelper) && !slices.ContainsFunc(s.Without.Kernel, v.inFunction)
}

// hasStack reports whether one stack of the runtime's dump has all of some words.
func (v *view) hasStack(words []string) bool {
	is := func(state string, frames []string) bool {
		for _, w := range words {
			if of, ok := strings.CutPrefix(w, "state "); ok && !strings.HasPrefix(state, of) ||
				!ok && !slices.ContainsFunc(frames, func(f string) bool { return strings.Contains(f, w) }) {
				return false
			}
		}
		return true
	}
	stacks := &v.deep().Stacks
	return slices.ContainsFunc(stacks.Groups, func(g evidence.Group) bool { return is(g.State, g.Frames) }) ||
		slices.ContainsFunc(stacks.Open, func(g evidence.Goroutine) bool { return is(g.State, g.Frames) }) ||
		slices.ContainsFunc(stacks.Locks, func(l evidence.Lock) bool { return is(l.Holder.State, l.Holder.Frames) })
}

// callHangs reports whether a call of the CRI waits.
func (v *view) callHangs(method string) bool {
	return v.inGraph(waits.Call, func(n *waits.Node) bool { return n.Name == method || strings.HasPrefix(n.Name, method+" of ") })
}

// hasHelper reports whether a helper with a verb should have ended, or is at work on what
// hangs.
func (v *view) hasHelper(verb string) bool {
	return v.inGraph(waits.Helper, func(n *waits.Node) bool { return n.Process().Verb == verb })
}

// inFunction reports whether anybody waits in a function of the kernel.
func (v *view) inFunction(name string) bool {
	is := func(n *waits.Node) bool {
		p := n.Process()
		return p.State.Stuck() && p.WaitsIn(func(function string) bool { return strings.Contains(function, name) })
	}
	return v.inGraph(waits.Shim, is) || v.inGraph(waits.Helper, is) || v.inGraph(waits.Process, is)
}

func (v *view) inGraph(kind waits.Kind, is func(*waits.Node) bool) (found bool) {
	v.graph().Each(kind, func(_ int, n *waits.Node) { found = found || is(n) })
	return found
}

// A version is major, minor, patch.
type version [3]int

// parseVersion reads a version such as v2.1.4 or 1.33.2-5.rhaos; what follows the patch
// level is left out.
func parseVersion(s string) (v version, err error) {
	if _, err = fmt.Sscanf(strings.TrimPrefix(s, "v"), "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil {
		return version{}, fmt.Errorf("read version %q: %w", s, err)
	}
	return v, nil
}

// inRange reports whether a version is in a range, such as ">=1.7.0 <1.7.16".
func inRange(v version, r string) (bool, error) {
	if r == anyWord {
		return true, nil
	}
	in := r != ""
	for bound := range strings.FieldsSeq(r) {
		text, least := strings.CutPrefix(bound, ">=")
		text, before := strings.CutPrefix(text, "<")
		b, err := parseVersion(text)
		if err != nil || least == before {
			return false, errors.Join(fmt.Errorf("bound %q is no >= and no <", bound), err)
		}
		in = in && slices.Compare(v[:], b[:]) >= 0 == least
	}
	return in, nil
}
