package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// InspectFailing is a pod whose inspection fails again and again.
const InspectFailing ID = "inspect-failing"

const (
	// failingMost is how many failing pods get their own finding.
	failingMost = 10
	// If the pods of manyOwners owners or more fail alike, they have one trouble, which is the runtime's.
	manyOwners = 5
)

// The inspection of a pod, or of many pods, fails again and again with the runtime's own error; or the status call of
// one object ends the connection each time.
var inspectFailing = Rule{
	ID: InspectFailing, Needs: Unpaused, Most: failingMost, ByOwner: true,
	Find: func(f *Facts, report func(Match)) {
		if f.Scope.Whole() {
			return
		}
		if f.sweepByChance() && f.Flaky.Failed == 0 { // else runtime-down speaks of it
			report(f.failNowAndThen())
		}
		pods := f.failingPods()
		like := mostAlike(f, InspectFailing, pods, manyOwners, func(p failingPod) (pleg.ObjectRef, string) { return p.Object(), p.like })
		if like != "" {
			report(f.manyFail(slices.DeleteFunc(slices.Clone(pods), func(p failingPod) bool { return p.like != like })))
		}
		for i := range pods {
			if p := &pods[i]; p.like != like {
				report(Match{Severity: Warning, Subject: asking(p.Flight), Alike: p.like, Of: p})
			}
		}
	},
}

func (p *failingPod) say(_ *Facts, m *Match) { m.Values = p.member().Values }

func (p *failingPod) draw(f *Facts, m *Match) {
	m.Values = m.Values.with(Values{
		"operation": p.Op, "excerpt": extract(words(p.Err)), "how": f.say(f.howFails(*p)), "name": p.Object().Path(),
		"id": short(p.ID), "inLog": cmp.Or(p.ID, p.Pod.Name), "sandbox": short(f.sandboxOf(p.Flight)), "ofSandbox": p.Op == call.PodSandboxStatus,
	})
	m.Lines, m.Else = map[string][]line{"processes": f.processLines(p.Flight)}, f.thenRestart
}

// manyFail returns one match about so many pods that it is the runtime's trouble.
func (f *Facts) manyFail(alike []failingPod) Match {
	first, pods := alike[0], count(len(alike), "pod")
	if n := len(f.Pods); n >= len(alike) { // without a list nobody knows how many pods there are
		pods = fmt.Sprintf("%s of %s", thousands(len(alike)), count(n, "pod"))
	}
	path := unservedPath(words(first.Err))
	m := Match{
		Variant: "many", Severity: Warning, Subject: Subject{Operation: first.Op.String()}, Alone: true, Group: first.like, Count: len(alike),
		Values: Values{"operation": first.Op, "pods": pods, "excerpt": extract(words(first.Err)), "error": words(first.Err), "how": f.say(f.howFails(first)), "target": path},
		Steps:  map[string][]Step{"+restart": f.thenRestart(f.logs()...)},
	}
	if path != "" {
		m.Variant = "many-unserved"
	}
	for _, p := range alike[:min(len(alike), membersMost)] {
		m.Members = append(m.Members, p.member())
	}
	return m
}
