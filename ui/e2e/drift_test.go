//go:build linux

package e2e

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/cri/sim"
)

// For how long a stream of events is read before it is taken for well, and at most for
// what is wrong with it to be told.
const (
	driftedLong = 12 * time.Second // what is wrong with the others is told after 2 to 9
	driftedMost = 3 * time.Minute
)

// What is wrong with the runtime's event stream is told, and of one that is well nothing,
// however short the containers live.
func TestEventDrift(t *testing.T) {
	t.Parallel()
	program := plegtop(t) // which takes a while to build
	for _, tt := range []struct{ fault, severity, says, mode string }{
		{"", "", "", ""},
		{"event-drift", "warning", "missed", ""},
		{"events-late", "info", "only after the relist had seen them", ""},
		{"event-drift", "warning", "each waited for a relist, one every", "evented"},
	} {
		t.Run(tt.fault+" "+tt.mode, func(t *testing.T) {
			t.Parallel()
			server, err := sim.Start(t.Context(), sim.Config{Scenario: "tour", Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			limit := driftedLong
			if tt.fault != "" {
				limit = driftedMost
				server.SetFault(tt.fault, true)
			}
			severity, summary := driftOf(t, limit, tt.severity, tt.says, program, "-r", server.Endpoint(), "--mode="+cmp.Or(tt.mode, "generic"), "--kubelet-version=1.37", "--events=cri", "watch", "-o", "json")
			if severity != tt.severity || !strings.Contains(summary, tt.says) || tt.severity == "" && summary != "" {
				t.Errorf("found %s %q, want %s %q", severity, summary, tt.severity, tt.says)
			}
		})
	}
}

// driftOf returns the finding on the event stream that a program tells within limit: the first
// one, or with a severity the first that has it and says so, since what a busy machine makes of
// a stream is told as well; empty if it tells none.
func driftOf(t *testing.T, limit time.Duration, wanted, says, program string, args ...string) (severity, summary string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // it was killed
	defer cancel()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var line struct {
			Finding struct{ ID, Severity, Summary string }
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil && ctx.Err() == nil {
			t.Errorf("%q: %v", lines.Text(), err)
		}
		if f := line.Finding; f.ID == "event-drift" && (wanted == "" || f.Severity == wanted && strings.Contains(f.Summary, says)) {
			return f.Severity, f.Summary
		}
	}
	return "", ""
}
