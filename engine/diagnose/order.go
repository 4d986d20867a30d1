package diagnose

import (
	"cmp"
	"slices"
)

// ranks is the order of findings that are equally severe: what stops more of
// the node comes first, and what is nearer to the root of it.
var ranks = []ID{
	RuntimeDown, RuntimeUnresponsive, InspectHung, ListHung, ListTooBig, ProcessStuck,
	RuntimeNotReady, NetworkNotReady, InspectFailing, RuntimeSlow, RelistSlowChurn,
	PLEGUnhealthy, PLEGFlapping, KubeletStuck, GhostRunning, CrashLoop, EventsDiscarded,
	EventDrift, OrphanShims, ClockStep, HostPressure,
}

func rank(id ID) int {
	if i := slices.Index(ranks, id); i >= 0 {
		return i
	}
	return len(ranks)
}

// order sorts findings: causes before effects, the worst first, then by rank;
// what a rule found keeps the order that the rule gave it.
func order(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(effect(a), effect(b)),
			cmp.Compare(b.Severity, a.Severity),
			cmp.Compare(rank(a.ID), rank(b.ID)),
		)
	})
	return findings
}

// effect is 0 for a cause and 1 for what another finding explains.
func effect(f Finding) int {
	if f.Cause == "" {
		return 0
	}
	return 1
}
