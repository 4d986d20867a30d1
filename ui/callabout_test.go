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
		Op: call.ContainerStatus, Count: 40, Errors: 3, P90: 4 * time.Millisecond, RequestBytes: 3000, ResponseBytes: 50_000,
		ByCode:  []engine.CodeCount{{Code: "Unknown", Count: 2}, {Code: "DeadlineExceeded", Count: 1}},
		LastErr: &call.Error{Op: call.ContainerStatus, Kind: call.ErrOther, Code: "Unknown", Text: "ttrpc: closed"}, LastErrAt: s.At.Add(-5 * time.Second),
	}
	var got []string
	for _, f := range aboutCalls(brush{&look, s.At}, s, op) {
		got = append(got, f.text)
	}
	want := []string{
		"ContainerStatus: p90 4ms, received 48K, sent 2.9K",
		"errors: Unknown 2 DeadlineExceeded 1",
		"the last one 5s ago: Unknown: ttrpc: closed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("about (-want +got):\n%s", diff)
	}
}

func TestCallsPaneTellsAboutTheCursor(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode()).press("3")
	if frame := s.m.frame(); !strings.Contains(frame, "p90") {
		t.Errorf("no p90 below the table:\n%s", frame)
	}
}
