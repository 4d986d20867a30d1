package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/theme"
)

// TestAlertOfOnePodNamesIt holds that a relist of one pod that a key asked for
// does not fail in silence.
func TestAlertOfOnePodNamesIt(t *testing.T) {
	s := healthyNode()
	s.PodFailure = &engine.Failure{
		Flight: engine.Flight{Op: call.ListContainers, Pod: pleg.PodRef{UID: "u", Namespace: "shop", Name: "cart-0"}},
		Err:    &call.Error{Op: call.ListContainers, Kind: call.ErrUnavailable, Code: "Unavailable", Text: "connection refused"},
		InRow:  1,
	}
	look := theme.Default()
	want := "ListContainers of shop/cart-0 failed: Unavailable: connection refused"
	if got := alerts(brush{&look, s.At}, s, callAlerts(s, nil), 200); len(got) != 1 || !strings.Contains(got[0].text, want) {
		t.Errorf("alerts = %v, want one that says %q", got, want)
	}
}

func TestReasonLeavesOutTheSocket(t *testing.T) {
	for said, want := range map[string]string{
		"dial unix /run/containerd/containerd.sock: connect: connection refused": "Unavailable: connect: connection refused",
		"dial unix":                      "Unavailable: dial unix",
		"error reading from server: EOF": "Unavailable: error reading from server: EOF",
	} {
		err := &call.Error{Op: call.Status, Kind: call.ErrUnavailable, Code: "Unavailable", Text: said}
		if got := reason(err); got != want {
			t.Errorf("reason(%q) = %q, want %q", said, got, want)
		}
	}
}

// TestMeterNamesTheCallOfTheRelist holds that a Status that hangs beside a list,
// and has been out for longer, is not taken for what the relist waits for.
func TestMeterNamesTheCallOfTheRelist(t *testing.T) {
	s := healthyNode()
	s.InFlight = []engine.Flight{
		{Op: call.Status, Since: s.At.Add(-9 * time.Second)},
		{Op: call.ListPodSandbox, Since: s.At.Add(-8 * time.Second)},
	}
	if f := oldest(s); f == nil || f.Op != call.ListPodSandbox {
		t.Errorf("oldest = %v, want the list", f)
	}
	s.InFlight = s.InFlight[:1]
	if f := oldest(s); f != nil {
		t.Errorf("oldest = %v, want none", f)
	}
}
