package cri

import (
	"slices"
	"testing"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// harmless are the only methods that plegtop may ever call on a real runtime.
var harmless = []string{
	"/runtime.v1.RuntimeService/Version",
	"/runtime.v1.RuntimeService/Status",
	"/runtime.v1.RuntimeService/ListPodSandbox",
	"/runtime.v1.RuntimeService/ListContainers",
	"/runtime.v1.RuntimeService/PodSandboxStatus",
	"/runtime.v1.RuntimeService/ContainerStatus",
	"/runtime.v1.RuntimeService/GetContainerEvents", // when asked for
	"/runtime.v1alpha2.RuntimeService/Version",      // by Discover, where v1 is not implemented
}

func TestDoesNoHarm(t *testing.T) {
	for name, s := range map[string]*stub{"plain": healthy(), "streaming": modern()} {
		t.Run(name, func(t *testing.T) {
			c := start(t, s)
			everyCall(t, c)
			if s.count(getEvents) > 0 {
				t.Errorf("called %s without being asked to", getEvents)
			}
			_ = c.Events(within(t, testLimit), func(pleg.Upstream) {})
			methods, requests := s.seen()
			for i, method := range methods {
				if !slices.Contains(harmless, method) {
					t.Errorf("called %s", method)
				}
				if v, ok := requests[i].(interface{ GetVerbose() bool }); ok && v.GetVerbose() {
					t.Errorf("asked for the verbose answer of %s", method)
				}
			}
			if len(methods) < 8 {
				t.Errorf("the stub saw only %v", methods)
			}
		})
	}
}

func TestMethodsAreTheHarmlessOnes(t *testing.T) {
	var named []string
	for method := range methods {
		named = append(named, method)
	}
	slices.Sort(named)
	want := slices.Sorted(slices.Values(harmless))
	if !slices.Equal(named, want) {
		t.Errorf("methods = %v, want %v", named, want)
	}
}

func everyCall(t *testing.T, c *Client) {
	t.Helper()
	ctx := within(t, testLimit)
	var errs [9]error
	_, errs[0] = c.Version(ctx)
	_, errs[1] = c.Status(ctx)
	for i, uid := range []pleg.UID{"", "uid-1"} {
		_, errs[2+i] = c.ListPodSandbox(ctx, uid)
		_, errs[4+i] = c.ListContainers(ctx, uid)
	}
	_, errs[6] = c.PodSandboxStatus(ctx, "sandbox-1")
	_, errs[7] = c.ContainerStatus(ctx, "container-1")
	for _, op := range []call.Operation{call.PodSandboxStatus, call.ContainerStatus} {
		if _, err := c.Raw(ctx, op, "x"); err != nil {
			errs[8] = err
		}
	}
	for i, err := range errs {
		if err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
