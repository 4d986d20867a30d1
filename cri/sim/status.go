package sim

import (
	"context"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func (sn *scene) conditions() []*cri.RuntimeCondition {
	ready := func(what string, bad bool, reason, message string) *cri.RuntimeCondition {
		if bad {
			return &cri.RuntimeCondition{Type: what, Reason: reason, Message: message}
		}
		return &cri.RuntimeCondition{Type: what, Status: true}
	}
	return []*cri.RuntimeCondition{
		ready("RuntimeReady", sn.runtimeBad, "ContainerdNotReady", "containerd is not done with loading its plugins"),
		ready("NetworkReady", sn.networkBad, "NetworkPluginNotReady", "Network plugin returns error: cni plugin not initialized"),
		{Type: "ContainerdHasNoDeprecationWarnings", Status: true},
	}
}

func (r runtimeService) Version(context.Context, *cri.VersionRequest) (*cri.VersionResponse, error) {
	return &cri.VersionResponse{
		Version: "0.1.0", RuntimeName: "containerd", RuntimeVersion: "v2.4.2", RuntimeApiVersion: "v1",
	}, nil
}

func (r runtimeService) Status(context.Context, *cri.StatusRequest) (*cri.StatusResponse, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return &cri.StatusResponse{Status: &cri.RuntimeStatus{Conditions: r.s.scene.conditions()}}, nil
}
