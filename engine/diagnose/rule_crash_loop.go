package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// CrashLoop is a container that dies again and again.
const CrashLoop ID = "crash-loop"

const (
	// crashDeaths is how often a container must have died. A container that starts before its database may die twice;
	// the third death shows the kubelet's back-off at work.
	crashDeaths = 3
	// crashRecent is how long ago the last death may be: the kubelet's longest back-off of 5 min, and some time for the start.
	crashRecent = 6 * time.Minute
	// crashSteady is the life after which the kubelet forgets its back-off.
	crashSteady = 10 * time.Minute
	// crashMost is how many owners whose pods crash get their own finding. If more of them crash alike, it is one
	// trouble.
	crashMost = 10
)

// A container dies again and again. One snapshot shows that: the attempt of the newest container says how often the
// container was started, and the dead ones that are still listed show how they ended.
var crashLoop = Rule{
	ID: CrashLoop, Needs: Lists, App: true, Most: crashMost, ByOwner: true,
	Find: func(f *Facts, report func(Match)) {
		var crashes []*crash
		since := f.at().Add(-crashRecent).Unix()
		for p := range f.podsWith(func(p *podFacts) bool { return p.died >= since && p.deaths >= crashDeaths }) {
			crashes = f.crashesOf(p, crashes)
		}
		slices.SortStableFunc(crashes, func(a, b *crash) int {
			return cmp.Or(cmp.Compare(b.times, a.times), b.run[0].FinishedAt.Compare(a.run[0].FinishedAt))
		})
		like := mostAlike(f, CrashLoop, crashes, crashMost+1, func(c *crash) (pleg.ObjectRef, string) { return c.object(), c.end })
		if like != "" {
			report(f.crashAlike(crashes, like))
		}
		for _, c := range crashes {
			if like != "" && c.end == like {
				continue
			}
			report(Match{Severity: Warning, Since: c.run[len(c.run)-1].FinishedAt, Subject: Subject{ObjectRef: c.object()}, Of: c})
		}
	},
}

// crashAlike returns one match about the containers of many owners that all end in the same way.
func (f *Facts) crashAlike(crashes []*crash, end string) Match {
	m := Match{Variant: "alike", Severity: Warning, Alone: true, Group: end}
	pods := make(map[pleg.PodRef]bool)
	for _, c := range crashes {
		if c.end != end {
			continue
		}
		pods[*c.pod] = true
		if m.Count++; m.Count <= membersMost {
			m.Members = append(m.Members, Member{Subject{ObjectRef: c.object()}, c.values(f.at())})
		}
	}
	m.Values = Values{"containers": many{m.Count, "container"}, "pods": many{len(pods), "pod"}, "end": end}
	return m
}
