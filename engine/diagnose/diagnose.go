package diagnose

import (
	"cmp"
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// An Input is all that a diagnosis goes by.
type Input struct {
	Snapshot *engine.Snapshot // must be there
	History  *History         // of what came before, the snapshot's own update included; nil for none
	Evidence *evidence.Report // of the node; nil if nobody looked
	Endpoint string           // of the runtime, for commands; may be empty

	index *objectIndex // kept from update to update; nil for none
}

// A rule looks for one kind of trouble. It finds nothing on a healthy node, and
// what it finds without regard for the other rules.
type rule struct {
	id       ID
	find     func(*view) []Finding
	needs    need // without which it is not asked
	explains []ID // what it is the cause of, unless that is worse
	replaces []ID // what would only say it again
}

// A need is what must be fresh for a rule to tell anything. What followed from a
// pause of plegtop, or from lists that hang, would be no finding.
type need uint8

const (
	nothing need = iota // but the look at the node, and the past
	answers             // of the runtime: not in a pause
	lists               // good ones
)

// tells reports whether findings of a kind can be made of a view.
func (v *view) tells(id ID) bool {
	switch rules[max(0, ruleOf(id))].needs {
	case nothing:
		return true
	case answers:
		return !v.Paused
	default:
		return !v.Paused && !v.listsStale()
	}
}

// listsStale reports whether what the lists showed need not be so any more: they
// hang or fail, or none was made since a pause.
func (v *view) listsStale() bool {
	return !v.Policy.Once && (v.Health.ListAge(v.At) > answerFresh+v.Period || v.Resumed.After(v.Health.ListedAt))
}

// rules is every kind of finding there is, by rank: of findings that are equally
// severe the one that stops more of the node comes first, and what is nearer to the
// root of it. A rule that explains another one's findings stands before it.
var rules = []rule{
	{FilesystemReadOnly, filesystemReadOnly, nothing, []ID{RuntimeDown, RuntimeUnresponsive, RuntimeNotReady, NetworkNotReady, InspectFailing}, nil},
	{DiskFull, diskFull, nothing, []ID{RuntimeDown, RuntimeUnresponsive, RuntimeNotReady, NetworkNotReady, InspectFailing}, nil},
	{LimitsNear, limitsNear, nothing, []ID{RuntimeDown, RuntimeUnresponsive, RuntimeNotReady, NetworkNotReady, InspectFailing, RuntimeSlow}, nil},
	{RuntimeDown, runtimeDown, answers, []ID{PLEGUnhealthy, PLEGFlapping, RuntimeNotReady, NetworkNotReady, GhostRunning, ListTooBig}, nil},
	{ProcessStuck, processStuck, nothing, []ID{RuntimeUnresponsive, InspectHung, ListHung, RuntimeSlow, KubeletStuck, GhostRunning}, nil},
	{RuntimeUnresponsive, runtimeUnresponsive, answers, []ID{PLEGUnhealthy, PLEGFlapping, RuntimeNotReady, NetworkNotReady, GhostRunning, ListTooBig}, nil},
	{UnreadableAnswer, unreadableAnswer, answers, []ID{PLEGUnhealthy, PLEGFlapping, RuntimeNotReady, NetworkNotReady}, nil},
	{ListTooBig, listTooBig, answers, []ID{ListHung, PLEGUnhealthy, PLEGFlapping}, nil},
	{InspectHung, inspectHung, answers, []ID{ListHung, PLEGUnhealthy, PLEGFlapping}, nil},
	{ListHung, listHung, answers, []ID{PLEGUnhealthy, PLEGFlapping}, nil},
	{RuntimeNotReady, runtimeNotReady, answers, []ID{EventsDiscarded}, nil},
	{NetworkNotReady, networkNotReady, answers, nil, nil},
	{InspectFailing, inspectFailing, answers, nil, nil},
	{RuntimeSlow, runtimeSlow, answers, nil, []ID{RelistSlowChurn}},
	{HelperStuck, helperStuck, nothing, nil, nil},
	{RelistSlowChurn, relistSlowChurn, answers, []ID{PLEGUnhealthy, PLEGFlapping}, nil},
	{PLEGUnhealthy, plegUnhealthy, answers, []ID{PLEGFlapping, EventsDiscarded}, nil},
	{PLEGFlapping, plegFlapping, answers, nil, nil},
	{KubeletGone, kubeletGone, nothing, nil, []ID{KubeletStuck}},
	{KubeletStuck, kubeletStuck, answers, nil, nil},
	{GhostRunning, ghostRunning, lists, []ID{LeftRunning}, nil},
	{LeftRunning, leftRunning, lists, nil, nil},
	{CrashLoop, crashLoop, lists, nil, nil},
	{EventsDiscarded, eventsDiscarded, nothing, nil, nil},
	{EventDrift, eventDrift, lists, nil, nil},
	{OrphanShims, orphanShims, lists, nil, nil},
	{ClockStep, clockStep, nothing, nil, nil},
	{HostPressure, hostPressure, nothing, nil, nil},
}

// ruleOf returns the rule that finds id, and its rank; -1 if none does.
func ruleOf(id ID) int { return slices.IndexFunc(rules, func(r rule) bool { return r.id == id }) }

// Diagnose returns what is wrong, causes before their effects, the worst cause
// first; nil for a healthy node. While plegtop is paused it says nothing that
// needs a fresh look at the runtime. Equal inputs give equal findings. It does not
// change its input, and may be called from any goroutine as long as nobody adds to
// the History.
func Diagnose(in Input) []Finding {
	v := newView(in)
	defer views.Put(v)
	return v.diagnose()
}

func (v *view) diagnose() []Finding {
	var findings []Finding
	for i := range rules {
		if v.tells(rules[i].id) {
			findings = append(findings, rules[i].find(v)...)
		}
	}
	if len(findings) == 0 {
		return nil
	}
	v.effects(findings)
	findings = explain(findings)
	toRoots(findings)
	v.addNodeWords(findings)
	findings = order(findings)
	v.sayKnown(findings)
	return findings
}

// explain drops what only repeats another finding, and gives each one that another
// one explains its cause: the one at the root of it.
func explain(findings []Finding) []Finding {
	for i := range rules {
		if r := &rules[i]; r.replaces != nil && has(findings, r.id) {
			findings = slices.DeleteFunc(findings, func(f Finding) bool { return slices.Contains(r.replaces, f.ID) })
		}
	}
	for i := range rules { // causes of causes come first
		for j := range findings {
			if c := &findings[j]; c.ID == rules[i].id {
				accountFor(findings, c, rules[i].explains)
			}
		}
	}
	return findings
}

func accountFor(findings []Finding, c *Finding, effects []ID) {
	for i := range findings {
		if f := &findings[i]; f.Cause == "" && slices.Contains(effects, f.ID) && accountsFor(c, f) {
			f.because(c)
		}
	}
}

// toRoots gives each effect of an effect the cause of that: the graph and what rules explain
// may each know a part of the way.
func toRoots(findings []Finding) {
	for range findings {
		for i := range findings {
			f := &findings[i]
			if j := slices.IndexFunc(findings, func(c Finding) bool {
				return f.Cause != "" && c.Key() == f.CauseKey && c.Cause != "" && c.CauseKey != f.Key()
			}); j >= 0 {
				f.Cause, f.CauseKey = findings[j].Cause, findings[j].CauseKey
			}
		}
	}
}

// accountsFor reports whether a finding is a cause of another one, which its kind
// explains. Nothing milder is, nor what is about another pod, nor a process of one pod
// of what the whole runtime does. That Status or Version alone fails explains nothing
// about lists, and a list that fails with words of its own needs no explanation by
// another call.
func accountsFor(c, f *Finding) bool {
	pods := c.Subject.Pod != f.Subject.Pod && !c.Subject.none() && !f.Subject.none()
	status := (c.Subject.Operation == "Status" || c.Subject.Operation == "Version") && (f.ID == PLEGUnhealthy || f.ID == PLEGFlapping)
	own := f.ID == PLEGUnhealthy && f.Subject.Operation != "" && c.Subject.Operation != ""
	one := c.ID == ProcessStuck && !c.Subject.none() && (f.ID == RuntimeUnresponsive || f.ID == RuntimeSlow)
	return c.Severity >= f.Severity && c.Severity > Info && !pods && !status && !own && !one
}

func has(findings []Finding, id ID) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == id })
}

// order sorts findings: causes before effects, the worst first, then by rank;
// what a rule found keeps the order that the rule gave it.
func order(findings []Finding) []Finding {
	effect := func(f Finding) int { return min(len(f.Cause), 1) }
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(effect(a), effect(b)), cmp.Compare(b.Severity, a.Severity), cmp.Compare(ruleOf(a.ID), ruleOf(b.ID)))
	})
	return findings
}
