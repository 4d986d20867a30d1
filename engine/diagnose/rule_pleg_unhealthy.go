package diagnose

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/past"
)

// PLEGUnhealthy is the verdict of the kubelet on its PLEG.
const PLEGUnhealthy ID = "pleg-unhealthy"

const (
	// flapsLeast is how many unhealthy times make a flapping PLEG: one is an incident.
	flapsLeast = 2
	// flapWindow is how far back they count, in thresholds: an hour with the kubelet's 3 min. One cannot begin until a list
	// has been missing for a threshold.
	flapWindow = 20
	// namedCodes is how many codes of errors a headline names.
	namedCodes = 2
)

// The kubelet's verdict on its PLEG; a list that fails with the runtime's own error, which leads to it; lists that fail
// now and then; or a verdict that was given again and again.
var plegUnhealthy = Rule{
	ID: PLEGUnhealthy, Needs: Unpaused,
	Find: func(f *Facts, report func(Match)) {
		// A kubelet that starts waits for its first list.
		starts := f.once() && !f.Health.Healthy && (f.Failure != nil || f.List() != nil)
		failed, turns, spells := f.listFails(), f.listsFailByTurns(), f.flaps()
		var m Match
		switch {
		case failed, f.unhealthy(), starts && !turns:
			m = f.unhealthyPLEG(failed)
		case turns:
			m = f.failingByTurns()
		case spells != nil:
			m = Match{Variant: "flapping", Severity: Warning, Since: spells[0].Began, Brief: "pleg flapping", Values: Values{}, Lines: map[string][]line{}}
		default:
			return
		}
		if spells != nil {
			f.addFlaps(&m, spells)
		}
		report(m)
	},
}

// unhealthy reports whether a kubelet on this node would say so now. A kubelet that has long been up had a good list when
// plegtop began, at the latest.
func (f *Facts) unhealthy() bool {
	if f.Health.ListedAt.IsZero() {
		return !f.once() && f.Node.PLEG != ""
	}
	return !f.Health.Healthy && !f.Paused
}

// listFails reports whether the list of all pods fails with an error that no other rule is about. While an engine runs
// one failure is not enough, and on a runtime where calls fail now and then two are not.
func (f *Facts) listFails() bool {
	e := f.Failure
	if e == nil || !f.ownListError(e) {
		return false
	}
	steady := f.Flaky.Failed == 0 && !f.listsFailByTurns()
	b := f.Snapshot.Policy.Bounds()
	return e.InRow >= b.ListFails && (steady || f.at().Sub(e.First) >= b.FailingLong)
}

// ownListError reports whether a list failed with an error that no other rule is about.
func (f *Facts) ownListError(e *answers.Failure) bool {
	return f.OwnError(e.Err, f.Lasted(e)) && !answers.IsTooLarge(e.Err) && !answers.IsUnreadable(e.Err)
}

// failsByTurns reports whether lists fail now and then, and not for long.
func (f *Facts) failsByTurns() bool {
	all := f.Memory.Outages.ListsFailed
	return len(all) >= answers.Outages && f.at().Sub(all[0].At) <= answers.FlakyFor &&
		(f.Failure == nil || f.at().Sub(f.Failure.First) < f.Snapshot.Policy.Bounds().FailingLong)
}

// listsFailByTurns reports the same, if the runtime is there and says why.
func (f *Facts) listsFailByTurns() bool {
	return f.failsByTurns() && slices.ContainsFunc(f.Memory.Outages.ListsFailed, func(e answers.Failure) bool { return f.ownListError(&e) })
}

// turnsID is the kind of finding that says more of lists that fail now and then.
func (f *Facts) turnsID() ID {
	if f.listsFailByTurns() {
		return PLEGUnhealthy
	}
	return RuntimeDown
}

// turnsText says that lists fail now and then, with the most frequent codes in the order of the alphabet: nothing in it
// changes from one second to the next.
func (f *Facts) turnsText() string {
	text := "runtime intermittently unreachable"
	if f.listsFailByTurns() {
		text = "lists fail intermittently"
	}
	var names []string
	for _, c := range f.listCodes() {
		names = append(names, c.Code)
	}
	if names = names[:min(namedCodes, len(names))]; len(names) > 0 {
		slices.Sort(names)
		text += ": " + join(names)
	}
	return text
}

// listCodes returns with which codes lists have failed, and how often, the most frequent first.
func (f *Facts) listCodes() (all []answers.CodeCount) {
	for _, c := range slices.Concat(f.Sums(call.ListPodSandbox).ByCode, f.Sums(call.ListContainers).ByCode) {
		if i := slices.IndexFunc(all, func(o answers.CodeCount) bool { return o.Code == c.Code }); i >= 0 {
			all[i].Count += c.Count
		} else {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b answers.CodeCount) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

func (f *Facts) failingByTurns() Match {
	all, failed := 0, 0
	for _, r := range f.Relists.History {
		if f.at().Sub(r.At) <= answers.FlakyFor {
			all++
			if r.Failed {
				failed++
			}
		}
	}
	m := Match{Variant: "by-turns", Severity: Warning, Values: Values{"failed": failed, "relists": many{all, "relist"}, "within": age(answers.FlakyFor)}, Lines: map[string][]line{}}
	for _, e := range f.Memory.Outages.ListsFailed {
		m.Lines["failures"] = append(m.Lines["failures"], lineOf("failed-at", Values{"at": e.At, "operation": e.Op, "error": words(e.Err)}))
	}
	var codes []string
	for _, c := range f.listCodes() {
		codes = append(codes, fmt.Sprintf("%s %s", c.Code, count(c.Count, "time")))
	}
	if len(codes) > 1 {
		m.Values["codes"] = codes
	}
	return m
}

// unhealthyPLEG is about the verdict, or about a list that fails and leads to it.
func (f *Facts) unhealthyPLEG(failed bool) Match {
	m := Match{
		Severity: Critical, Since: f.Health.Since, Values: Values{"overdue": f.overdue()},
		Lines: map[string][]line{"since": f.sinceLine(), "posting": f.postingLine()},
		Steps: map[string][]Step{"+restart": f.thenRestart(f.advise("kubelet.says", nil)...)},
	}
	if e := f.Failure; e != nil {
		m.Lines["refusals"] = []line{f.refusal(e)}
	}
	if failed {
		e := f.Failure
		m.Variant, m.Subject.Operation = "list-fails", e.Op.String()
		m.Values["operation"], m.Values["error"], m.Values["verb"] = e.Op, extract(words(e.Err)), crictlVerbs[e.Op]
		if !f.unhealthy() {
			m.Since, m.Severity = e.First, f.failing(e.First)
		}
	}
	message := Rounded(f.Node.Message)
	if n := f.Node; n.Known && !n.Ready {
		m.Lines["node"] = []line{lineOf("node.not-ready", Values{"reason": n.Reason, "message": message})}
	}
	if f.Health.Verdict == "" || m.Lines["node"] == nil || !strings.Contains(message, Rounded(f.Health.Verdict)) { // else the node's message has it
		m.Lines["verdict"] = f.verdictLine()
	}
	if p := f.Phase; p.Step == engine.Inspecting {
		m.Values["done"], m.Values["pods"], m.Values["inspecting"] = p.Done, many{p.Total, "pod"}, age(f.at().Sub(p.Began))
	}
	return m
}

// overdue says what the verdict goes by. The kubelet's own words change with each millisecond.
func (f *Facts) overdue() string {
	if f.Health.ListedAt.IsZero() {
		return "no list has succeeded yet"
	}
	old := f.Health.ListAge(f.at())
	if left := f.untilUnhealthy(); left > 0 {
		old = f.Threshold - left // the time of a pause does not count
	}
	return fmt.Sprintf("no relist has listed the pods for %s; the threshold is %s", going(old), span(f.Threshold))
}

// verdictLine has the kubelet's own words, or says when it would use them.
func (f *Facts) verdictLine() []line {
	switch left := f.untilUnhealthy(); {
	case left > 0:
		return []line{lineOf("unhealthy-unless", Values{"left": age(left)})}
	case f.Node.PLEG != "":
		return []line{lineOf("kubelet-says", Values{"text": Rounded(f.Node.PLEG)})}
	case f.once():
		return []line{lineOf("starting-kubelet-says", Values{"text": Rounded(f.Health.Verdict)})}
	case f.unhealthy():
		return []line{lineOf("kubelet-says", Values{"text": "PLEG is not healthy: " + Rounded(f.Health.Verdict)})}
	}
	return nil
}

// sinceLine says when the verdict began, and how old the last good list is.
func (f *Facts) sinceLine() []line {
	h := f.Health
	v := Values{"watched": age(f.at().Sub(f.Started)), "listed": h.ListedAt, "old": age(h.ListAge(f.at())), "lasted": age(f.at().Sub(h.Since)), "since": h.Since}
	switch {
	case h.ListedAt.IsZero():
		return []line{lineOf("no-list", v)}
	case h.Healthy:
		return []line{lineOf("last-list", v)}
	}
	return []line{lineOf("unhealthy-since", v)}
}

// flaps returns the times in which PLEG was unhealthy; nil unless there were several lately.
func (f *Facts) flaps() []past.Spell {
	if spells := f.Memory.SpellsWithin(flapWindow*f.Threshold, f.at()); len(spells) >= flapsLeast {
		return spells
	}
	return nil
}

// addFlaps adds when PLEG was unhealthy, and the step that shows why.
func (f *Facts) addFlaps(m *Match, spells []past.Spell) {
	var texts []string
	for _, s := range spells {
		text := fmt.Sprintf("%s (%s)", f.clock(s.Began), span(s.Ended.Sub(s.Began)))
		if s.Ended.IsZero() {
			text = fmt.Sprintf("%s (%s so far)", f.clock(s.Began), going(f.at().Sub(s.Began)))
		}
		texts = append(texts, text)
	}
	state := "unhealthy"
	if f.Health.Healthy {
		state = "healthy"
	}
	v := Values{
		"times": many{len(spells), "time"}, "period": age(f.at().Sub(spells[0].Began)), "state": state,
		"threshold": f.Threshold, "listAge": age(f.Health.ListAge(f.at())), "spells": texts,
	}
	m.Values = m.Values.with(v)
	if m.Variant != "flapping" {
		m.Lines["flaps"] = []line{lineOf("flaps", v)}
	}
	if m.Steps == nil {
		m.Steps = map[string][]Step{}
	}
	m.Steps["+flaps"] = f.advise("pleg.flaps", nil)
}

// kubeletDuration finds durations as the kubelet prints them, such as 3m18.652721733s.
var kubeletDuration = regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+\.\d+s\b`)

// Rounded returns a text of the kubelet with its durations in whole seconds, so that a person can read them.
func Rounded(text string) string {
	return kubeletDuration.ReplaceAllStringFunc(text, func(figure string) string {
		d, err := time.ParseDuration(figure)
		if err != nil || d < time.Second {
			return figure
		}
		return d.Round(time.Second).String()
	})
}
