package diagnose

import (
	"slices"
	"testing"
)

func TestEveryKindHasItsRank(t *testing.T) {
	all := []ID{
		RuntimeDown, RuntimeUnresponsive, ListHung, ListTooBig, InspectHung, InspectFailing, RelistSlowChurn, RuntimeSlow,
		PLEGUnhealthy, PLEGFlapping, RuntimeNotReady, NetworkNotReady, EventsDiscarded, CrashLoop, GhostRunning, ProcessStuck,
		OrphanShims, HostPressure, KubeletStuck, ClockStep, EventDrift,
	}
	for _, id := range all {
		if !slices.Contains(ranks, id) {
			t.Errorf("%s has no rank", id)
		}
	}
	if len(ranks) != len(all) {
		t.Errorf("%d ranks for %d kinds", len(ranks), len(all))
	}
}

func TestOrder(t *testing.T) {
	got := order([]Finding{
		{ID: PLEGUnhealthy, Severity: Critical, Cause: InspectHung},
		{ID: HostPressure, Severity: Warning},
		{ID: CrashLoop, Severity: Warning},
		{ID: InspectHung, Severity: Warning, Summary: "slow"},
		{ID: ListTooBig, Severity: Critical},
		{ID: InspectHung, Severity: Critical, Summary: "first"},
		{ID: InspectHung, Severity: Critical, Summary: "second"},
		{ID: ListHung, Severity: Warning, Cause: InspectHung},
		{ID: "unknown", Severity: Warning},
		{ID: RuntimeDown, Severity: Critical},
	})
	want := []ID{RuntimeDown, InspectHung, InspectHung, ListTooBig, InspectHung, CrashLoop, HostPressure, "unknown", PLEGUnhealthy, ListHung}
	if !slices.Equal(ids(got), want) || got[1].Summary != "first" {
		t.Errorf("order %v, want %v", ids(got), want)
	}
}
