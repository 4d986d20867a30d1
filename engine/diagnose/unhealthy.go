package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// PLEGUnhealthy is the verdict of the kubelet on its PLEG.
const PLEGUnhealthy ID = "pleg-unhealthy"

var plegUnhealthyKind = &kind{
	id: PLEGUnhealthy, find: plegUnhealthy,
	needs: unpaused, is: unhealthy, because: silences | garbles | delays,
	words: []nodeWord{(*view).kernelSaid, (*view).callsInFlight, (*view).runtimeUnits}, kernel: ofDisk, killed: runtimeKilled,
	severity: "critical", scenario: "`unhealthy`",
	when: "the verdict itself, since when; mostly an effect; a list that fails with an error of its own, at first as a warning, and as one where it does " +
		"so three times in a minute with successes between; a warning also where it was unhealthy twice or more within twenty thresholds, and is not now",
}

// plegUnhealthy reports the kubelet's verdict on its PLEG, a list that fails
// with an error of the runtime's own, which leads to that verdict, and a verdict that
// was given again and again.
func plegUnhealthy(v *view) []Finding {
	var f Finding
	// A kubelet that starts waits for its first list.
	starts := v.Policy.Bounds().Starting && !v.Health.Healthy && (v.Failure != nil || v.List() != nil)
	failed, unsteady, spells := v.listFails(), v.unsteadyList(), v.flaps()
	switch {
	case failed, v.unhealthy(), starts && unsteady == nil:
		f = v.unhealthyFinding(failed)
	case unsteady != nil:
		f = v.unsteadyFinding()
	case spells != nil:
		f = v.flappingFinding(spells)
	default:
		return nil
	}
	if spells != nil {
		v.sayFlaps(&f, spells)
	}
	return []Finding{f}
}

// unhealthy reports whether a kubelet on this node would say so now. One that has
// long been up had a good list when plegtop began, at the latest.
func (v *view) unhealthy() bool {
	if v.Health.ListedAt.IsZero() {
		return !v.Policy.Bounds().Starting && v.Node.PLEG != ""
	}
	return !v.Health.Healthy && !v.Paused
}

// listFails reports whether the list of all pods fails with an error that no
// other rule speaks of. While an engine runs, one failure is not enough, and on a
// runtime where calls fail now and then, two are not.
func (v *view) listFails() bool {
	f := v.Failure
	if f == nil || !v.saysOfList(f) {
		return false
	}
	steady := v.Flaky.Failed == 0 && v.unsteadyList() == nil
	return f.InRow >= v.Policy.Bounds().ListFails && (steady || v.At.Sub(f.First) >= v.Policy.Bounds().FailingLong)
}

// saysOfList reports whether a list failed with an error that no other rule speaks of.
func (v *view) saysOfList(f *answers.Failure) bool {
	return v.OwnError(f.Err, v.Lasted(f)) && !answers.IsTooLarge(f.Err) && !answers.IsUnreadable(f.Err)
}

// failsByTurns reports whether lists fail now and then, and not for long.
func (v *view) failsByTurns() bool {
	all := v.Memory.Outages.ListsFailed
	return len(all) >= answers.Outages && v.At.Sub(all[0].At) <= answers.FlakyFor && (v.Failure == nil || v.At.Sub(v.Failure.First) < v.Policy.Bounds().FailingLong)
}

// unsteadyList returns the last failure of lists that fail so, where one of the last has failed
// with an error that no other rule speaks of; nil if none has. The runtime is there, and says why.
func (v *view) unsteadyList() *answers.Failure {
	all := v.Memory.Outages.ListsFailed
	if v.failsByTurns() && slices.ContainsFunc(all, func(f answers.Failure) bool { return v.saysOfList(&f) }) {
		return &all[len(all)-1]
	}
	return nil
}

// unsteadyWords are said of lists that fail now and then. Which of them and with which error
// changes from one second to the next, and stands in the evidence.
const unsteadyWords = "lists fail intermittently"

// namedCodes is how many codes of errors a headline names.
const namedCodes = 2

// byTurnsID returns which finding says more of lists that fail now and then.
func (v *view) byTurnsID() ID {
	if v.unsteadyList() != nil {
		return PLEGUnhealthy
	}
	return RuntimeDown
}

// byTurns says that lists fail now and then, and with which errors mostly, in the order of the
// alphabet: nothing in it changes from one second to the next.
func (v *view) byTurns() string {
	text := "runtime intermittently unreachable"
	if v.unsteadyList() != nil {
		text = unsteadyWords
	}
	var names []string
	for _, c := range v.listCodes() {
		names = append(names, c.Code)
	}
	if names = names[:min(namedCodes, len(names))]; len(names) > 0 {
		slices.Sort(names)
		text += ": " + join(names)
	}
	return text
}

// listCodes returns with which codes lists have failed, and how often, the most frequent first.
func (v *view) listCodes() (all []answers.CodeCount) {
	for _, c := range slices.Concat(v.Sums(call.ListPodSandbox).ByCode, v.Sums(call.ListContainers).ByCode) {
		if i := slices.IndexFunc(all, func(o answers.CodeCount) bool { return o.Code == c.Code }); i >= 0 {
			all[i].Count += c.Count
		} else {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b answers.CodeCount) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

func (v *view) unsteadyFinding() Finding {
	f := Finding{
		ID: PLEGUnhealthy, Severity: Warning, Summary: unsteadyWords,
		Next: v.advise("lists.fail", nil),
	}
	all, failed := 0, 0
	for _, r := range v.Relists.History {
		if v.At.Sub(r.At) <= answers.FlakyFor {
			all++
			if r.Failed {
				failed++
			}
		}
	}
	f.say(fmt.Sprintf("%d of %s of the last %s failed", failed, count(all, "relist"), going(answers.FlakyFor)))
	for _, one := range v.Memory.Outages.ListsFailed {
		f.say(fmt.Sprintf("at %s %v failed: %s", v.clock(one.At), one.Op, words(one.Err)))
	}
	var counts []string
	for _, c := range v.listCodes() {
		counts = append(counts, fmt.Sprintf("%s %s", c.Code, count(c.Count, "time")))
	}
	if len(counts) > 1 {
		f.say("lists have failed with " + join(counts))
	}
	return f
}

// asking returns the steps that show whether a list that fails does so for others, and why.
func (v *view) asking(list call.Operation) []Step {
	return v.advise("call.fails", Values{"verb": one(verbs[list])})
}

func (v *view) unhealthyFinding(failed bool) Finding {
	f := Finding{
		ID: PLEGUnhealthy, Severity: Critical, Since: v.Health.Since,
		Summary: v.overdue(),
		Next:    v.runtimeSteps(v.advise("kubelet.says", nil)...),
	}
	if failed {
		f.Summary = fmt.Sprintf("%v fails: %s", v.Failure.Op, excerpt(words(v.Failure.Err)))
		f.Subject.Operation = v.Failure.Op.String()
		f.Next = append(v.asking(v.Failure.Op), f.Next...)
		if !v.unhealthy() {
			f.Since, f.Severity = v.Failure.First, v.failingSeverity(v.Failure.First)
		}
	}
	node := ""
	if n := v.Node; n.Known && !n.Ready {
		node = "by the kubelet's rules the node is NotReady: " + n.Reason + ": " + Rounded(n.Message)
	}
	if v.Health.Verdict == "" || !strings.Contains(node, Rounded(v.Health.Verdict)) { // else the node's message has it
		f.say(v.verdictLine())
	}
	f.say(v.sinceLine())
	if v.Failure != nil {
		f.say(v.refusal(*v.Failure))
	}
	f.say(node, v.posting())
	if p := v.Phase; p.Step == engine.Inspecting {
		f.say(fmt.Sprintf("the relist under way has inspected %d of %s in %s", p.Done, count(p.Total, "pod"), going(v.At.Sub(p.Began))))
	}
	return f
}

// overdue says what the verdict goes by. The kubelet's own words, which the
// evidence has, change with each millisecond.
func (v *view) overdue() string {
	if v.Health.ListedAt.IsZero() {
		return "no list has succeeded yet"
	}
	age := v.Health.ListAge(v.At)
	if left := v.untilUnhealthy(); left > 0 {
		age = v.Threshold - left // the time of a pause does not count
	}
	return fmt.Sprintf("no relist has listed the pods for %s; the threshold is %s", going(age), span(v.Threshold))
}

// verdictLine has the kubelet's own words, or says when it would use them.
func (v *view) verdictLine() string {
	switch left := v.untilUnhealthy(); {
	case left > 0:
		return fmt.Sprintf("unhealthy in %s unless a list succeeds", going(left))
	case v.Node.PLEG != "":
		return "a kubelet that sees the same says: " + Rounded(v.Node.PLEG)
	case v.Policy.Bounds().Starting:
		return "a kubelet that starts now says: PLEG is not healthy: " + Rounded(v.Health.Verdict)
	case v.unhealthy():
		return "a kubelet that sees the same says: PLEG is not healthy: " + Rounded(v.Health.Verdict)
	}
	return ""
}

// sinceLine says when the verdict began and how old the last good list is.
func (v *view) sinceLine() string {
	switch h := v.Health; {
	case h.ListedAt.IsZero():
		return fmt.Sprintf("no list has succeeded in the %s since plegtop began", going(v.At.Sub(v.Started)))
	case h.Healthy:
		return fmt.Sprintf("the last good list began at %s, %s ago", v.clock(h.ListedAt), going(h.ListAge(v.At)))
	default:
		return fmt.Sprintf("unhealthy for %s since %s; the last good list began at %s", going(v.At.Sub(h.Since)), v.clock(h.Since), v.clock(h.ListedAt))
	}
}
