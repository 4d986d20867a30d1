package say

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// TestTry holds that only a call that was made before, and failed, is called another
// try.
func TestTry(t *testing.T) {
	list := call.Flight{Op: call.ListContainers}
	ref := pleg.PodRef{UID: "1", Name: "a"}
	status := call.Flight{Op: call.ContainerStatus, Pod: ref, ID: "c1"}
	other := status
	other.ID = "c2"
	for _, tt := range []struct {
		out, failed call.Flight
		inRow       int
		want        string
	}{
		{list, call.Flight{Op: call.ListPodSandbox}, 1, ""},
		{list, list, 1, "2nd try"}, {list, list, 2, "3rd try"}, {list, list, 3, "4th try"}, {list, list, 10, "11th try"}, {list, list, 100, "101st try"},
		{status, status, 1, "2nd try"}, {other, status, 1, ""}, {status, list, 1, ""}, {list, status, 1, ""},
		{call.Flight{Op: call.ListContainers, By: call.BySearch}, list, 1, ""},
	} {
		f := &answers.Failure{Flight: tt.failed, InRow: tt.inRow}
		s := &engine.Snapshot{Pods: []*engine.Pod{{PodRef: ref}}}
		if tt.failed.Pod == ref {
			s.Pods[0].Failure = f
		} else {
			s.Failure = f
		}
		if got := Try(s, &tt.out); got != tt.want {
			t.Errorf("%v after %d of %v: %q, want %q", tt.out, tt.inRow, tt.failed, got, tt.want)
		}
	}
}

func TestReasonLeavesOutTheSocket(t *testing.T) {
	for said, want := range map[string]string{
		"dial unix /run/containerd/containerd.sock: connect: connection refused": "Unavailable: connect: connection refused",
		"dial unix":                      "Unavailable: dial unix",
		"error reading from server: EOF": "Unavailable: error reading from server: EOF",
	} {
		err := &call.Error{Op: call.Status, Kind: call.ErrUnavailable, Code: "Unavailable", Text: said}
		if got := Reason(err); got != want {
			t.Errorf("Reason(%q) = %q, want %q", said, got, want)
		}
	}
}

// TestOneIsNoPlural holds that where there is one of something its noun, and the verb, say so.
func TestOneIsNoPlural(t *testing.T) {
	cost := new(engine.Snapshot)
	cost.Cost.CallsPerSecond = 0.8
	one := podworker.Worker{WakeUps: 1, Saved: 1, Expired: 1, Syncs: 1, Queued: 1}
	for _, said := range []string{Cost(cost), WorkerTells(&podworker.Workers{Acting: true}, &one, time.Time{})} {
		if plural := regexp.MustCompile(`\b1 (\w+ )?\w+s\b[^;]*`).FindString(strings.ReplaceAll(said, "1 event waits", "")); plural != "" {
			t.Errorf("%q in %q", plural, said)
		}
	}
}
