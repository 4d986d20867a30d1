package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// RuntimeDown is a runtime that is not there, or refuses.
const RuntimeDown ID = "runtime-down"

var runtimeDownKind = &kind{
	id: RuntimeDown, find: runtimeDown,
	needs: unpaused, is: silences, because: starves,
	warned: Headline{Word: "AT RISK", Text: "runtime intermittently unreachable"},
	words:  []nodeWord{(*view).kernelSaid, (*view).runtimeUnits, (*view).deprecated}, kernel: ofDisk, killed: runtimeKilled,
	severity: "critical", scenario: "`restart`",
	when: "the socket is gone where anything shows that a runtime belongs there, is a file or another program's, refuses, or answers Unavailable, or Status " +
		"fails; names the program that has the socket, the database lock or the stopped shims it waits for, the plugin of containerd that did not start; also if it goes away while " +
		"`check` looks, whatever was answered before; a warning for the first 10 s, if it does so only now and then, or if only Version fails, " +
		"and while calls on connections of before are answered, though the socket that the runtime's process listens at is gone from its path, or a file, a folder, " +
		"a socket of nobody or of a program that does not speak as a runtime is there: the kubelet is cut off when it next connects",
}

// statusForSure is how often in a row Status must fail, which is asked for every 5 s.
const statusForSure = 2

// runtimeDown finds a runtime that is not there, or that refuses every call; one
// that refuses only lists or only Status; and as a warning one that is there only
// now and then, or whose socket is lost.
func runtimeDown(v *view) []Finding { return append(v.refuses(), v.socketLost()...) }

// refuses finds a runtime that refuses calls.
func (v *view) refuses() []Finding {
	switch {
	case v.Scope == answers.Refused:
		return []Finding{v.downFinding(v.Refusals)}
	case v.Scope == answers.Silent && v.heldByOther():
		f := v.silentFinding()
		s, _ := v.shut()
		f.ID, f.Summary, f.Next = RuntimeDown, "no call is answered: "+s.why, s.steps
		return []Finding{f}
	case v.Scope == answers.Silent:
		return nil
	}
	if f := v.Failure; f != nil && answers.IsAway(f.Err) && v.failsOn(f, answers.DownForSure) && v.othersAnswered(f) {
		return []Finding{v.partFinding(*f)}
	}
	refuses := func(f *answers.Failure) bool {
		return f != nil && answers.IsBad(f.Err) && !answers.IsUnreadable(f.Err) && v.failsOn(f, statusForSure)
	}
	if refuses(v.StatusErr) {
		return []Finding{v.partFinding(*v.StatusErr)}
	}
	if v.Flaky.Failed > 0 && v.unsteadyList() == nil { // which says the same, with the runtime's words
		return []Finding{v.flakyFinding(v.Flaky)}
	}
	if refuses(v.VersionErr) {
		found := v.partFinding(*v.VersionErr)
		found.Severity = Warning // the kubelet asks for it when it starts, and then hardly ever
		return []Finding{found}
	}
	return nil
}

// failsOn reports whether a call has failed often enough in a row, also for a
// runtime on which calls fail now and then. What failed before the lists came back
// was not asked for since. What fails at the end of one bounded look was asked for
// several times.
func (v *view) failsOn(f *answers.Failure, enough int) bool {
	if v.Policy.Bounds().OneMoment {
		return f.InRow >= enough || f.Op == call.Status || v.Sums(f.Op).LastOK.IsZero()
	}
	mended := !f.Op.IsList() && v.Failure == nil && !f.At.After(v.Memory.Outages.ListBack)
	return f.InRow >= enough && !mended && (v.Flaky.Failed == 0 || v.At.Sub(f.First) >= answers.FailingLong)
}

// othersAnswered reports whether Status or an object was answered while a list
// failed, and not only since: then the runtime has just come back.
func (v *view) othersAnswered(f *answers.Failure) bool {
	return v.Policy.Bounds().OneMoment || slices.ContainsFunc(v.Calls, func(c answers.Calls) bool {
		return c.Op != call.Version && !c.Op.IsList() && c.LastOK.After(f.First) && c.LastOK.Before(f.At)
	})
}

// failingSeverity is critical for what has failed for so long that it is neither a
// restart nor chance. One bounded look does not come back to see.
func (v *view) failingSeverity(first time.Time) Severity {
	if v.At.Sub(first) >= v.Policy.Bounds().FailingLong {
		return Critical
	}
	return Warning
}

func (v *view) downFinding(refused []*answers.Failure) Finding {
	first := refused[0]
	f := Finding{
		ID: RuntimeDown, Severity: v.failingSeverity(first.First), Since: first.First,
		Summary: v.refusedBy(first.Err),
		Next:    v.downSteps(),
	}
	for _, r := range refused {
		f.say(v.refusal(*r))
	}
	if v.endpoint != "" {
		f.say("endpoint: " + v.endpoint)
	}
	if v.Other != "" {
		f.say("another runtime answered at " + v.Other + ", which is not the one that the node names")
	}
	if sums := v.Sums(call.Version); v.Policy.Bounds().OneMoment && v.VersionErr == nil && !sums.LastOK.IsZero() {
		f.say("Version is answered, in " + span(sums.P50))
	}
	_, before := v.unfit()
	f.say(v.sweptUntil(), v.downClock(), v.daemon(), notBefore(before))
	return f
}

// downSteps returns what to do about a runtime that is down: first about what keeps it
// so. Whether it runs is no question where its process was found.
func (v *view) downSteps() []Step {
	if p, stuck := v.stuckDaemon(); stuck {
		return stuckProcess{Process: p}.next(v)
	}
	if v.servesNoCRI() {
		return v.enableCRI()
	}
	s, known := v.shut()
	switch {
	case len(s.steps) > 0: // which a restart alone would meet again
		return slices.Insert(slices.Clone(s.steps), 1, v.says()...)
	case len(v.daemons()) > 0:
		return v.runtimeSteps(append(v.says(), v.shimsGoOn(v.idleShims())...)...) // its end, too, waits for them
	case known:
		start := v.start()
		looks := slices.IndexFunc(start, Step.acts)
		if looks < 0 {
			looks = len(start)
		}
		before := append(v.makingFit(), v.shimsGoOn(v.idleShims())...)
		return distinct(slices.Insert(start, looks, before...))
	}
	return v.runtimeSteps(v.advise("runtime.down", Values{"data": one(v.evidence.Disk.Path)})...)
}

// sweptUntil says how far a sweep had come when it was given up.
func (v *view) sweptUntil() string {
	w := v.Sweep
	if w == nil || w.GivenUp == "" {
		return ""
	}
	return fmt.Sprintf("the check of all stopped with %s of %s answered: %s", thousands(answeredIn(w)), count(w.Total, "object"), w.GivenUp)
}

func answeredIn(w *answers.Sweep) int { return max(0, w.Done-len(w.Hung)-len(w.Failed)) }

// refusal says how a call fails, since when and how often, word for word.
func (v *view) refusal(f answers.Failure) string {
	if f.InRow > 1 {
		return fmt.Sprintf("%v failed %d times in a row, for %s since %s: %s", f.Op, f.InRow, going(v.At.Sub(f.First)), v.clock(f.First), words(f.Err))
	}
	if age := v.At.Sub(f.At); age >= answers.Late {
		return fmt.Sprintf("%v failed %s ago: %s", f.Op, going(age), words(f.Err))
	}
	return fmt.Sprintf("%v failed: %s", f.Op, words(f.Err))
}

// partFinding is about a list or Status that fails while other calls are
// answered. Without either the kubelet takes the runtime for down.
func (v *view) partFinding(f answers.Failure) Finding {
	found := v.downFinding([]*answers.Failure{&f})
	fails := "fails"
	if f.InRow > 1 {
		fails = fmt.Sprintf("has failed %d times in a row", f.InRow)
	}
	found.Summary = fmt.Sprintf("%v %s, while other calls are answered: %s", f.Op, fails, excerpt(plain(f.Err)))
	found.Subject.Operation = f.Op.String()
	return found
}

func (v *view) flakyFinding(f answers.Flakiness) Finding {
	found := Finding{
		ID: RuntimeDown, Severity: Warning,
		Summary: fmt.Sprintf("%s of %s found no runtime, the others were answered", thousands(f.Failed), count(f.All, "call")),
		Next:    v.endsAgain("runtime.flaky"),
	}
	found.say(v.awayWords())
	for _, c := range v.Calls {
		var codes []string
		for _, n := range c.ByCode {
			codes = append(codes, thousands(n.Count)+" with "+n.Code)
		}
		if len(codes) > 0 {
			found.say(fmt.Sprintf("%v: of %s since %s failed %s", c.Op, count(c.Count, "call"), v.clock(v.Started), join(codes)))
		}
	}
	if away := v.SweptAway(); away > 0 && 2*away >= v.Sweep.Done {
		found.Severity = Critical // it went away while it was looked at
	}
	if cut := v.CutOff(); len(cut) > 0 && len(cut) <= fullFailing {
		var names []string
		for _, o := range cut {
			names = append(names, o.Op.String()+" of "+o.Object().String())
		}
		found.say("failed each time, and the status of one of them may be what ends the connection: " + join(names))
	}
	if f := v.Failure; f != nil && answers.IsAway(f.Err) {
		found.say(v.refusal(*f))
	}
	return found
}
