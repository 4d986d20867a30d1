package say

import (
	"testing"

	"github.com/plegtop/plegtop/engine/call"
)

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
