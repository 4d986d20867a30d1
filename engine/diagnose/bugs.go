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

// bugPlace is how many lines of evidence come before the lines about known bugs: what hangs, and who holds the lock.
const bugPlace = 2

// addBugs finds the known bugs that the node looks like, and adds them to the first finding about something that hangs.
// They are evidence and not findings, because two bugs may look alike.
func (f *Facts) addBugs(findings []Finding) {
	i := slices.IndexFunc(findings, func(o Finding) bool { return ruleOf(o.ID).Hangs })
	if i < 0 {
		return
	}
	var lines []line
	for _, b := range knowledge.Bugs() {
		if mayBeIn(b, f.Version.RuntimeName, f.Version.RuntimeVersion) && f.matches(b.Signature) {
			lines = append(lines, lineOf("bug", Values{"bug": b.ID, "what": b.What, "fixed": b.Fixed, "source": b.Source}))
		}
	}
	o := &findings[i]
	place := min(bugPlace, len(o.Evidence)-len(o.Members))
	o.Evidence = slices.Insert(slices.Clone(o.Evidence), place, f.textsOf(lines)...)
}

// anyWord means every runtime or every version.
const anyWord = "any"

// mayBeIn reports whether a runtime of a version may have a bug. A runtime whose version cannot be read may have any
// bug.
func mayBeIn(b knowledge.Bug, runtime, version string) bool {
	if b.Runtime != anyWord && !strings.EqualFold(b.Runtime, runtime) {
		return false
	}
	v, err := parseVersion(version)
	return err != nil || slices.ContainsFunc(b.Versions, func(r string) bool { in, err := inRange(v, r); return in && err == nil })
}

// matches reports whether a node looks as it does when it has a bug with this signature.
func (f *Facts) matches(s knowledge.Signature) bool {
	for _, words := range s.Stacks {
		if !f.hasStack(words) {
			return false
		}
	}
	return (s.Calls == nil || slices.ContainsFunc(s.Calls, f.callHangs)) &&
		(s.Helpers == nil || slices.ContainsFunc(s.Helpers, f.hasHelper)) &&
		(s.Kernel == nil || slices.ContainsFunc(s.Kernel, f.waitsIn)) &&
		(s.Without.Stacks == nil || !f.hasStack(s.Without.Stacks)) && !slices.ContainsFunc(s.Without.Helpers, f.hasHelper) && !slices.ContainsFunc(s.Without.Kernel, f.waitsIn)
}

// hasStack reports whether one stack in the runtime's dump contains all the words.
func (f *Facts) hasStack(words []string) bool {
	is := func(state string, frames []string) bool {
		return !slices.ContainsFunc(words, func(w string) bool {
			if of, ofState := strings.CutPrefix(w, "state "); ofState {
				return !strings.HasPrefix(state, of)
			}
			return !slices.ContainsFunc(frames, func(frame string) bool { return strings.Contains(frame, w) })
		})
	}
	stacks := &f.deep().Stacks
	return slices.ContainsFunc(stacks.Groups, func(g evidence.Group) bool { return is(g.State, g.Frames) }) ||
		slices.ContainsFunc(stacks.Open, func(g evidence.Goroutine) bool { return is(g.State, g.Frames) }) ||
		slices.ContainsFunc(stacks.Locks, func(l evidence.Lock) bool { return is(l.Holder.State, l.Holder.Frames) })
}

// callHangs reports whether a CRI call waits.
func (f *Facts) callHangs(method string) bool {
	return f.inGraph(waits.Call, func(n *waits.Node) bool { return n.Name == method || strings.HasPrefix(n.Name, method+" of ") })
}

// hasHelper reports whether there is a helper with a verb that should have ended, or that works on something that
// hangs.
func (f *Facts) hasHelper(verb string) bool {
	return f.inGraph(waits.Helper, func(n *waits.Node) bool { return n.Process().Verb == verb })
}

// waitsIn reports whether a process waits in a kernel function whose name contains name.
func (f *Facts) waitsIn(name string) bool {
	is := func(n *waits.Node) bool {
		p := n.Process()
		return p.State.Stuck() && p.WaitsIn(func(function string) bool { return strings.Contains(function, name) })
	}
	return f.inGraph(waits.Shim, is) || f.inGraph(waits.Helper, is) || f.inGraph(waits.Process, is)
}

// inGraph reports whether such is true for any node of a kind.
func (f *Facts) inGraph(kind waits.Kind, such func(*waits.Node) bool) (found bool) {
	f.Graph().Each(kind, func(_ int, n *waits.Node) { found = found || such(n) })
	return found
}

// A version is a major, a minor and a patch number.
type version [3]int

// parseVersion reads a version such as v2.1.4 or 1.33.2-5.rhaos. It ignores what follows the patch number.
func parseVersion(s string) (v version, err error) {
	if _, err = fmt.Sscanf(strings.TrimPrefix(s, "v"), "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil {
		return version{}, fmt.Errorf("read version %q: %w", s, err)
	}
	return v, nil
}

// inRange reports whether a version is in a range, such as ">=1.7.0 <1.7.16". It returns an error if the range cannot
// be read.
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
