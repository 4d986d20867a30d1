package cri

import (
	"errors"
	"path/filepath"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
)

func TestRuntimeGoneAndBack(t *testing.T) {
	path := filepath.Join(shortDir(t), "cri.sock")
	stop := healthy().serve(t, path)
	c, ctx := dialed(t, path), within(t, testLimit)
	if _, err := c.Version(ctx); err != nil {
		t.Fatal(err)
	}
	stop()
	// It fails at once, each time, whatever the back-off: not at the deadline.
	for range 50 {
		if _, err := c.Version(ctx); !errors.Is(err, call.ErrUnavailable) {
			t.Fatalf("error = %v, want %v", err, call.ErrUnavailable)
		}
	}
	healthy().serve(t, path)
	untilReady(t, c)
	if _, err := c.Version(ctx); err != nil {
		t.Errorf("after the runtime is back: %v", err)
	}
}

// A runtime that is there and says so itself keeps its own words.
func TestRuntimeSaysUnavailable(t *testing.T) {
	path := filepath.Join(shortDir(t), "cri.sock")
	c, ctx := dialed(t, path), within(t, testLimit)
	_, _ = c.Version(ctx) // leaves a failed attempt behind
	s := healthy()
	s.answers[runtimev1.RuntimeService_Version_FullMethodName] = refuse(status.Error(codes.Unavailable, "server is not initialized yet"))
	s.serve(t, path)
	untilReady(t, c)
	_, err := c.Version(ctx)
	wantError(t, err, &call.Error{Op: call.Version, Kind: call.ErrUnavailable, Code: "Unavailable", Text: "server is not initialized yet"})
}
