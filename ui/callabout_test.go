package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/ui/theme"
)

// TestAboutCalls holds that errors by gRPC code, which need a wide table, are
// to be seen on a narrow screen too.
func TestAboutCalls(t *testing.T) {
	look := theme.Default()
	s := healthyNode()
	op := &engine.Calls{
		Op: call.ContainerStatus, Count: 40, Errors: 3, Gone: 2, P90: 4 * time.Millisecond, RequestBytes: 3000, ResponseBytes: 50_000,
		ByCode:  []engine.CodeCount{{Code: "Unknown", Count: 2}, {Code: "DeadlineExceeded", Count: 1}},
		LastErr: &call.Error{Op: call.ContainerStatus, Kind: call.ErrOther, Code: "Unknown", Text: "ttrpc: closed"}, LastErrAt: s.At.Add(-5 * time.Second),
	}
	c := calls{of: []engine.Calls{*op}, width: 76}
	var got []string
	for _, f := range c.below(pen{&look, s.At}, s, span{}, true) {
		got = append(got, f.text)
	}
	want := []string{
		"ContainerStatus: p90 4ms, 2 gone, received 48K, sent 2.9K",
		"ContainerStatus errors: Unknown 2 DeadlineExceeded 1; 5s ago Unknown: ttrpc:",
		"closed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("about (-want +got):\n%s", diff)
	}
}

// TestCallsMatrix holds that all operations are listed whether they were made or
// not, and what the pane says of those that answer while another one hangs.
func TestCallsMatrix(t *testing.T) {
	snap := probed(sweepOf(330, true))
	snap.Calls = []engine.Calls{
		{Op: call.Version, Count: 3, Gone: 4, P50: time.Millisecond, P99: 2 * time.Millisecond, Max: 3 * time.Millisecond, LastOK: ago(time.Minute)},
		{Op: call.ContainerStatus, InFlight: 1},
	}
	s := newStage(t, 120, 40).show(snap).press("3", "f")
	for op, want := range map[string]string{
		"Version":            "1m 1ms 2ms 3ms 0 3 0B 4 0",
		"Status":             "- - - - - - - - -",
		"ListPodSandbox":     "- - - - - - - - -",
		"ListContainers":     "- - - - - - - - -",
		"PodSandboxStatus":   "- - - - - - - - -",
		"ContainerStatus":    "never 1 47s 0 0B 0 0",
		"GetContainerEvents": "",
	} {
		row := strings.Join(strings.Fields(strings.TrimPrefix(s.rowOf(" "+op+"  "), " "+op)), " ")
		if row != want {
			t.Errorf("%s: %q, want %q", op, row, want)
		}
	}
	for _, want := range []string{
		"while ContainerStatus hangs: Version 0.4ms, Status 1ms, ContainerStatus 2ms answer; PodSandboxStatus out for 1s",
		"✖ SWEEP done 1s ago: 330 of 330 asked in 3.0s, 1 hung, 0 failed",
	} {
		if s.rowOf(want) == "" {
			t.Errorf("no line says %q:\n%s", want, withoutStyles(s.m.frame()))
		}
	}
}

func TestCallsPaneTellsAboutTheCursor(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode()).press("3")
	if frame := s.m.frame(); !strings.Contains(frame, "p90") {
		t.Errorf("no p90 below the table:\n%s", frame)
	}
}
